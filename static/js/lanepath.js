// Paths that messages travel on, as tables of points: a frame then costs a
// binary search a message and asks the browser for nothing.

import { clamp, countUpTo } from "./search.js";

/** @typedef {{x: number, y: number}} Point */

export class LanePath {
  /** @param {readonly Point[]} points at least one */
  constructor(points) {
    this.points = points;
    /** @type {number[]} */
    this.lengths = [0];
    for (let i = 1; i < points.length; i++) {
      const d = Math.hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
      this.lengths.push(this.lengths[i - 1] + d);
    }
  }

  /** Whether the way as a whole goes to the left. */
  get leftward() {
    return this.points[this.points.length - 1].x < this.points[0].x - 0.5;
  }

  /**
   * @param {number} progress
   * @returns {Point}
   */
  at(progress) {
    const total = this.lengths[this.lengths.length - 1];
    const d = clamp(progress, 0, 1) * total;
    const i = clamp(countUpTo(this.lengths, d), 1, this.points.length - 1);
    const a = this.points[i - 1] ?? this.points[0];
    const b = this.points[i] ?? a;
    const length = this.lengths[i] - this.lengths[i - 1];
    const p = length > 0 ? (d - this.lengths[i - 1]) / length : 0;
    return { x: a.x + p * (b.x - a.x), y: a.y + p * (b.y - a.y) };
  }
}

/**
 * The corners of a path made of straight lines, or null where it has curves and
 * only the browser can say where it goes.
 * @param {string} d
 * @returns {Point[] | null}
 */
export function corners(d) {
  const tokens = d.match(/[a-zA-Z]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?/g) ?? [];
  /** @type {Point[]} */
  const points = [];
  let x = 0;
  let y = 0;
  let op = "";
  let i = 0;
  while (i < tokens.length) {
    if (/[a-zA-Z]/.test(tokens[i])) op = tokens[i++];
    const kind = op.toUpperCase();
    const relative = op !== kind;
    if (kind === "M" || kind === "L") {
      x = Number(tokens[i++]) + (relative ? x : 0);
      y = Number(tokens[i++]) + (relative ? y : 0);
    } else if (kind === "H") x = Number(tokens[i++]) + (relative ? x : 0);
    else if (kind === "V") y = Number(tokens[i++]) + (relative ? y : 0);
    else return null;
    if (Number.isNaN(x) || Number.isNaN(y)) return null;
    points.push({ x, y });
  }
  return points.length ? points : null;
}
