// The list of events. Only the rows in sight exist, so a hundred thousand cost
// no more than a screenful.

import { clamp } from "./search.js";
import { formatClock } from "./story.js";

/** @import { Fold } from "./fold.js" */
/** @import { Ev } from "./types.js" */

export const ROW = 40;
const SPARE = 6;

/** The list scrolls, and not what is around it: it has to know its own height. */
const OPEN = { display: "flex", flexDirection: "column", overflow: "hidden" };

/** Rows are of one height, so that the list knows where each is without asking. */
const BUTTON = {
  display: "block",
  width: "100%",
  height: "100%",
  padding: "0 4px",
  textAlign: "left",
  lineHeight: "18px",
  whiteSpace: "nowrap",
  overflow: "hidden",
  textOverflow: "ellipsis",
};

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
  return `${e.n}\t${formatClock(e.t)}\t${e.say ?? e.kind}`;
}

export class Log {
  /**
   * @param {HTMLElement} root
   * @param {(n: number) => void} seek
   * @param {(text: string, what: string) => void} copy
   */
  constructor(root, seek, copy) {
    this.root = root;
    const list = root.querySelector(".hw-log-list") ?? root.appendChild(document.createElement("ol"));
    this.list = /** @type {HTMLElement} */ (list);
    /** @type {Fold | null} */ this.fold = null;
    this.following = true;
    this.top = 0;
    this.height = 400;
    this.current = -1;
    this.range = "";
    /** @type {Map<number, HTMLLIElement>} */ this.rows = new Map();
    this.space = document.createElement("li");
    this.space.setAttribute("aria-hidden", "true");
    this.space.className = "hw-log-space";
    Object.assign(this.list.style, {
      position: "relative",
      overflowY: "auto",
      flex: "1 1 0",
      minHeight: "0",
    });
    this.list.replaceChildren(this.space);
    this.#listen(seek, copy);
  }

  /**
   * @param {(n: number) => void} seek
   * @param {(text: string, what: string) => void} copy
   */
  #listen(seek, copy) {
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
      seek(Number(row.getAttribute("data-n")));
    });
    const button = this.root.querySelector('[data-cmd="copy"]') ?? this.#copyButton();
    button.addEventListener("click", () => {
      copy((this.fold?.events ?? []).map(line).join("\n"), "The events were copied.");
    });
    new ResizeObserver(() => {
      this.height = Math.min(list.clientHeight || 400, 4000);
      this.#draw();
    }).observe(list);
  }

  #copyButton() {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.cmd = "copy";
    button.textContent = "Copy";
    button.style.alignSelf = "flex-end";
    this.list.before(button);
    return button;
  }

  get open() {
    return !this.root.hidden;
  }

  /**
   * @param {Fold} fold
   */
  set(fold) {
    this.fold = fold;
    this.grow();
  }

  /** Makes room for the events that have come since. */
  grow() {
    this.space.style.height = `${(this.fold?.events.length ?? 0) * ROW}px`;
    this.range = "";
    if (this.open) this.#draw();
  }

  toggle() {
    this.root.hidden = !this.root.hidden;
    Object.assign(this.root.style, this.open ? OPEN : { display: "" });
    this.following = true;
    this.range = "";
    const i = this.current;
    this.current = -1;
    if (this.open) this.write(i);
  }

  /**
   * Shows which event the playhead is on.
   * @param {number} i its position
   */
  write(i) {
    if (i === this.current) return;
    const before = this.current;
    this.current = i;
    if (!this.open) return;
    if (this.following) {
      const top = Math.max(0, i * ROW - this.height / 2 + ROW / 2);
      this.list.scrollTop = this.top = top;
    }
    this.rows.get(before)?.removeAttribute("aria-current");
    this.#draw();
    this.rows.get(i)?.setAttribute("aria-current", "true");
  }

  #draw() {
    if (!this.fold || !this.open) return;
    const { events } = this.fold;
    const { from, to } = rowsInSight(this.top, this.height, events.length);
    const range = `${from} ${to} ${events.length}`;
    if (range === this.range) return;
    this.range = range;
    for (const [i, row] of this.rows) {
      if (i >= from && i < to) continue;
      row.remove();
      this.rows.delete(i);
    }
    for (let i = from; i < to; i++) {
      if (!this.rows.has(i)) this.#row(i, events[i]);
    }
  }

  /**
   * @param {number} i
   * @param {Ev} e
   */
  #row(i, e) {
    const li = document.createElement("li");
    li.className = "hw-log-row";
    li.dataset.n = String(e.n);
    li.setAttribute("aria-posinset", String(i + 1));
    li.setAttribute("aria-setsize", String(this.fold?.events.length));
    if (i === this.current) li.setAttribute("aria-current", "true");
    Object.assign(li.style, {
      position: "absolute",
      top: `${i * ROW}px`,
      left: "0",
      padding: "0",
      right: "0",
      height: `${ROW}px`,
    });
    li.title = e.say ?? e.kind;
    const button = document.createElement("button");
    button.type = "button";
    Object.assign(button.style, BUTTON);
    for (const [name, text] of [
      ["n", String(e.n)],
      ["t", formatClock(e.t)],
      ["say", e.say ?? e.kind],
    ]) {
      const span = document.createElement("span");
      span.className = `hw-log-${name}`;
      span.textContent = text;
      button.append(span, name === "t" ? document.createElement("br") : " ");
    }
    li.append(button);
    this.rows.set(i, li);
    // Rows stand in the order of their events, so that Tab goes through them in it.
    const next = this.list.querySelectorAll("li[data-n]");
    const after = [...next].find((x) => Number(x.getAttribute("data-n")) > e.n);
    if (after) after.before(li);
    else this.list.append(li);
  }
}
