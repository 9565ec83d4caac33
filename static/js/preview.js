// What a reader sees of another moment before going there: time, chapter, sentence
// and a strip of the state. It lies over the caption and never over the stage.

import { make } from "./dom.js";

/** @import { View } from "./fold.js" */
/** @import { Model } from "./player.js" */

/** More things than these are not taken in at a glance. */
const THINGS = 3;

/**
 * @typedef {object} Moment
 * @property {string} clock
 * @property {string} chapter "" before the first
 * @property {string} folded what is folded there, "" where nothing is
 * @property {string} say
 * @property {number} n
 * @property {readonly string[]} focus
 */

/**
 * The state at a moment, thing by thing: the partitions and groups that the chapter
 * is about, or else the first partition.
 * @param {View} view
 * @param {readonly string[]} focus
 * @param {Model["fold"]} fold
 * @returns {{name: string, state: string}[]}
 */
export function stateStrip(view, focus, fold) {
  const parts = fold.partitions();
  const about = parts.filter((p) => focus.includes(p));
  const out = (about.length ? about : parts.slice(0, 1)).map((part) => {
    const leader = Number(view.get(`meta/${part}/leader`) ?? -1);
    const isr = view.get(`meta/${part}/isr`) || "empty";
    if (leader < 0) return { name: part, state: `no leader · ISR ${isr}` };
    const hw = view.get(`b${leader}/${part}/hw`);
    return { name: part, state: `b${leader} leads · ISR ${isr}${hw === null ? "" : ` · HW ${hw}`}` };
  });
  for (const name of focus) {
    const state = view.get(`${name}/state`);
    if (typeof state !== "string") continue;
    const age = view.get(`${name}/groupEpoch`) ?? view.get(`${name}/generation`);
    if (!/^[bc]\d+$/.test(name)) out.push({ name, state: age === null ? state : `${state} · ${age}` });
    else if (state !== "running") out.push({ name, state });
  }
  return out.slice(0, THINGS);
}

export class Preview {
  /**
   * @param {HTMLElement} timeline it hangs above
   * @param {HTMLElement | null} caption that it may cover
   */
  constructor(timeline, caption) {
    this.timeline = timeline;
    this.caption = caption;
    this.head = make("div", { class: "hw-preview-head" });
    this.say = make("div", { class: "hw-preview-say" });
    this.strip = make("div", { class: "hw-preview-strip" });
    this.box = make(
      "div",
      { class: "hw-preview", "aria-hidden": "true", hidden: true },
      this.head,
      this.say,
      this.strip,
    );
    /** Sent away until the pointer or the focus comes anew. */
    this.dismissed = false;
    this.n = -1;
    timeline.append(this.box);
  }

  get open() {
    return !this.box.hidden;
  }

  hide() {
    this.box.hidden = true;
  }

  dismiss() {
    this.dismissed = true;
    this.hide();
  }

  /**
   * @param {Moment} moment
   * @param {Model} model
   * @param {number} x the place on the timeline, in px
   */
  show(moment, model, x) {
    if (this.dismissed) return;
    this.box.hidden = false;
    this.head.textContent = [moment.clock, moment.chapter, moment.folded].filter(Boolean).join(" · ");
    if (moment.n !== this.n) {
      this.n = moment.n;
      this.say.textContent = moment.say;
      const things = stateStrip(model.fold.at(moment.n), moment.focus, model.fold);
      this.strip.replaceChildren(
        ...things.map(({ name, state }) => make("span", {}, make("b", { text: name }), ` ${state}`)),
      );
    }
    this.#place(x);
  }

  /** @param {number} x */
  #place(x) {
    const bar = this.timeline.getBoundingClientRect();
    const room = this.caption ? bar.top - this.caption.getBoundingClientRect().top : 80;
    this.box.style.maxHeight = `${Math.max(20, room)}px`;
    const half = this.box.offsetWidth / 2;
    const to = bar.width > 2 * half ? Math.max(half, Math.min(x, bar.width - half)) : bar.width / 2;
    this.box.style.left = `${to}px`;
  }
}
