// Which messages are in the air at a moment, and how far each one has come.

import { clamp, countUpTo } from "./search.js";

/** @import { Ev, Pill } from "./types.js" */

/**
 * One leg of a message. `endN` is the event that ended it; Infinity while none has.
 * @typedef {object} Flight
 * @property {number} id the number of the send
 * @property {"request" | "response"} leg
 * @property {string} path the id of the path it travels on
 * @property {string} api
 * @property {Pill} pill
 * @property {number} t0
 * @property {number} t1
 * @property {number} endN
 * @property {number} heldN the event that held it up; Infinity for most
 */

/**
 * A flight as a frame shows it.
 * @typedef {object} Sighting
 * @property {Flight} flight
 * @property {number} progress 0..1
 * @property {boolean} held
 * @property {number} count how many like messages it stands for
 */

/** More pills than this can't be read, and like ones are shown as one. */
export const VISIBLE = 40;

const BLOCK = 64;

export class Flights {
  constructor() {
    /** @type {Flight[]} */ this.list = [];
    /** @type {number[]} */ this.ids = [];
    /**
     * The latest end within each block of flights: a message that is held for
     * seconds then costs its own block a look, and not every block since.
     * @type {number[]}
     */
    this.latest = [];
    /** @type {Map<number, number[]>} */ this.open = new Map();
  }

  /** @param {readonly Ev[]} batch in the order of their numbers */
  feed(batch) {
    const touched = new Set();
    for (const e of batch) {
      if (e.msg === undefined) continue;
      if (e.kind === "request.send" || e.kind === "response.send") {
        if (e.pill) touched.add(this.#depart(e));
      } else if (e.kind === "message.held") {
        const i = this.#leg(e);
        if (i >= 0) this.list[i].heldN = Math.min(this.list[i].heldN, e.n);
      } else if (e.kind === "request.receive" || e.kind === "response.receive" || e.kind === "message.lost") {
        const i = this.#leg(e);
        if (i < 0) continue;
        this.list[i].endN = e.n;
        this.#close(/** @type {number} */ (e.msg), i);
        touched.add(Math.floor(i / BLOCK));
      }
    }
    for (const b of touched) this.#measure(b);
  }

  /** @param {Ev} e */
  #depart(e) {
    const pill = /** @type {Pill} */ (e.pill);
    const i = this.list.length;
    this.list.push({
      id: e.n,
      leg: e.kind === "request.send" ? "request" : "response",
      path: `lane/${pill.lane}/${e.from}/${e.to}`,
      api: e.api ?? "",
      pill,
      t0: e.t,
      t1: Math.max(e.arrive ?? e.t, e.t),
      endN: Number.POSITIVE_INFINITY,
      heldN: Number.POSITIVE_INFINITY,
    });
    this.ids.push(e.n);
    const msg = /** @type {number} */ (e.msg);
    const legs = this.open.get(msg);
    if (legs) legs.push(i);
    else this.open.set(msg, [i]);
    return Math.floor(i / BLOCK);
  }

  /**
   * The leg of a message that an event speaks of. A loss or a hold doesn't say
   * which, but its direction does.
   * @param {Ev} e
   */
  #leg(e) {
    const legs = this.open.get(/** @type {number} */ (e.msg)) ?? [];
    if (e.kind.startsWith("re")) {
      const leg = e.kind.startsWith("request") ? "request" : "response";
      return legs.find((i) => this.list[i].leg === leg) ?? -1;
    }
    const tail = `/${e.from}/${e.to}`;
    return legs.find((i) => this.list[i].path.endsWith(tail)) ?? legs[0] ?? -1;
  }

  /**
   * @param {number} msg
   * @param {number} i
   */
  #close(msg, i) {
    const left = (this.open.get(msg) ?? []).filter((x) => x !== i);
    if (left.length) this.open.set(msg, left);
    else this.open.delete(msg);
  }

  /** @param {number} b */
  #measure(b) {
    let latest = 0;
    const to = Math.min(this.list.length, (b + 1) * BLOCK);
    for (let i = b * BLOCK; i < to; i++) latest = Math.max(latest, this.list[i].endN);
    this.latest[b] = latest;
  }

  /**
   * The flights in the air after event n, at virtual time t, in the order of their sends.
   * @param {number} n
   * @param {number} t
   * @returns {Sighting[]}
   */
  at(n, t) {
    const count = countUpTo(this.ids, n);
    /** @type {Sighting[]} */
    const out = [];
    for (let b = 0; b * BLOCK < count; b++) {
      if (this.latest[b] <= n) continue;
      const to = Math.min(count, (b + 1) * BLOCK);
      for (let i = b * BLOCK; i < to; i++) {
        const flight = this.list[i];
        if (flight.endN <= n) continue;
        out.push({ flight, progress: progressOf(flight, t), held: flight.heldN <= n, count: 1 });
      }
    }
    return out;
  }
}

/**
 * @param {Flight} flight
 * @param {number} t
 */
function progressOf(flight, t) {
  return flight.t1 > flight.t0 ? clamp((t - flight.t0) / (flight.t1 - flight.t0), 0, 1) : 1;
}

/**
 * Brings the air down to what can be read. Messages that look the same and fly
 * side by side, or wait at the same end, are always one pill; above the cap so are like messages on one
 * path, shown where the first of them is.
 * @param {readonly Sighting[]} sightings
 * @param {number} [cap]
 * @returns {Sighting[]}
 */
export function crowd(sightings, cap = VISIBLE) {
  const apart = merge(
    sightings,
    ({ flight: f, held, progress }) =>
      `${f.path} ${f.leg} ${progress === 1 ? "waits" : `${f.t0} ${f.t1}`} ${held} ${f.pill.text}`,
  );
  if (apart.length <= cap) return apart;
  return merge(apart, ({ flight: f, held }) => `${f.path} ${f.leg} ${f.api} ${held}`).slice(0, cap);
}

/**
 * @param {readonly Sighting[]} sightings
 * @param {(x: Sighting) => string} likeness
 * @returns {Sighting[]}
 */
function merge(sightings, likeness) {
  /** @type {Map<string, Sighting>} */
  const groups = new Map();
  for (const x of sightings) {
    const key = likeness(x);
    const first = groups.get(key);
    if (first) first.count += x.count;
    else groups.set(key, { ...x });
  }
  return [...groups.values()];
}

/** @typedef {{x: number, y: number, w: number, h: number}} Box by its centre */

/** A pill begins to make way when another is this near. */
const NEAR = 24;
/** How far a pill moves aside: its height and a little air. */
const ASIDE = 20;

/**
 * How far down each box moves so that none covers another. Earlier ones stay
 * where they are; a later one slides up or down, to the side with more room, and
 * it does so by how near it is, so that nothing jumps as two pass each other.
 * @param {readonly Box[]} boxes
 * @returns {number[]}
 */
export function makeWay(boxes) {
  /** @type {Box[]} */
  const placed = [];
  return boxes.map((box) => {
    const crowding = (/** @type {number} */ dy) =>
      placed.reduce((most, other) => Math.max(most, nearness({ ...box, y: box.y + dy }, other)), 0);
    const here = crowding(0);
    const shift = here === 0 ? 0 : here * (crowding(-ASIDE) <= crowding(ASIDE) ? -ASIDE : ASIDE);
    placed.push({ ...box, y: box.y + shift });
    return shift;
  });
}

/**
 * From 0 (apart) to 1 (one would cover the other).
 * @param {Box} a
 * @param {Box} b
 */
function nearness(a, b) {
  if (Math.abs(a.y - b.y) >= (a.h + b.h) / 2) return 0;
  const gap = Math.abs(a.x - b.x) - (a.w + b.w) / 2;
  return clamp((NEAR - gap) / NEAR, 0, 1);
}
