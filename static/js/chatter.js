// The background track: empty fetches, heartbeats that change nothing. It comes
// by range and only when somebody asks.

/** @import { Ev } from "./types.js" */

/** @typedef {{from: number, to: number, events: Ev[], done: boolean}} ChatterMessage */

export class Chatter {
  /** @param {(from: number, to: number) => boolean} ask whether there is anybody to ask */
  constructor(ask) {
    this.ask = ask;
    /** @type {Map<number, Ev>} */ this.events = new Map();
    /** Ranges that have come, apart and ascending. @type {[number, number][]} */ this.ranges = [];
    /** What was asked and has not all come. @type {{from: number, to: number, resolve: (ok: boolean) => void}[]} */
    this.waiting = [];
  }

  /**
   * Loads a range of event numbers; false where nobody has it.
   * @param {number} from
   * @param {number} to
   * @returns {Promise<boolean>}
   */
  load(from, to) {
    if (to < from || this.has(from, to)) return Promise.resolve(true);
    if (!this.ask(from, to)) return Promise.resolve(false);
    return new Promise((resolve) => this.waiting.push({ from, to, resolve }));
  }

  /**
   * Whether all numbers of a range have come.
   * @param {number} from
   * @param {number} to
   */
  has(from, to) {
    return this.ranges.some(([a, b]) => a <= from && to <= b);
  }

  /** @param {ChatterMessage} message */
  take(message) {
    for (const e of message.events) this.events.set(e.n, e);
    if (!message.done) return;
    // The server answers in the order in which it was asked.
    const first = this.waiting.shift();
    if (first) {
      this.#join(first.from, first.to);
      first.resolve(true);
    } else this.#join(message.from, message.to);
  }

  /** Asks again what a broken connection left open. */
  again() {
    for (const { from, to } of this.waiting) this.ask(from, to);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #join(from, to) {
    const apart = this.ranges.filter(([a, b]) => b + 1 < from || a - 1 > to);
    const near = this.ranges.filter(([a, b]) => b + 1 >= from && a - 1 <= to);
    const lo = Math.min(from, ...near.map((r) => r[0]));
    const hi = Math.max(to, ...near.map((r) => r[1]));
    apart.push([lo, hi]);
    this.ranges = apart.sort((a, b) => a[0] - b[0]);
  }
}
