// The story clock: breakpoints (n, t, s) that say when, in seconds of the
// telling, each moment of virtual time is shown. Between two of them all is
// linear; where t stands still and s goes on, one instant dwells.

import { clamp, countUpTo } from "./search.js";

/** @import { FoldedSpan } from "./types.js" */

/**
 * Virtual times are whole microseconds, so a ten-thousandth forgives what floating
 * point loses on the way from t to s and back.
 */
const SLACK = 1e-4;

export class Story {
  /**
   * @param {readonly [number, number, number][]} points
   * @param {readonly FoldedSpan[]} [folds]
   */
  constructor(points, folds = []) {
    const list = points.length ? points : [/** @type {[number, number, number]} */ ([0, 0, 0])];
    this.ns = list.map((p) => p[0]);
    this.ts = list.map((p) => p[1]);
    this.ss = list.map((p) => p[2]);
    this.folds = folds;
  }

  get start() {
    return this.ss[0];
  }

  get end() {
    return this.ss[this.ss.length - 1];
  }

  /**
   * The span that holds a story time, and how far into it the time is.
   * @param {number} s
   * @returns {{i: number, p: number}}
   */
  #span(s) {
    const i = clamp(countUpTo(this.ss, s) - 1, 0, Math.max(0, this.ss.length - 2));
    const length = (this.ss[i + 1] ?? this.ss[i]) - this.ss[i];
    return { i, p: length > 0 ? clamp((s - this.ss[i]) / length, 0, 1) : 0 };
  }

  /**
   * The virtual time at a story time.
   * @param {number} s
   */
  t(s) {
    const { i, p } = this.#span(s);
    const t0 = this.ts[i];
    const t1 = this.ts[i + 1] ?? t0;
    return p === 1 ? t1 : t0 + p * (t1 - t0);
  }

  /**
   * The story time at which a virtual time is over: where one instant dwells, its end.
   * @param {number} t
   */
  when(t) {
    const i = countUpTo(this.ts, t) - 1;
    if (i < 0) return this.start;
    if (i >= this.ts.length - 1) return this.end;
    const dt = this.ts[i + 1] - this.ts[i];
    return this.ss[i] + clamp((t - this.ts[i]) / dt, 0, 1) * (this.ss[i + 1] - this.ss[i]);
  }

  /**
   * The number of the last event shown at a story time. Where time moves the
   * events' own times decide; within a dwell they come one after the other.
   * @param {number} s
   * @param {{lastAt: (t: number) => number, ns: readonly number[]}} journal
   */
  n(s, journal) {
    const { i, p } = this.#span(s);
    const n0 = this.ns[i];
    const n1 = this.ns[i + 1] ?? n0;
    if (p === 1) return n1;
    const t0 = this.ts[i];
    const t1 = this.ts[i + 1] ?? t0;
    if (t1 > t0) return clamp(journal.lastAt(t0 + p * (t1 - t0) + SLACK), n0, n1);
    const at = countUpTo(journal.ns, n0 + p * (n1 - n0) + SLACK) - 1;
    return clamp(at < 0 ? n0 : journal.ns[at], n0, n1);
  }

  /**
   * The first story time at which an event is shown.
   * @param {number} n
   * @param {number} t the event's virtual time
   */
  s(n, t) {
    const i = countUpTo(this.ns, n - 0.5);
    if (i === 0) return this.ss[0];
    if (i === this.ns.length) return this.end;
    const t0 = this.ts[i - 1];
    const t1 = this.ts[i];
    const n0 = this.ns[i - 1];
    const n1 = this.ns[i];
    const p = t1 > t0 ? (t - t0) / (t1 - t0) : (n - n0) / (n1 - n0);
    return this.ss[i - 1] + clamp(p, 0, 1) * (this.ss[i] - this.ss[i - 1]);
  }

  /**
   * Virtual seconds per story second; 0 within a dwell.
   * @param {number} s
   */
  factor(s) {
    const { i } = this.#span(s);
    const ds = (this.ss[i + 1] ?? this.ss[i]) - this.ss[i];
    return ds > 0 ? ((this.ts[i + 1] ?? this.ts[i]) - this.ts[i]) / 1e6 / ds : 0;
  }

  /**
   * The folded stretch at a story time, if one is.
   * @param {number} s
   */
  fold(s) {
    return this.folds.find((f) => s >= f.s0 && s < f.s1) ?? null;
  }
}

/**
 * A virtual time as minutes, seconds, milliseconds and microseconds: "0:00.413 250".
 * @param {number} t
 */
export function formatClock(t) {
  const us = Math.max(0, Math.round(t));
  const two = String(Math.floor(us / 1e6) % 60).padStart(2, "0");
  const frac = String(us % 1e6).padStart(6, "0");
  return `${Math.floor(us / 60e6)}:${two}.${frac.slice(0, 3)} ${frac.slice(3)}`;
}

/**
 * How the telling relates to virtual time, in words.
 * @param {number} factor virtual seconds per second of watching
 */
export function formatFactor(factor) {
  if (factor <= 0) return "virtual time stopped for this instant";
  if (factor >= 0.95 && factor < 1.05) return "virtual time, real speed";
  return factor < 1
    ? `virtual time, slowed ${twoDigits(1 / factor)}×`
    : `virtual time, sped up ${twoDigits(factor)}×`;
}

/**
 * A speed as a button shows it: "2×", "1/10×".
 * @param {number} speed
 */
export function formatSpeed(speed) {
  return Number.isInteger(speed * 4) ? `${speed}×` : `1/${Math.round(1 / speed)}×`;
}

/**
 * Two digits are all that a reader can use, and they keep the number from flickering.
 * @param {number} x
 */
function twoDigits(x) {
  return String(Number(x.toPrecision(2)));
}
