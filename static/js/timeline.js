// The bar under the stage: drag, chapters, ticks and folds.

import { chapterAt } from "./player.js";
import { clamp } from "./search.js";
import { formatClock } from "./story.js";
import { decimate, zigzag } from "./ticks.js";

/** @import { Command, Model } from "./player.js" */
/** @import { Chapter } from "./types.js" */

const SVG = "http://www.w3.org/2000/svg";
const TICKS = 300;

/** Messages and timers are the traffic; a tick marks what they led to. */
const UNMARKED = /^(request|response|message|conn|timer|purgatory)\./;

const PREVIEW = {
  position: "absolute",
  bottom: "100%",
  transform: "translateX(-50%)",
  padding: "2px 8px",
  borderRadius: "6px",
  background: "var(--card)",
  fontSize: "12px",
  whiteSpace: "nowrap",
  pointerEvents: "none",
  zIndex: "3",
};

export class Timeline {
  /**
   * @param {HTMLElement} root
   * @param {(command: Command) => void} dispatch
   */
  constructor(root, dispatch) {
    this.root = root;
    /** Assistive technology moves the knob; the chapters beside it are buttons of their own. */
    this.slider = /** @type {HTMLElement} */ (root.querySelector("[role=slider]") ?? root);
    this.dispatch = dispatch;
    this.rail = /** @type {HTMLElement} */ (root.querySelector(".hw-rail") ?? root);
    this.progress = /** @type {HTMLElement | null} */ (root.querySelector(".hw-progress"));
    this.knob = /** @type {HTMLElement | null} */ (root.querySelector(".hw-knob"));
    /** @type {Model | null} */ this.model = null;
    /** @type {HTMLButtonElement[]} */ this.buttons = [];
    /** @type {number | null} */ this.pointer = null;
    this.written = { p: "", now: "", n: -1, chapter: -2 };
    this.preview = document.createElement("div");
    this.preview.className = "hw-preview";
    this.preview.setAttribute("aria-hidden", "true");
    this.preview.hidden = true;
    Object.assign(this.preview.style, PREVIEW);
    root.append(this.preview);
    if (root.tabIndex < 0) root.tabIndex = 0;
    this.#listen();
  }

  #listen() {
    const { root } = this;
    root.addEventListener("pointerdown", (e) => {
      if (!this.model || e.button !== 0 || /** @type {Element} */ (e.target).closest("button")) return;
      this.pointer = e.pointerId;
      root.setPointerCapture(e.pointerId);
      this.preview.hidden = true;
      this.dispatch({ type: "grab" });
      this.dispatch({ type: "drag", s: this.#storyTime(e.clientX) });
    });
    root.addEventListener("pointermove", (e) => {
      if (e.pointerId === this.pointer) this.dispatch({ type: "drag", s: this.#storyTime(e.clientX) });
      else if (this.pointer === null && e.pointerType === "mouse") this.#hover(e.clientX);
    });
    const drop = (/** @type {PointerEvent} */ e) => {
      if (e.pointerId !== this.pointer) return;
      this.pointer = null;
      this.dispatch({ type: "drop" });
    };
    root.addEventListener("pointerup", drop);
    root.addEventListener("pointercancel", drop);
    root.addEventListener("lostpointercapture", drop);
    root.addEventListener("pointerleave", () => {
      this.preview.hidden = true;
    });
    // A finger on the bar drags it, and doesn't scroll the page.
    root.style.touchAction = "none";
  }

  /**
   * Only how far along the bar the pointer is counts, however far above or below it drifts.
   * @param {number} clientX
   */
  #storyTime(clientX) {
    const { story } = /** @type {Model} */ (this.model);
    const { left, width } = this.rail.getBoundingClientRect();
    const p = width > 0 ? clamp((clientX - left) / width, 0, 1) : 0;
    return story.start + p * (story.end - story.start);
  }

  /** @param {number} clientX */
  #hover(clientX) {
    if (!this.model) return;
    const { story, chapters, fold } = this.model;
    const s = this.#storyTime(clientX);
    const chapter = chapters[chapterAt(chapters, story.n(s, fold))];
    this.preview.textContent = [chapter?.title, story.fold(s)?.label, formatClock(story.t(s))]
      .filter(Boolean)
      .join(" · ");
    this.preview.style.left = percent(this.#position(s));
    this.preview.hidden = false;
  }

  /** @param {number} s */
  #position(s) {
    const { story } = /** @type {Model} */ (this.model);
    return story.end > story.start ? (s - story.start) / (story.end - story.start) : 0;
  }

  /**
   * @param {Model} model
   * @param {(chapter: Chapter) => void} go
   */
  set(model, go) {
    this.model = model;
    const { story, chapters } = model;
    this.slider.setAttribute("aria-valuemin", String(story.start));
    this.slider.setAttribute("aria-valuemax", story.end.toFixed(1));
    // A chapter's time is known from the breakpoints before its event has come.
    const starts = chapters.map((c) => this.#position(story.s(c.n, timeOf(model, c.n))));
    this.buttons = chapters.map((c, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "hw-chapter-mark";
      button.textContent = c.title;
      button.setAttribute("aria-label", `Chapter ${i + 1}: ${c.title}`);
      button.style.left = percent(starts[i]);
      button.style.maxWidth = `min(160px, ${percent((starts[i + 1] ?? 1) - starts[i])})`;
      button.addEventListener("click", () => go(c));
      return button;
    });
    this.root.querySelector(".hw-chapters")?.replaceChildren(...this.buttons);
    this.#drawFolds();
    this.written.chapter = -2;
  }

  #drawFolds() {
    const { story } = /** @type {Model} */ (this.model);
    const wide = this.rail.getBoundingClientRect().width;
    const named = labelled(
      story.folds.map((f) => ({
        x: ((this.#position(f.s0) + this.#position(f.s1)) / 2) * wide,
        w: f.label.length * 6 + 10,
        weight: story.t(f.s1) - story.t(f.s0),
      })),
      wide,
    );
    const folds = story.folds.map((f, i) => {
      const from = this.#position(f.s0);
      const width = this.#position(f.s1) - from;
      const el = document.createElement("div");
      el.className = "hw-fold";
      el.title = f.label;
      el.style.left = percent(from);
      el.style.width = percent(width);
      const teeth = clamp(Math.round(width * 100), 2, 40);
      const label = document.createElement("span");
      label.className = "hw-fold-label";
      label.textContent = f.label;
      el.style.background = "var(--ground)";
      el.append(drawing(`0 0 ${teeth * 10} 10`, zigzag(teeth)));
      if (named.has(i)) el.append(label);
      return el;
    });
    this.root.querySelector(".hw-folds")?.replaceChildren(...folds);
  }

  /** Draws the ticks of the events that have come. */
  drawTicks() {
    if (!this.model) return;
    const { story, fold } = this.model;
    const times = fold.events.filter((e) => !UNMARKED.test(e.kind)).map((e) => story.s(e.n, e.t));
    const marks = decimate(times, story.start, story.end, TICKS);
    const ticks = marks.map((p) => {
      const tick = document.createElement("i");
      tick.style.left = percent(p);
      return tick;
    });
    this.root.querySelector(".hw-ticks")?.replaceChildren(...ticks);
  }

  /**
   * @param {{n: number, s: number}} cursor
   * @param {number} t
   */
  write(cursor, t) {
    if (!this.model) return;
    const { chapters } = this.model;
    const { written } = this;
    const p = percent(this.#position(cursor.s));
    if (p !== written.p) {
      written.p = p;
      if (this.progress) this.progress.style.width = p;
      if (this.knob) this.knob.style.left = p;
    }
    const i = chapterAt(chapters, cursor.n);
    const now = cursor.s.toFixed(1);
    const text =
      formatClock(t) + (i < 0 ? "" : `, chapter ${i + 1} of ${chapters.length}: ${chapters[i].title}`);
    if (now !== written.now || cursor.n !== written.n || i !== written.chapter) {
      written.now = now;
      written.n = cursor.n;
      this.slider.setAttribute("aria-valuenow", now);
      this.slider.setAttribute("aria-valuetext", text);
    }
    if (i !== written.chapter) {
      this.buttons[written.chapter]?.removeAttribute("aria-current");
      this.buttons[i]?.setAttribute("aria-current", "true");
      written.chapter = i;
    }
  }
}

/**
 * The virtual time of an event, as near as the breakpoints tell before it has come.
 * @param {Model} model
 * @param {number} n
 */
export function timeOf({ fold, story }, n) {
  const i = fold.indexOf(n);
  if (i >= 0 && (fold.ns[i] === n || i + 1 < fold.ns.length)) return fold.ts[i];
  const at = story.ns.findIndex((x) => x >= n);
  return at < 0 ? story.ts[story.ts.length - 1] : story.ts[at];
}

/** @param {number} p */
function percent(p) {
  return `${(p * 100).toFixed(3)}%`;
}

/**
 * @param {string} viewBox
 * @param {string} d
 */
function drawing(viewBox, d) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", viewBox);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  Object.assign(svg.style, { width: "100%", height: "100%", fill: "none", stroke: "currentColor" });
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  path.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(path);
  return svg;
}

/**
 * Which labels have room on a line: the longest waits first, none over another
 * or over an end. The others are still told by title and preview.
 * @param {{x: number, w: number, weight: number}[]} labels centres and widths in px
 * @param {number} width of the line
 * @returns {Set<number>} their places in the list
 */
export function labelled(labels, width) {
  /** @type {Set<number>} */
  const kept = new Set();
  const order = labels.map((_, i) => i).sort((a, b) => labels[b].weight - labels[a].weight);
  for (const i of order) {
    const { x, w } = labels[i];
    if (x < w / 2 || x + w / 2 > width) continue;
    if ([...kept].every((k) => Math.abs(labels[k].x - x) >= (labels[k].w + w) / 2)) kept.add(i);
  }
  return kept;
}
