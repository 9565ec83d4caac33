// What Kafka's words mean, where they stand: in the texts marked with data-terms
// a word gets a button, and on the stage it answers to the pointer. The meaning
// opens on hover, focus, click and touch; Escape closes it.

/** @typedef {{id: string, name: string, kafka?: string, text: string, source: string, forms: string[], linked?: boolean}} Term */
/** @typedef {{start: number, end: number, term: Term}} Place */

/**
 * Finds terms in a text; the longest form wins, and each term counts once.
 * @param {readonly Term[]} terms
 * @returns {(text: string) => Place[]}
 */
export function finder(terms) {
  /** @type {Map<string, Term>} */ const byForm = new Map();
  /** @type {{form: string, pattern: string}[]} */ const list = [];
  for (const term of terms) {
    for (const form of term.forms) {
      byForm.set(form, term);
      list.push({ form, pattern: patternOf(form) });
    }
  }
  if (!list.length) return () => [];
  list.sort((a, b) => b.form.length - a.form.length || (folds(a.form) ? 1 : 0) - (folds(b.form) ? 1 : 0));
  const any = new RegExp(`(?<![\\w.-])(?:${list.map((x) => x.pattern).join("|")})`, "g");
  const termOf = (/** @type {string} */ said) => {
    for (const s of [said, small(said)]) {
      for (const form of [s, s.replace(/s$/, ""), s.replace(/es$/, "")]) {
        const term = byForm.get(form);
        if (term) return term;
      }
    }
    return null;
  };
  return (text) => {
    /** @type {Place[]} */ const places = [];
    const seen = new Set();
    for (const m of text.matchAll(any)) {
      const term = termOf(m[0]);
      if (!term || seen.has(term.id)) continue;
      seen.add(term.id);
      places.push({ start: m.index, end: m.index + m[0].length, term });
    }
    return places;
  };
}

/**
 * A form without capitals may begin a sentence.
 * @param {string} form
 */
const folds = (form) => form === form.toLowerCase();

/** @param {string} s */
const small = (s) => s.charAt(0).toLowerCase() + s.slice(1);

/** @param {string} form */
function patternOf(form) {
  const safe = form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const first = form.charAt(0);
  const start =
    folds(form) && /[a-z]/.test(first) ? `[${first}${first.toUpperCase()}]${safe.slice(1)}` : safe;
  // A name such as group-a is no group; a partition of an internal topic is named by its topic.
  const end = form.startsWith("__") ? "(?!\\w)" : /\w$/.test(form) ? "(?:e?s)?(?!\\w|[.-]\\w)" : "";
  return start + end;
}

/** Before the pointer has rested, or has left, nothing opens or closes. */
const REST = 250;

class Terms {
  /**
   * @param {Term[]} terms
   * @param {string} page where all words are explained, "" for nowhere
   * @param {boolean} outside whether that page opens beside this one
   */
  constructor(terms, page, outside) {
    this.find = finder(terms);
    this.byId = new Map(terms.map((t) => [t.id, t]));
    this.page = page;
    this.outside = outside;
    /** What the open meaning belongs to. @type {Element | null} */ this.owner = null;
    this.pinned = false;
    this.timer = 0;
    this.tip = document.createElement("div");
    this.tip.className = "hw-tip";
    this.tip.id = "hw-tip";
    this.tip.tabIndex = -1;
    this.tip.setAttribute("role", "note");
    this.tip.hidden = true;
    if ("popover" in this.tip) this.tip.popover = "manual";
    document.body.append(this.tip);
    this.#watch();
    this.#listen();
  }

  #watch() {
    const seen = new WeakMap();
    const observer = new MutationObserver((records) => {
      for (const el of new Set(records.map((r) => r.target))) write(boxOf(el));
      observer.takeRecords();
      if (this.owner && !this.owner.isConnected) this.#lost();
    });
    const boxOf = (/** @type {Node} */ node) =>
      (node instanceof Element ? node : node.parentElement)?.closest("[data-terms]") ?? null;
    const write = (/** @type {Element | null} */ el) => {
      const text = el?.textContent ?? "";
      if (!el || seen.get(el) === text) return;
      seen.set(el, text);
      this.#decorate(el);
    };
    for (const el of document.querySelectorAll("[data-terms]")) {
      write(el);
      observer.observe(el, { childList: true, characterData: true, subtree: true });
    }
    observer.takeRecords();
  }

  /** @param {Element} el */
  #decorate(el) {
    const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    /** @type {Text[]} */ const nodes = [];
    while (walk.nextNode()) nodes.push(/** @type {Text} */ (walk.currentNode));
    for (const node of nodes) {
      if (node.parentElement?.closest("button, a, kbd, code")) continue;
      // A definition does not explain itself.
      const places = this.find(node.data).filter((p) => p.term.id !== el.getAttribute("data-terms"));
      if (!places.length) continue;
      const out = [];
      let at = 0;
      for (const { start, end, term } of places) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "term";
        button.dataset.term = term.id;
        button.textContent = node.data.slice(start, end);
        out.push(node.data.slice(at, start), button);
        at = end;
      }
      node.replaceWith(...out, node.data.slice(at));
    }
  }

  #listen() {
    const on = /** @type {(type: string, f: (e: any) => void) => void} */ (
      (type, f) => document.addEventListener(type, f, true)
    );
    on("pointerover", (e) => this.#over(e));
    on("focusin", (e) => {
      const button = termButton(e.target);
      if (button?.matches(":focus-visible")) this.#show(button, this.byId.get(button.dataset.term ?? ""));
      else if (this.owner && !this.tip.contains(e.target) && e.target !== this.owner) this.hide();
    });
    on("click", (e) => this.#click(e));
    on("keydown", (e) => {
      if (e.key !== "Escape" || !this.owner) return;
      const { owner } = this;
      const inside = this.tip.contains(document.activeElement);
      if (inside && owner instanceof HTMLElement) owner.focus(); // still open, so it does not open again
      this.hide();
      e.preventDefault();
      e.stopPropagation();
    });
    on("scroll", (e) => {
      if (this.owner && !this.tip.contains(e.target)) this.hide();
    });
  }

  /** @param {PointerEvent} e */
  #over(e) {
    if (e.pointerType === "touch") return;
    const target = /** @type {Element} */ (e.target);
    clearTimeout(this.timer);
    if (this.tip.contains(target) || target === this.owner) return;
    const word = this.#wordAt(target);
    if (word) this.timer = window.setTimeout(() => this.#show(word.owner, word.term), REST);
    else if (this.owner && !this.pinned) this.timer = window.setTimeout(() => this.hide(), REST);
  }

  /**
   * @param {Element} target
   * @returns {{owner: Element, term: Term | undefined} | null}
   */
  #wordAt(target) {
    const button = termButton(target);
    if (button) return { owner: button, term: this.byId.get(button.dataset.term ?? "") };
    const label = target.closest(".hw-stage text");
    const term = label && this.find(label.textContent ?? "")[0]?.term;
    return term ? { owner: /** @type {Element} */ (label), term } : null;
  }

  /** @param {PointerEvent} e */
  #click(e) {
    const target = /** @type {Element} */ (e.target);
    if (this.tip.contains(target)) return;
    const button = termButton(target);
    if (button) {
      const again = this.owner === button && this.pinned;
      this.#show(button, this.byId.get(button.dataset.term ?? ""));
      if (again) return this.hide();
      this.pinned = true;
      // From the keyboard: into the meaning, where its link is.
      if (e.detail === 0) this.tip.focus();
      return;
    }
    // A finger has no hover, so a touched label explains itself instead of what it would start.
    const word =
      e.pointerType === "touch" && !target.closest("[data-open], a, button") && this.#wordAt(target);
    if (word) {
      e.stopPropagation();
      e.preventDefault();
      this.#show(word.owner, word.term);
      this.pinned = true;
    } else if (this.owner) this.hide();
  }

  /**
   * @param {Element} owner
   * @param {Term | undefined} term
   */
  #show(owner, term) {
    clearTimeout(this.timer);
    if (!term || !owner.isConnected || this.owner === owner) return;
    this.hide();
    this.owner = owner;
    const name = document.createElement("strong");
    name.textContent = term.name;
    const text = document.createElement("span");
    text.textContent = term.text;
    const source = document.createElement("small");
    source.textContent = `${term.kafka && term.kafka !== term.name ? `In Kafka: ${term.kafka}. ` : ""}Source: ${term.source}`;
    this.tip.replaceChildren(name, text, source);
    if (this.page && term.linked) {
      const more = document.createElement("a");
      more.href = `${this.page}#${encodeURIComponent(term.id)}`;
      more.textContent = "More";
      more.setAttribute("aria-label", `More about ${term.name}`);
      if (this.outside) {
        more.target = "_blank";
        more.rel = "noopener";
      }
      source.append(" · ", more);
    }
    if (owner instanceof HTMLElement) owner.setAttribute("aria-describedby", "hw-tip");
    // Inside an open dialog everything outside it is inert.
    (owner.closest("dialog") ?? document.fullscreenElement ?? document.body).append(this.tip);
    this.tip.hidden = false;
    if (this.tip.popover) this.tip.showPopover();
    this.#place(owner.getBoundingClientRect());
  }

  /** @param {DOMRect} at */
  #place(at) {
    const { width, height } = this.tip.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const x = Math.max(8, Math.min(at.left, wide - width - 8));
    const above = at.top - height - 6;
    const y = above >= 4 ? above : Math.min(at.bottom + 6, window.innerHeight - height - 4);
    this.tip.style.left = `${x}px`;
    this.tip.style.top = `${Math.max(4, y)}px`;
  }

  hide() {
    clearTimeout(this.timer);
    const { owner } = this;
    this.owner = null;
    this.pinned = false;
    if (!owner) return;
    owner.removeAttribute("aria-describedby");
    if (this.tip.popover && this.tip.isConnected && this.tip.matches(":popover-open")) this.tip.hidePopover();
    this.tip.hidden = true;
  }

  /** The sentence went on and took the word along; the keys stay with its player. */
  #lost() {
    const focused = document.activeElement === document.body || this.tip.contains(document.activeElement);
    this.hide();
    if (focused)
      /** @type {HTMLElement | null} */ (document.querySelector(".hw-player"))?.focus({
        preventScroll: true,
      });
  }
}

/**
 * @param {EventTarget | null} target
 * @returns {HTMLElement | null}
 */
function termButton(target) {
  return target instanceof Element ? target.closest("button.term") : null;
}

/**
 * The terms that came with the page.
 * @returns {Term[]}
 */
export function termsOf() {
  const script = document.getElementById("hw-terms");
  return (script?.textContent ? JSON.parse(script.textContent) : null) ?? [];
}

/**
 * Starts the meanings of a page that brought its terms along.
 * @param {{page: string, outside: boolean}} options
 */
export function initTerms({ page, outside }) {
  const terms = termsOf();
  if (terms.length) new Terms(terms, page, outside);
}
