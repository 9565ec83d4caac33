// Journals made from a seed, and the slow, obvious readings of them that the fast ones are compared with.

/** @import { Ev } from "../../../static/js/types.js" */

/**
 * A generator of numbers that are the same for a seed on every machine.
 * @param {number} seed
 */
export function generator(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) | 0;
    let x = Math.imul(a ^ (a >>> 15), 1 | a);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** @param {number} n */
    below: (n) => Math.floor(next() * n),
    /**
     * @template T
     * @param {readonly T[]} list
     * @returns {T}
     */
    pick: (list) => list[Math.floor(next() * list.length)],
  };
}

/**
 * A journal with scalars that come and go, logs that grow, are truncated and lose
 * their beginning, and messages that arrive, are held or get lost. Numbers have gaps,
 * as those of the main track have, and times repeat.
 * @param {number} seed
 * @param {number} count
 * @param {{keys?: number}} [size]
 * @returns {Ev[]}
 */
export function journal(seed, count, { keys = 30 } = {}) {
  const r = generator(seed);
  const ends = [0, 0, 0];
  const starts = [0, 0, 0];
  /** @type {{at: number, ev: Partial<Ev>}[]} */
  const due = [];
  /** @type {Ev[]} */
  const events = [];
  let n = 0;
  let t = 0;
  let msg = 0;
  while (events.length < count) {
    n += 1 + r.below(3);
    due.sort((a, b) => a.at - b.at);
    if (due.length && (due[0].at <= t || r.next() < 0.4)) {
      const { at, ev } = /** @type {{at: number, ev: Partial<Ev>}} */ (due.shift());
      t = Math.max(t, at);
      events.push(/** @type {Ev} */ ({ n, t, ...ev }));
      continue;
    }
    t += r.below(3) * r.below(500);
    if (r.next() < 0.3) {
      const arrive = t + 1 + r.below(4000);
      const pair = { msg: ++msg, api: "Fetch", from: `b${1 + r.below(2)}`, to: "b3" };
      const pill = { text: `Fetch ${msg}`, lane: "orders-0" };
      events.push({ n, t, kind: "request.send", ...pair, arrive, pill });
      const kind = r.next() < 0.1 ? "message.lost" : "request.receive";
      if (r.next() < 0.1) due.push({ at: arrive, ev: { kind: "message.held", ...pair } });
      due.push({ at: arrive + (r.next() < 0.1 ? 9000 : 0), ev: { kind, ...pair } });
      continue;
    }
    /** @type {[string, any][]} */
    const ch = [];
    for (let i = r.below(4); i > 0; i--)
      ch.push([`k${r.below(keys)}`, r.next() < 0.15 ? null : r.below(100)]);
    const i = r.below(3);
    const key = `b${i + 1}/orders-0/log`;
    const dice = r.next();
    if (dice < 0.5) {
      const ids = Array.from({ length: 1 + r.below(3) }, (_, k) => `r${n}.${k}`);
      ch.push([key, { append: [ends[i], r.below(4), ids, r.next() < 0.1 ? "t" : ""] }]);
      ends[i] += ids.length;
    } else if (dice < 0.6 && ends[i] > starts[i]) {
      ends[i] = starts[i] + r.below(ends[i] - starts[i]);
      ch.push([key, { truncate: ends[i] }]);
    } else if (dice < 0.65) {
      starts[i] += r.below(ends[i] - starts[i] + 1);
      ch.push([key, { start: starts[i] }]);
    }
    events.push({ n, t, kind: "action", ch });
  }
  return events;
}

/**
 * The state after event n by replaying everything.
 * @param {readonly Ev[]} events
 * @param {number} n
 */
export function replay(events, n) {
  /** @type {Map<string, any>} */
  const values = new Map();
  /** @type {Map<string, {start: number, entries: any[]}>} */
  const logs = new Map();
  for (const e of events) {
    if (e.n > n) break;
    for (const [key, value] of e.ch ?? []) {
      if (!key.endsWith("/log")) {
        values.set(key, value);
        continue;
      }
      const log = logs.get(key) ?? { start: 0, entries: [] };
      logs.set(key, log);
      if (value.append) {
        const [base, epoch, ids, flags] = value.append;
        if (!log.entries.length) log.start = base;
        log.entries.length = base - log.start;
        log.entries.push(...ids.map((/** @type {string} */ id) => ({ id, epoch, flags })));
      } else if ("truncate" in value) {
        log.entries.length = value.truncate - log.start;
      } else {
        log.entries.splice(0, value.start - log.start);
        log.start = value.start;
      }
    }
  }
  return { values, logs };
}

/**
 * Breakpoints over a journal: about every tenth event, with dwells in between.
 * @param {readonly Ev[]} events
 * @param {number} seed
 * @returns {[number, number, number][]}
 */
export function breakpoints(events, seed) {
  const r = generator(seed);
  /** @type {[number, number, number][]} */
  const points = [[events[0].n, events[0].t, 0]];
  let s = 0;
  for (const [i, e] of events.entries()) {
    if (i === 0 || (r.next() > 0.1 && i < events.length - 1)) continue;
    s += 0.05 + r.next();
    points.push([e.n, e.t, s]);
    if (r.next() < 0.3) points.push([e.n, e.t, (s += 0.6)]);
  }
  return points;
}
