// What the timeline marks: events by kind, each kind with a shape of its own.

/** @import { Ev } from "./types.js" */

/**
 * @typedef {"other" | "offset" | "append" | "hw" | "isr" | "group" | "leader" | "node" | "loss" | "fault"} Shape
 * in the order in which they are drawn: what is rare lies on top
 */

/** @type {Shape[]} */
export const SHAPES = ["other", "offset", "append", "hw", "isr", "group", "leader", "node", "loss", "fault"];

/** Messages and timers are the traffic; a mark tells what they led to. */
const TRAFFIC =
  /^(boot|request|response|conn|timer|purgatory|check)\b|^message\.held|^hw\.(learn|checkpoint)|^metadata\.apply/;

/** @type {[RegExp, Shape][]} */
const KINDS = [
  [
    /^(replica\.truncate|metadata\.truncate|message\.lost|producer\.failed|offset\.expire|admin\.failed)/,
    "loss",
  ],
  [/^net\./, "fault"],
  [/^(node\.|broker\.|replica\.(offline|stop))/, "node"],
  [/^(leader\.elect|replica\.(leader|follower)|quorum\.)/, "leader"],
  [/^isr\./, "isr"],
  [/^hw\.advance/, "hw"],
  [/^replica\.append/, "append"],
  [/^(offset\.|consumer\.commit)/, "offset"],
  [/^(group|member|coordinator)\.|^consumer\.(callback|stall|reset)/, "group"],
];

/** Actions that are the ordinary life of an application. */
const ORDINARY = /^(produce|commit|seek|begin|end|send-offsets)$/;

/**
 * The shape of an event's mark; null where none is drawn.
 * @param {Ev} e
 * @returns {Shape | null}
 */
export function shapeOf(e) {
  if (e.kind === "action") return ORDINARY.test(String(e.f?.do ?? "")) ? "other" : "fault";
  if (TRAFFIC.test(e.kind)) return null;
  return KINDS.find(([re]) => re.test(e.kind))?.[1] ?? "other";
}

/**
 * @typedef {object} Mark
 * @property {number} n
 * @property {number} s
 * @property {Shape} shape
 */

/**
 * The marks of a run, ascending.
 * @param {readonly Ev[]} events
 * @param {(e: Ev) => number} s the story time of an event
 * @returns {Mark[]}
 */
export function marksOf(events, s) {
  const out = [];
  for (const e of events) {
    const shape = shapeOf(e);
    if (shape) out.push({ n: e.n, s: s(e), shape });
  }
  return out;
}

/**
 * The marks to draw in a stretch: of each shape at most one in each of `buckets`
 * equal parts, because more would only turn the bar grey.
 * @param {readonly Mark[]} marks ascending
 * @param {readonly [number, number]} range
 * @param {number} buckets
 * @returns {Mark[]} by shape, in the order of drawing
 */
export function thinned(marks, [from, to], buckets) {
  /** @type {Map<Shape, {last: number, kept: Mark[]}>} */
  const byShape = new Map();
  for (const m of marks) {
    if (m.s < from || m.s > to) continue;
    let x = byShape.get(m.shape);
    if (!x) byShape.set(m.shape, (x = { last: -1, kept: [] }));
    const bucket = to > from ? Math.min(buckets - 1, Math.floor(((m.s - from) / (to - from)) * buckets)) : 0;
    if (bucket === x.last) continue;
    x.last = bucket;
    x.kept.push(m);
  }
  return SHAPES.flatMap((shape) => byShape.get(shape)?.kept ?? []);
}

/**
 * The mark nearest to a moment, if one is near enough.
 * @param {readonly Mark[]} marks ascending
 * @param {number} s
 * @param {number} within
 * @returns {Mark | null}
 */
export function nearest(marks, s, within) {
  let lo = 0;
  let hi = marks.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (marks[mid].s <= s) lo = mid + 1;
    else hi = mid;
  }
  const near = [marks[lo - 1], marks[lo]].filter((m) => m && Math.abs(m.s - s) <= within);
  near.sort((a, b) => Math.abs(a.s - s) - Math.abs(b.s - s));
  return near[0] ?? null;
}
