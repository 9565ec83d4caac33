// The panel "Events". Only the rows in sight exist, so a hundred thousand cost
// no more than a screenful.

import { button, family, make } from "./dom.js";
import { ALL, Facets, fields, isOpen, missing, rowsOf } from "./logrows.js";
import { clamp } from "./search.js";
import { formatClock } from "./story.js";

/** @import { Host, Pane } from "./drawer.js" */
/** @import { Filter } from "./logrows.js" */
/** @import { Ev } from "./types.js" */

export const ROW = 40;
const SPARE = 6;
/** How long a filter waits for the next letter, in milliseconds. */
const PATIENCE = 120;

/**
 * The rows to have in the page.
 * @param {number} top how far the list is scrolled
 * @param {number} height
 * @param {number} count
 */
export function rowsInSight(top, height, count) {
  const from = clamp(Math.floor(top / ROW) - SPARE, 0, count);
  return { from, to: clamp(Math.ceil((top + height) / ROW) + SPARE, from, count) };
}

/** @param {Ev} e */
export function line(e) {
  return `${e.n}\t${formatClock(e.t)}\t${e.kind}\t${e.say ?? ""}`;
}

/**
 * The place of the last row up to an event; -1 before the first.
 * @param {readonly Ev[]} rows
 * @param {number} n
 */
export function rowAt(rows, n) {
  let lo = 0;
  let hi = rows.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (rows[mid].n <= n) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

/**
 * @param {HTMLElement} box
 * @param {Host} host
 * @returns {Pane}
 */
export function open(box, host) {
  return new Log(box, host);
}

/** The lists to choose from, by what they say when nothing is chosen. */
const CHOICES = /** @type {const} */ ([
  ["kind", "all kinds"],
  ["node", "all nodes"],
  ["part", "all partitions"],
  ["api", "all APIs"],
]);

class Log {
  /**
   * @param {HTMLElement} box
   * @param {Host} host
   */
  constructor(box, host) {
    this.host = host;
    this.filter = ALL;
    this.background = false;
    this.facets = new Facets();
    /** @type {readonly Ev[]} */ this.rows = [];
    /** @type {Map<number, HTMLLIElement>} */ this.shown = new Map();
    this.following = true;
    this.top = 0;
    this.height = 400;
    this.n = -1;
    this.current = -1;
    this.range = "";
    this.space = make("li", { class: "hw-log-space", "aria-hidden": "true" });
    this.list = make("ol", { class: "hw-log-list", "aria-label": "Events" }, this.space);
    this.count = make("p", { class: "hw-log-count", role: "status" });
    this.detail = make("details", { class: "hw-log-fields" });
    /** @type {Map<keyof Filter, HTMLSelectElement>} */ this.selects = new Map();
    box.replaceChildren(this.#form(), this.count, this.list, this.detail);
    this.#listen();
    this.grow();
  }

  #form() {
    const search = make("input", {
      type: "search",
      "aria-label": "Words",
      placeholder: "words",
      spellcheck: "false",
    });
    let timer = 0;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.#choose({ text: search.value }), PATIENCE);
    });
    const form = make(
      "div",
      { class: "hw-log-filter", role: "search", "aria-label": "Filter the events" },
      search,
    );
    for (const [name, label] of CHOICES) {
      const select = make("select", { "aria-label": label.replace("all ", "Only these ") });
      select.append(make("option", { value: "", text: label }));
      select.addEventListener("change", () => this.#choose({ [name]: select.value }));
      this.selects.set(name, select);
      form.append(select);
    }
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => this.#withBackground(box));
    const copy = button("Copy", () => {
      this.host.copy(this.rows.map(line).join("\n"), `${this.rows.length} events were copied.`);
    });
    form.append(
      make("label", { title: "Idle fetches and heartbeats that change nothing" }, box, " background"),
      copy,
    );
    return form;
  }

  #listen() {
    const { list } = this;
    list.addEventListener("scroll", () => {
      this.top = list.scrollTop;
      this.#draw();
    });
    for (const kind of ["wheel", "touchmove", "pointerdown"]) {
      list.addEventListener(kind, () => (this.following = false), { passive: true });
    }
    list.addEventListener("click", (e) => {
      const row = /** @type {Element} */ (e.target).closest("li[data-n]");
      if (!row) return;
      this.following = true;
      this.host.dispatch({ type: "event", n: Number(row.getAttribute("data-n")) });
    });
    new ResizeObserver(() => {
      this.height = Math.min(list.clientHeight || 400, 4000);
      this.#follow();
      this.#draw();
    }).observe(list);
  }

  /** @param {Partial<Filter>} part */
  #choose(part) {
    this.filter = { ...this.filter, ...part };
    this.following = true;
    this.#list();
  }

  /** @param {HTMLInputElement} box */
  async #withBackground(box) {
    this.background = box.checked;
    this.following = true;
    if (this.background && !(await this.#load(this.n - 250, this.n + 250))) {
      this.background = box.checked = false;
      this.host.say("The background is not on this page.");
    }
    this.#list();
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #load(from, to) {
    const last = this.host.run()?.last ?? 0;
    const hole = missing(clamp(from, 1, last), clamp(to, 1, last), this.host.chatter.ranges);
    return hole ? this.host.chatter.load(hole[0], hole[1]) : Promise.resolve(true);
  }

  /** Takes in the events that have come since. */
  grow() {
    this.facets.feed(this.host.model().fold.events);
    for (const [name, label] of CHOICES) {
      const select = this.selects.get(name);
      const values = [...this.facets.of[name]];
      if (!select || select.options.length === values.length + 1 + families(name, values).length) continue;
      const all = [...families(name, values), ...values].sort();
      const { value } = select;
      select.replaceChildren(
        make("option", { value: "", text: label }),
        ...all.map((v) => make("option", { value: v, text: v.endsWith(".") ? `${v}*` : v })),
      );
      select.value = value;
    }
    this.#list();
  }

  #list() {
    const { fold } = this.host.model();
    this.rows = rowsOf(fold.events, this.background ? this.host.chatter.events.values() : null, this.filter);
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
    this.range = "";
    this.space.style.height = `${this.rows.length * ROW}px`;
    const many = this.rows.length === 1 ? "1 event" : `${this.rows.length} events`;
    const text = isOpen(this.filter) ? many : `${many} of ${fold.events.length}`;
    if (this.count.textContent !== text) this.count.textContent = text;
    this.current = -1;
    this.#place();
  }

  write() {
    const { n } = this.host.state();
    if (n === this.n) return;
    this.n = n;
    this.#place();
  }

  /** Shows which row the playhead is on. */
  #place() {
    const i = rowAt(this.rows, this.n);
    const before = this.rows[this.current]?.n;
    this.current = i;
    this.#follow();
    this.shown.get(before ?? -1)?.removeAttribute("aria-current");
    this.#draw();
    const e = this.rows[i];
    if (e) this.shown.get(e.n)?.setAttribute("aria-current", "true");
    if (this.detail.open || !this.detail.hasChildNodes()) this.#fields(e);
    else this.#summary(e);
  }

  #follow() {
    if (!this.following || this.current < 0) return;
    this.list.scrollTop = this.top = Math.max(0, this.current * ROW - this.height / 2 + ROW / 2);
  }

  /** @param {Ev | undefined} e */
  #summary(e) {
    const head = this.detail.querySelector("summary");
    const text = e ? `Fields of event ${e.n}: ${e.kind}` : "Fields";
    if (head && head.textContent !== text) head.textContent = text;
  }

  /** @param {Ev | undefined} e */
  #fields(e) {
    const list = make("dl", { class: "hw-fields" });
    for (const [name, value] of e ? [...fields(headOf(e)), ...fields(e.f)] : []) {
      list.append(make("dt", { text: name }), make("dd", { text: value }));
    }
    if (!this.detail.hasChildNodes()) {
      this.detail.append(make("summary"));
      this.detail.addEventListener("toggle", () => {
        if (this.detail.open) this.#fields(this.rows[this.current]);
      });
    }
    this.detail.querySelector("dl")?.remove();
    this.detail.querySelector(":scope > button")?.remove();
    this.detail.append(list);
    if (e?.msg) {
      const whole = () => this.host.pick({ type: "event", n: e.n }, "inspect");
      this.detail.append(button("Inspect this message", whole));
    }
    this.#summary(e);
  }

  #draw() {
    const { rows } = this;
    const { from, to } = rowsInSight(this.top, this.height, rows.length);
    const range = `${from} ${to}`;
    if (range === this.range) return;
    this.range = range;
    const kept = new Set();
    for (let i = from; i < to; i++) kept.add(rows[i].n);
    for (const [n, row] of this.shown) {
      if (kept.has(n)) continue;
      row.remove();
      this.shown.delete(n);
    }
    /** @type {Element} */ let before = this.space;
    for (let i = from; i < to; i++) {
      let row = this.shown.get(rows[i].n);
      if (!row) {
        row = this.#row(i, rows[i]);
        this.shown.set(rows[i].n, row);
        // Rows stand in the order of their events, so that Tab goes through them in it.
        before.after(row);
      }
      before = row;
    }
    if (this.background && isOpen(this.filter)) this.#fill(from, to);
  }

  /**
   * Loads the background between the rows in sight.
   * @param {number} from
   * @param {number} to
   */
  async #fill(from, to) {
    if (this.host.chatter.waiting.length || to <= from) return;
    const lo = this.rows[from].n;
    const hi = this.rows[to]?.n ?? this.host.run()?.last ?? this.rows[to - 1].n;
    const hole = missing(lo, hi, this.host.chatter.ranges);
    if (!hole || !(await this.host.chatter.load(hole[0], hole[1]))) return;
    const { top } = this;
    const first = this.rows[from]?.n ?? 0;
    this.#list();
    if (this.following) return;
    // What came in above moves the rows in sight; they stay where they were on the screen.
    this.list.scrollTop = this.top = top + (rowAt(this.rows, first) - from) * ROW;
    this.#draw();
  }

  /**
   * @param {number} i
   * @param {Ev} e
   */
  #row(i, e) {
    const li = make("li", {
      class: `hw-log-row ${family(e.kind)}${e.chatter ? " is-background" : ""}`,
      "data-n": String(e.n),
      "aria-posinset": String(i + 1),
      "aria-setsize": String(this.rows.length),
      "aria-current": i === this.current && "true",
      title: e.say ?? e.kind,
    });
    li.style.top = `${i * ROW}px`;
    const say = make("span", { class: "hw-log-say", text: e.say ?? e.kind });
    const at = make("span", { class: "hw-log-at", text: `${e.n} · ${formatClock(e.t)} · ${e.kind}` });
    li.append(make("button", { type: "button" }, at, say));
    return li;
  }
}

/**
 * Families of kinds that have more than one kind, such as "replica.".
 * @param {string} name
 * @param {readonly string[]} values
 */
function families(name, values) {
  if (name !== "kind") return [];
  const heads = values.filter((v) => v.includes(".")).map((v) => v.slice(0, v.indexOf(".") + 1));
  return [...new Set(heads.filter((h, i) => heads.indexOf(h) !== i))];
}

/**
 * What every event has besides its own fields.
 * @param {Ev} e
 */
function headOf(e) {
  const { kind, node, part, group, api, from, to, cause, missing: kept, msg } = e;
  const head = { kind, node, part, group, api, from, to, cause, missing: kept, message: msg };
  return Object.fromEntries(Object.entries(head).filter(([, v]) => v !== undefined));
}
