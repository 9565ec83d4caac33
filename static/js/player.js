// What the player does with each command, in every state.
//
//            idle     playing      paused       dragging          ended
//   loaded   paused   -            -            -                 -
//   play     -        -            playing      resumes later     playing from the start
//   pause    -        paused       -            stays at drop     -
//   toggle   -        paused       playing      flips the above   playing from the start
//   seek     -        playing      paused       moves             paused
//   skip     -        playing      paused       moves             paused
//   tenth    -        playing      paused       moves             paused
//   event    -        paused       paused       -                 paused
//   step     -        paused       paused       -                 paused
//   chapter  -        playing      paused       -                 paused
//   frame    -        paused       paused       -                 paused
//   speed    sets     sets         sets         sets              sets
//   clock    sets     sets         sets         sets              sets
//   loop     -        sets         sets         sets              sets
//   grab     -        dragging     dragging     -                 dragging
//   drag     -        -            -            moves             -
//   drop     -        -            -            playing, paused   -
//   tick     -        goes on,     -            -                 -
//                     ended at the
//                     end, back to
//                     the start of
//                     a loop
//
// "-" is ignored: a command that comes too late, such as a drag after its drop,
// changes nothing. A seek to the very end while playing ends at the next tick.

import { clamp } from "./search.js";

/** @import { Fold } from "./fold.js" */
/** @import { Story } from "./story.js" */
/** @import { Chapter } from "./types.js" */

/** @typedef {"idle" | "playing" | "paused" | "dragging" | "ended"} Phase */

/**
 * @typedef {object} State
 * @property {Phase} phase
 * @property {number} n
 * @property {number} s
 * @property {number} speed times the story clock
 * @property {boolean} real whether it plays in virtual time, without dwells and folds
 * @property {number} rate virtual seconds per second of watching, where it does
 * @property {readonly [number, number] | null} loop the stretch that is played again and again, in story time
 * @property {boolean} resume whether it plays on when the knob is let go
 */

/**
 * @typedef {{type: "loaded"} | {type: "play"} | {type: "pause"} | {type: "toggle"}
 *   | {type: "seek", s: number} | {type: "skip", by: number} | {type: "tenth", i: number}
 *   | {type: "event", n: number} | {type: "step", by: number} | {type: "chapter", by: number}
 *   | {type: "frame", by: number} | {type: "clock"} | {type: "loop", range: readonly [number, number] | null}
 *   | {type: "speed", by: number} | {type: "grab"} | {type: "drag", s: number}
 *   | {type: "drop"} | {type: "tick", ms: number}} Command
 */

/**
 * What the transitions may look at.
 * @typedef {object} Model
 * @property {Fold} fold
 * @property {Story} story
 * @property {readonly Chapter[]} chapters
 * @property {boolean} complete whether all events have come
 */

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/** How fast virtual time may pass when it is played as it is. */
export const RATES = [1 / 1000, 1 / 300, 1 / 100, 1 / 30, 1 / 10, 1 / 3, 1, 2, 4, 8];

/** A frame is what a film shows at once, in seconds. */
const FRAME = 1 / 25;

/** A shorter loop would only flicker; in seconds of the story. */
export const SHORTEST_LOOP = 0.5;

/** What floating point may lose of a whole microsecond. */
const SLACK = 1e-3;

/** Going back within this much of a chapter's start means the one before. */
const CHAPTER_GRACE = 1;

/** @type {State} */
export const IDLE = { phase: "idle", n: 0, s: 0, speed: 1, real: false, rate: 1, loop: null, resume: false };

/**
 * @param {State} state
 * @param {Command} command
 * @param {Model} model
 * @returns {State}
 */
export function transition(state, command, model) {
  if (command.type === "speed") return faster(state, command.by);
  if (command.type === "clock") return { ...state, real: !state.real };
  if (command.type === "loop" && state.phase !== "idle")
    return { ...state, loop: loopOf(command.range, model) };
  switch (state.phase) {
    case "idle":
      return command.type === "loaded" ? { ...at(state, model.story.start, model), phase: "paused" } : state;
    case "dragging":
      return whileDragging(state, command, model);
    default:
      return whileShowing(state, command, model);
  }
}

/**
 * @param {State} state playing, paused or ended
 * @param {Command} command
 * @param {Model} model
 * @returns {State}
 */
function whileShowing(state, command, model) {
  const playing = state.phase === "playing";
  switch (command.type) {
    case "play":
      return playing ? state : play(state, model);
    case "pause":
      return playing ? { ...state, phase: "paused" } : state;
    case "toggle":
      return playing ? { ...state, phase: "paused" } : play(state, model);
    case "seek":
    case "skip":
    case "tenth":
      return { ...at(state, target(state, command, model), model), phase: playing ? "playing" : "paused" };
    case "event":
      return { ...atEvent(state, command.n, model), phase: "paused" };
    case "step":
      return { ...step(state, command.by, model), phase: "paused" };
    case "frame":
      return { ...onward(state, command.by * FRAME, model), phase: "paused" };
    case "chapter":
      return { ...chapter(state, command.by, model), phase: playing ? "playing" : "paused" };
    case "grab":
      return { ...state, phase: "dragging", resume: playing };
    case "tick":
      return playing ? tick(state, command.ms, model) : state;
    default:
      return state;
  }
}

/**
 * @param {State} state
 * @param {Command} command
 * @param {Model} model
 * @returns {State}
 */
function whileDragging(state, command, model) {
  switch (command.type) {
    case "drag":
    case "seek":
    case "skip":
    case "tenth":
      return at(state, target(state, command, model), model);
    case "play":
      return { ...state, resume: true };
    case "pause":
      return { ...state, resume: false };
    case "toggle":
      return { ...state, resume: !state.resume };
    case "drop":
      return { ...state, phase: state.resume ? "playing" : "paused", resume: false };
    default:
      return state;
  }
}

/**
 * @param {State} state
 * @param {{type: "seek" | "drag", s: number} | {type: "skip", by: number} | {type: "tenth", i: number}} command
 * @param {Model} model
 */
function target(state, command, { story }) {
  if (command.type === "skip") return state.s + command.by;
  if (command.type === "tenth") return story.start + (command.i / 10) * (story.end - story.start);
  return command.s;
}

/**
 * How far the story can be told with the events that have come.
 * @param {Model} model
 */
export function reach(model) {
  if (model.complete) return model.story.end;
  const last = model.fold.events.at(-1);
  return last ? model.story.s(last.n, last.t) : model.story.start;
}

/**
 * @param {State} state
 * @param {number} s
 * @param {Model} model
 * @returns {State}
 */
function at(state, s, model) {
  const to = clamp(s, model.story.start, reach(model));
  return { ...state, s: to, n: Math.min(model.story.n(to, model.fold), model.fold.last) };
}

/**
 * @param {State} state
 * @param {number} n
 * @param {Model} model
 * @returns {State}
 */
function atEvent(state, n, { fold, story }) {
  const e = fold.events[Math.max(0, fold.indexOf(n))];
  return e ? { ...state, n: e.n, s: story.s(e.n, e.t) } : state;
}

/**
 * @param {State} state
 * @param {number} by
 * @param {Model} model
 * @returns {State}
 */
function step(state, by, model) {
  const i = model.fold.indexOf(state.n);
  const e = model.fold.events[i];
  // Between two events a step back leads to the one last seen, as a reader expects of "back".
  const passed = by < 0 && e && model.story.s(e.n, e.t) < state.s - 1e-6;
  const to = model.fold.events[clamp(passed ? i + by + 1 : i + by, 0, model.fold.events.length - 1)];
  return to ? atEvent(state, to.n, model) : state;
}

/**
 * The position of the chapter that a cursor is in; -1 before the first.
 * @param {readonly Chapter[]} chapters
 * @param {number} n
 */
export function chapterAt(chapters, n) {
  let i = -1;
  while (i + 1 < chapters.length && chapters[i + 1].n <= n) i++;
  return i;
}

/**
 * @param {State} state
 * @param {number} by
 * @param {Model} model
 * @returns {State}
 */
function chapter(state, by, model) {
  const i = chapterAt(model.chapters, state.n);
  let to = i + by;
  if (by < 0 && i >= 0) {
    const begun = atEvent(state, model.chapters[i].n, model);
    if (state.s - begun.s > CHAPTER_GRACE) to = i;
  }
  if (to >= model.chapters.length) return at(state, model.story.end, model);
  return to < 0 ? at(state, model.story.start, model) : atEvent(state, model.chapters[to].n, model);
}

/**
 * @param {State} state
 * @param {Model} model
 * @returns {State}
 */
function play(state, model) {
  const over = model.complete && state.s >= model.story.end;
  return { ...(over ? at(state, model.story.start, model) : state), phase: "playing" };
}

/**
 * The moment some seconds of watching later, or earlier.
 * @param {State} state
 * @param {number} seconds
 * @param {Model} model
 * @returns {State}
 */
function onward(state, seconds, model) {
  if (!state.real) return at(state, state.s + seconds * state.speed, model);
  const t = timeAt(state, model) + seconds * 1e6 * state.rate;
  const n = model.fold.lastAt(t + SLACK) || state.n;
  const s = clamp(model.story.when(t), model.story.start, reach(model));
  return { ...state, s, n: Math.min(n, model.fold.last) };
}

/**
 * Playing never goes back to an earlier event: the cursor may stand on one of
 * several that share a time.
 * @param {State} state
 * @param {number} ms
 * @param {Model} model
 * @returns {State}
 */
function tick(state, ms, model) {
  const moved = onward(state, ms / 1000, model);
  const { loop } = state;
  if (loop && state.s < loop[1] && moved.s >= loop[1]) return at(state, loop[0], model);
  const over = model.complete && moved.s >= model.story.end;
  if (over) return { ...moved, phase: "ended" };
  return { ...moved, s: Math.max(moved.s, state.s), n: Math.max(moved.n, state.n) };
}

/**
 * @param {State} state
 * @param {number} by
 * @returns {State}
 */
function faster(state, by) {
  const [list, now] = state.real ? [RATES, state.rate] : [SPEEDS, state.speed];
  const i = list.indexOf(now);
  const to = list[clamp((i < 0 ? list.indexOf(1) : i) + by, 0, list.length - 1)];
  return state.real ? { ...state, rate: to } : { ...state, speed: to };
}

/**
 * A stretch within the story, its ends in order.
 * @param {readonly [number, number] | null} range
 * @param {Model} model
 * @returns {readonly [number, number] | null}
 */
function loopOf(range, { story }) {
  if (!range) return null;
  const [a, b] = range[0] <= range[1] ? range : [range[1], range[0]];
  const from = clamp(a, story.start, Math.max(story.start, story.end - SHORTEST_LOOP));
  return [from, clamp(Math.max(b, from + SHORTEST_LOOP), story.start, story.end)];
}

/**
 * The virtual time at a cursor: the story's, held between the event and the next.
 * @param {{n: number, s: number}} cursor
 * @param {Model} model
 */
export function timeAt(cursor, { fold, story }) {
  const i = fold.indexOf(cursor.n);
  const t = story.t(cursor.s);
  if (i < 0) return t;
  return clamp(t, fold.ts[i], fold.ts[i + 1] ?? Math.max(t, fold.ts[i]));
}
