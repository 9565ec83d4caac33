// The stretch of the story that the timeline shows. Ranges come in and go out, so
// that the rules can be tested without a page.

import { clamp } from "./search.js";

/** @typedef {readonly [number, number]} Range a start and an end, in story time */

/** One press, or one notch of the wheel. */
export const STEP = 1.5;

/** Nothing shorter is worth a whole bar, in seconds of the story. */
const SHORTEST = 1;

/** Where the cursor stands in a stretch that it has just entered, from 0 to 1. */
const ENTRY = 0.1;

/**
 * @param {Range} range
 * @param {Range} whole
 * @returns {boolean}
 */
export function isWhole(range, whole) {
  return range[0] <= whole[0] + 1e-9 && range[1] >= whole[1] - 1e-9;
}

/**
 * The range made shorter (factor above 1) or longer about a moment that keeps its
 * place on the bar.
 * @param {Range} range
 * @param {Range} whole
 * @param {number} factor
 * @param {number} at
 * @returns {Range}
 */
export function zoomed(range, whole, factor, at) {
  const all = whole[1] - whole[0];
  const now = range[1] - range[0];
  const length = clamp(now / factor, Math.min(SHORTEST, all), all);
  const share = now > 0 ? clamp((at - range[0]) / now, 0, 1) : 0;
  return panned([at - share * length, at - share * length + length], whole, 0);
}

/**
 * The range moved, as far as the story goes.
 * @param {Range} range
 * @param {Range} whole
 * @param {number} by
 * @returns {Range}
 */
export function panned(range, whole, by) {
  const length = Math.min(range[1] - range[0], whole[1] - whole[0]);
  const from = clamp(range[0] + by, whole[0], whole[1] - length);
  return [from, from + length];
}

/**
 * The range that holds the cursor: the same one while it does, and else the next
 * page, entered near its edge.
 * @param {Range} range
 * @param {Range} whole
 * @param {number} s
 * @returns {Range}
 */
export function following(range, whole, s) {
  if (s >= range[0] && s <= range[1]) return range;
  const length = range[1] - range[0];
  const entry = s > range[1] ? ENTRY : 1 - ENTRY;
  return panned(range, whole, s - entry * length - range[0]);
}
