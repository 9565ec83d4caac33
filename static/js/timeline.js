// The bar under the stage, a map of the run: chapters, folds, marks of events, a
// loop, and the stretch that is shown. Dragging moves the cursor and nothing else.

import { make, percent } from "./dom.js";
import { foldMarks } from "./folds.js";
import { marksOf, nearest, thinned } from "./marks.js";
import { chapterAt } from "./player.js";
import { Preview } from "./preview.js";
import { clamp } from "./search.js";
import { formatClock } from "./story.js";
import { following, isWhole, panned, STEP, zoomed } from "./zoom.js";

/** @import { Mark } from "./marks.js" */
/** @import { Command, Model, State } from "./player.js" */
/** @import { Chapter, Verdict } from "./types.js" */
/** @import { Range } from "./zoom.js" */

/** The most marks of one shape. */
const BUCKETS = 100;

/** How near in px an event draws the pointer to itself. */
const SNAP = 5;

/** How far an arrow moves the end of a loop, in seconds of the story. */
const NUDGE = 0.5;

/** Narrower chapters are named by their number, in px. */
const NAMED = 52;

export class Timeline {
  /**
   * @param {HTMLElement} root
   * @param {(command: Command) => void} dispatch
   * @param {(text: string) => void} say
   */
  constructor(root, dispatch, say) {
    this.root = root;
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector(name));
    /** Assistive technology moves the knob; the chapters beside it are buttons of their own. */
    this.slider = part("[role=slider].hw-knob");
    this.dispatch = dispatch;
    this.say = say;
    this.rail = part(".hw-rail");
    this.progress = part(".hw-progress");
    this.loopBand = part(".hw-loop");
    this.ends = [part(".hw-loop-from"), part(".hw-loop-to")];
    this.overview = part(".hw-overview");
    this.thumb = /** @type {HTMLElement} */ (this.overview.firstElementChild);
    /** @type {Model | null} */ this.model = null;
    /** @type {HTMLButtonElement[]} */ this.buttons = [];
    /** @type {Mark[]} */ this.marks = [];
    /** @type {Range} */ this.range = [0, 0];
    /** @type {Range} */ this.whole = [0, 0];
    /** Called when the stretch that is shown changes. @type {(() => void)[]} */ this.redrawn = [];
    /** @type {number | null} */ this.pointer = null;
    /** @type {readonly [number, number] | null} */ this.loop = null;
    /** @type {State | null} */ this.state = null;
    this.written = { p: "", now: "", n: -1, chapter: -2, loop: "", phase: "" };
    this.preview = new Preview(root, root.closest(".hw-player")?.querySelector(".hw-caption") ?? null);
    this.#listen();
  }

  #listen() {
    const { root } = this;
    root.addEventListener("pointerdown", (e) => {
      const on = /** @type {Element} */ (e.target);
      if (!this.model || e.button !== 0 || on.closest("button, select, .hw-map-head")) return;
      this.pointer = e.pointerId;
      root.setPointerCapture(e.pointerId);
      this.preview.hide();
      if (on.closest(".hw-overview")) this.#dragOverview(e);
      else if (on.closest(".hw-loop-from, .hw-loop-to")) this.#dragEnd(on.closest(".hw-loop-from") ? 0 : 1);
      else this.#dragCursor(e);
    });
    root.addEventListener("pointermove", (e) => {
      if (e.pointerId === this.pointer) this.dragging?.(e);
      else if (this.pointer === null && e.pointerType === "mouse") this.#hover(e);
    });
    const drop = (/** @type {PointerEvent} */ e) => {
      if (e.pointerId !== this.pointer) return;
      this.pointer = null;
      this.dragging = undefined;
      this.dropped?.();
      this.dropped = undefined;
    };
    root.addEventListener("pointerup", drop);
    root.addEventListener("pointercancel", drop);
    root.addEventListener("lostpointercapture", drop);
    root.addEventListener("pointerenter", () => this.#welcome());
    root.addEventListener("pointerleave", () => this.preview.hide());
    this.slider.addEventListener("focus", () => this.#welcome());
    this.slider.addEventListener("blur", () => this.preview.hide());
    root.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    for (const [i, end] of this.ends.entries()) end.addEventListener("keydown", (e) => this.#nudge(i, e));
    // Escape sends the preview away wherever the focus is; only then it means nothing else.
    root.closest(".hw-player")?.addEventListener(
      "keydown",
      (e) => {
        if (/** @type {KeyboardEvent} */ (e).key !== "Escape" || !this.preview.open) return;
        this.preview.dismiss();
        e.stopPropagation();
      },
      { capture: true },
    );
    new ResizeObserver(() => this.#redraw()).observe(this.rail);
    // A finger on the bar drags it, and doesn't scroll the page.
    root.style.touchAction = "none";
  }

  /** @type {((e: PointerEvent) => void) | undefined} */ dragging;
  /** @type {(() => void) | undefined} */ dropped;

  #welcome() {
    this.preview.dismissed = false;
  }

  /** @param {PointerEvent} e */
  #dragCursor(e) {
    this.dispatch({ type: "grab" });
    this.dragging = (x) => this.dispatch({ type: "drag", s: this.#snapped(x.clientX) });
    this.dropped = () => this.dispatch({ type: "drop" });
    this.dragging(e);
  }

  /** @param {0 | 1} i */
  #dragEnd(i) {
    this.dragging = (x) => this.#setEnd(i, this.#snapped(x.clientX));
  }

  /** @param {PointerEvent} e */
  #dragOverview(e) {
    this.dragging = (x) => {
      const { left, width } = this.overview.getBoundingClientRect();
      const s = this.whole[0] + clamp((x.clientX - left) / width, 0, 1) * (this.whole[1] - this.whole[0]);
      this.#show(panned(this.range, this.whole, s - (this.range[0] + this.range[1]) / 2));
    };
    this.dragging(e);
  }

  /**
   * @param {number} i
   * @param {number} s
   */
  #setEnd(i, s) {
    if (!this.loop) return;
    const [a, b] = this.loop;
    this.dispatch({ type: "loop", range: i === 0 ? [Math.min(s, b), b] : [a, Math.max(s, a)] });
  }

  /**
   * @param {number} i
   * @param {KeyboardEvent} e
   */
  #nudge(i, e) {
    const by = { ArrowLeft: -NUDGE, ArrowDown: -NUDGE, ArrowRight: NUDGE, ArrowUp: NUDGE }[e.key];
    if (!by || !this.loop) return;
    e.preventDefault();
    e.stopPropagation();
    this.#setEnd(i, this.loop[i] + by);
  }

  /**
   * The wheel zooms where the reader has come to work: a frame in a page that is being
   * scrolled lets it pass.
   * @param {WheelEvent} e
   */
  #wheel(e) {
    const player = this.root.closest(".hw-player");
    if (!this.model || !(e.ctrlKey || player?.contains(document.activeElement))) return;
    if (/** @type {Element} */ (e.target).closest(".hw-map") && !e.ctrlKey) return;
    e.preventDefault();
    const length = this.range[1] - this.range[0];
    const { width } = this.rail.getBoundingClientRect();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      this.#show(panned(this.range, this.whole, ((e.deltaX || e.deltaY) / Math.max(1, width)) * length));
    } else {
      const notches = clamp(-e.deltaY / 100, -3, 3);
      this.#show(zoomed(this.range, this.whole, STEP ** notches, this.#storyTime(e.clientX)));
    }
  }

  /**
   * Shows a shorter stretch about the cursor (1), a longer one (-1), or all (0).
   * @param {-1 | 0 | 1} by
   */
  zoom(by) {
    if (!this.model) return;
    const at = clamp(this.state?.s ?? 0, this.range[0], this.range[1]);
    this.#show(by === 0 ? this.whole : zoomed(this.range, this.whole, STEP ** by, at));
    const seconds = (this.range[1] - this.range[0]).toFixed(0);
    this.say(
      isWhole(this.range, this.whole)
        ? "The timeline shows the whole run."
        : `The timeline shows ${seconds} seconds.`,
    );
  }

  /** @param {Range} range */
  #show(range) {
    if (range[0] === this.range[0] && range[1] === this.range[1]) return;
    this.range = range;
    this.#redraw();
  }

  /**
   * Only how far along the bar the pointer is counts, however far above or below it drifts.
   * @param {number} clientX
   */
  #storyTime(clientX) {
    const { left, width } = this.rail.getBoundingClientRect();
    const p = width > 0 ? clamp((clientX - left) / width, 0, 1) : 0;
    return this.range[0] + p * (this.range[1] - this.range[0]);
  }

  /**
   * The moment under the pointer, or the event beside it.
   * @param {number} clientX
   */
  #snapped(clientX) {
    const s = this.#storyTime(clientX);
    const width = this.rail.getBoundingClientRect().width || 1;
    return nearest(this.marks, s, (SNAP / width) * (this.range[1] - this.range[0]))?.s ?? s;
  }

  /** @param {PointerEvent} e */
  #hover(e) {
    if (!this.model) return;
    if (/** @type {Element} */ (e.target).closest(".hw-map, .hw-overview")) return this.preview.hide();
    this.#preview(this.#snapped(e.clientX));
  }

  /** @param {number} s */
  #preview(s) {
    const model = /** @type {Model} */ (this.model);
    const { story, chapters, fold } = model;
    const n = Math.min(story.n(s, fold), fold.last);
    const chapter = chapters[chapterAt(chapters, n)];
    const rail = this.rail.getBoundingClientRect();
    const x = rail.left - this.root.getBoundingClientRect().left + this.at(s) * rail.width;
    this.preview.show(
      {
        clock: formatClock(story.t(s)),
        chapter: chapter?.title ?? "",
        folded: story.fold(s)?.label ?? "",
        say: fold.events[fold.indexOf(n)]?.say ?? "",
        n,
        focus: chapter?.focus ?? [],
      },
      model,
      x,
    );
  }

  /**
   * The place of a moment on the bar: from 0 to 1 in the stretch that is shown.
   * @param {number} s
   */
  at(s) {
    const [from, to] = this.range;
    return to > from ? (s - from) / (to - from) : 0;
  }

  /**
   * @param {Model} model
   * @param {(chapter: Chapter) => void} go
   */
  set(model, go) {
    this.model = model;
    const { story, chapters } = model;
    this.whole = this.range = [story.start, story.end];
    this.slider.setAttribute("aria-valuemin", String(story.start));
    this.slider.setAttribute("aria-valuemax", story.end.toFixed(1));
    this.buttons = chapters.map((c, i) => {
      const name = `Chapter ${i + 1}: ${c.title}`;
      const button = make("button", {
        type: "button",
        class: "hw-chapter-mark",
        "aria-label": name,
        title: c.title,
      });
      button.addEventListener("click", () => go(c));
      return button;
    });
    this.root.querySelector(".hw-chapters")?.replaceChildren(...this.buttons);
    this.written.chapter = -2;
    this.#redraw();
  }

  /** All that stands at a place of its own. */
  #redraw() {
    if (!this.model) return;
    this.#placeChapters();
    this.#drawFolds();
    this.#drawMarks();
    const zoomedIn = !isWhole(this.range, this.whole);
    this.overview.hidden = !zoomedIn;
    this.root.classList.toggle("is-zoomed", zoomedIn);
    const all = this.whole[1] - this.whole[0] || 1;
    this.thumb.style.left = percent((this.range[0] - this.whole[0]) / all);
    this.thumb.style.width = percent((this.range[1] - this.range[0]) / all);
    this.written.p = this.written.loop = "";
    if (this.state) this.#place(this.state);
    for (const f of this.redrawn) f();
  }

  #placeChapters() {
    const { chapters, story } = /** @type {Model} */ (this.model);
    const model = /** @type {Model} */ (this.model);
    const wide = this.rail.getBoundingClientRect().width;
    // A chapter's time is known from the breakpoints before its event has come.
    const starts = chapters.map((c) => this.at(story.s(c.n, timeOf(model, c.n))));
    for (const [i, button] of this.buttons.entries()) {
      const from = clamp(starts[i], 0, 1);
      const to = clamp(starts[i + 1] ?? this.at(story.end), 0, 1);
      button.hidden = to <= from;
      button.style.left = percent(from);
      button.style.width = percent(to - from);
      const named = (to - from) * wide >= NAMED;
      button.textContent = named ? chapters[i].title : String(i + 1);
      button.classList.toggle("is-short", !named);
    }
  }

  #drawFolds() {
    const { story } = /** @type {Model} */ (this.model);
    const wide = this.rail.getBoundingClientRect().width;
    const place = (/** @type {number} */ s) => this.at(s);
    this.root.querySelector(".hw-folds")?.replaceChildren(...foldMarks(story, place, wide));
  }

  /** Marks the events that have come. */
  mark() {
    if (!this.model) return;
    const { story, fold } = this.model;
    this.marks = marksOf(fold.events, (e) => story.s(e.n, e.t));
    this.#redraw();
  }

  #drawMarks() {
    const marks = thinned(this.marks, this.range, BUCKETS).map((m) => {
      const i = make("i", { class: `mark-${m.shape}` });
      i.style.left = percent(this.at(m.s));
      return i;
    });
    const failed = this.failed.map((n) => {
      const s = this.model?.story.s(n, timeOf(this.model, n)) ?? 0;
      const i = make("i", { class: "mark-failed" });
      i.style.left = percent(this.at(s));
      return i;
    });
    this.root.querySelector(".hw-ticks")?.replaceChildren(...marks, ...failed.filter((x) => inside(x)));
  }

  /** Events at which a check fails. @type {number[]} */
  failed = [];

  /** @param {Verdict} verdict */
  verdict(verdict) {
    const checks = [...(verdict.expect ?? []), ...(verdict.invariants ?? [])];
    this.failed = checks.filter((c) => !c.ok && c.n > 0).map((c) => c.n);
    this.mark();
  }

  /**
   * @param {State} state
   * @param {number} t
   */
  write(state, t) {
    if (!this.model) return;
    const { chapters, fold } = this.model;
    const { written } = this;
    const moved = this.state?.s !== state.s;
    this.state = state;
    this.loop = state.loop;
    // The reader who looks at another stretch keeps it until the cursor moves.
    if (moved && state.phase !== "dragging") {
      const range = following(this.range, this.whole, state.s);
      if (range !== this.range) this.#show(range);
    }
    this.#place(state);
    const i = chapterAt(chapters, state.n);
    const now = state.s.toFixed(1);
    const phase = state.phase;
    if (now !== written.now || state.n !== written.n || i !== written.chapter || phase !== written.phase) {
      written.now = now;
      written.n = state.n;
      written.phase = phase;
      // What passes while it plays is not spoken, only where it is.
      const say = phase === "playing" ? "" : (fold.events[fold.indexOf(state.n)]?.say ?? "");
      const chapter = i < 0 ? "" : `chapter ${i + 1} of ${chapters.length}: ${chapters[i].title}`;
      this.slider.setAttribute("aria-valuenow", now);
      this.slider.setAttribute("aria-valuetext", [formatClock(t), chapter, say].filter(Boolean).join(", "));
      if (moved && document.activeElement === this.slider && phase !== "playing" && this.pointer === null)
        this.#preview(state.s);
    }
    if (i !== written.chapter) {
      this.buttons[written.chapter]?.removeAttribute("aria-current");
      this.buttons[i]?.setAttribute("aria-current", "true");
      written.chapter = i;
    }
  }

  /** @param {State} state */
  #place(state) {
    const { written } = this;
    const share = this.at(state.s);
    const p = percent(clamp(share, 0, 1));
    const key = `${p} ${outside(share)}`;
    if (key !== written.p) {
      written.p = key;
      this.progress.style.width = p;
      this.slider.style.left = p;
      this.slider.classList.toggle("is-outside", outside(share));
      this.root.style.setProperty("--cursor", p);
    }
    const loop = state.loop ? state.loop.map((s) => s.toFixed(2)).join() : "none";
    if (loop === written.loop) return;
    written.loop = loop;
    const on = state.loop !== null;
    this.loopBand.hidden = !on;
    for (const [i, end] of this.ends.entries()) {
      end.hidden = !on;
      if (!state.loop) continue;
      const s = state.loop[i];
      const x = this.at(s);
      end.style.left = percent(clamp(x, 0, 1));
      end.classList.toggle("is-outside", outside(x));
      end.setAttribute("aria-valuemin", String(this.whole[0]));
      end.setAttribute("aria-valuemax", this.whole[1].toFixed(1));
      end.setAttribute("aria-valuenow", s.toFixed(1));
      end.setAttribute("aria-valuetext", formatClock(this.model?.story.t(s) ?? 0));
    }
    if (!state.loop) return;
    const [a, b] = state.loop.map((s) => clamp(this.at(s), 0, 1));
    this.loopBand.style.left = percent(a);
    this.loopBand.style.width = percent(b - a);
  }
}

/**
 * Whether a place lies beyond the stretch that is shown, by more than rounding.
 * @param {number} share
 */
function outside(share) {
  return share < -1e-6 || share > 1 + 1e-6;
}

/** @param {HTMLElement} el */
function inside(el) {
  const p = Number.parseFloat(el.style.left);
  return p >= 0 && p <= 100;
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
