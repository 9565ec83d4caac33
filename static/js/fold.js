// The journal, folded: for every key its changes sorted by event number, so that
// the state at any event is one binary search a key, forwards or backwards.

import { countUpTo } from "./search.js";

/** @import { Ev } from "./types.js" */

/** @typedef {{id: string, epoch: number, flags: string}} Entry */

/**
 * What a replica's log holds at one event: bounds and, inside them, entries.
 * @typedef {object} Log
 * @property {number} start
 * @property {number} end the log end offset
 * @property {(offset: number) => Entry | null} entry
 */

/**
 * The state after one event.
 * @typedef {object} View
 * @property {number} n
 * @property {(key: string) => any} get
 * @property {(key: string) => Log} log
 */

/** A key's values in the order of the events that set them. */
class History {
  /** @type {number[]} */ ns = [];
  /** @type {any[]} */ values = [];

  /**
   * @param {number} n
   * @param {any} value
   */
  add(n, value) {
    this.ns.push(n);
    this.values.push(value);
  }

  /** @param {number} n */
  at(n) {
    const i = countUpTo(this.ns, n);
    return i === 0 ? null : this.values[i - 1];
  }
}

/**
 * A log's bounds by event, and for every offset the entries it ever held. An
 * offset written twice (truncated, then appended to again) keeps both entries,
 * and the bounds decide whether the one in force is still there.
 */
class LogHistory {
  ns = /** @type {number[]} */ ([]);
  starts = /** @type {number[]} */ ([]);
  ends = /** @type {number[]} */ ([]);
  offsets = /** @type {Map<number, History>} */ (new Map());
  /** What was done to it. */
  values = /** @type {any[]} */ ([]);

  /**
   * @param {number} n
   * @param {any} op
   */
  add(n, op) {
    this.values.push(op);
    const last = this.ns.length - 1;
    let start = last < 0 ? 0 : this.starts[last];
    let end = last < 0 ? 0 : this.ends[last];
    if (op?.append) {
      const [base, epoch, ids, flags] = op.append;
      if (start === end) start = base;
      for (let i = 0; i < ids.length; i++) {
        this.write(n, base + i, { id: ids[i], epoch, flags: flags ?? "" });
      }
      end = base + ids.length;
    } else if (op && "truncate" in op) {
      end = Math.min(end, Math.max(op.truncate, start));
      if (start === end) start = end = op.truncate;
    } else if (op && "start" in op) {
      start = op.start;
      end = Math.max(end, start);
    } else {
      start = end = 0;
    }
    this.ns.push(n);
    this.starts.push(start);
    this.ends.push(end);
  }

  /**
   * @param {number} n
   * @param {number} offset
   * @param {Entry} entry
   */
  write(n, offset, entry) {
    let h = this.offsets.get(offset);
    if (!h) this.offsets.set(offset, (h = new History()));
    h.add(n, entry);
  }

  /**
   * @param {number} n
   * @returns {Log}
   */
  at(n) {
    const i = countUpTo(this.ns, n) - 1;
    if (i < 0) return NO_LOG;
    const start = this.starts[i];
    const end = this.ends[i];
    return {
      start,
      end,
      entry: (offset) => (offset < start || offset >= end ? null : (this.offsets.get(offset)?.at(n) ?? null)),
    };
  }
}

/** @type {Log} */
const NO_LOG = { start: 0, end: 0, entry: () => null };

/** The history of a key that was never set. */
const NEVER = { ns: [], values: [] };

/** Above this many events a step is a seek: reading every bound key costs less. */
const STEP_LIMIT = 256;

/** @param {string} key */
const isLog = (key) => key.endsWith("/log");

export class Fold {
  constructor() {
    /** @type {Ev[]} */ this.events = [];
    /** @type {number[]} */ this.ns = [];
    /** @type {number[]} */ this.ts = [];
    /** @type {Map<string, History>} */ this.values = new Map();
    /** @type {Map<string, LogHistory>} */ this.logs = new Map();
  }

  /** The last event number that is loaded, 0 before the first. */
  get last() {
    return this.ns.length ? this.ns[this.ns.length - 1] : 0;
  }

  /**
   * Takes the next batch and returns the events that were new: after a
   * reconnection a batch may begin with events that are already here.
   * @param {readonly Ev[]} batch
   * @returns {Ev[]}
   */
  feed(batch) {
    const fresh = [];
    for (const e of batch) {
      if (e.n <= this.last) continue;
      this.events.push(e);
      this.ns.push(e.n);
      this.ts.push(e.t);
      for (const [key, value] of e.ch ?? []) this.#change(e.n, key, value);
      fresh.push(e);
    }
    return fresh;
  }

  /**
   * @param {number} n
   * @param {string} key
   * @param {any} value
   */
  #change(n, key, value) {
    if (isLog(key)) {
      let h = this.logs.get(key);
      if (!h) this.logs.set(key, (h = new LogHistory()));
      h.add(n, value);
      return;
    }
    let h = this.values.get(key);
    if (!h) this.values.set(key, (h = new History()));
    h.add(n, value);
  }

  /**
   * @param {number} n
   * @returns {View}
   */
  at(n) {
    return {
      n,
      get: (key) => this.values.get(key)?.at(n) ?? null,
      log: (key) => this.logs.get(key)?.at(n) ?? NO_LOG,
    };
  }

  /**
   * The event of a number, if it is on the main track and has come.
   * @param {number} n
   * @returns {Ev | undefined}
   */
  event(n) {
    const e = this.events[this.indexOf(n)];
    return e?.n === n ? e : undefined;
  }

  /**
   * The number of the last event up to n that changed a key; 0 where none did.
   * @param {string} key
   * @param {number} n
   */
  changedAt(key, n) {
    const ns = (isLog(key) ? this.logs : this.values).get(key)?.ns ?? [];
    return ns[countUpTo(ns, n) - 1] ?? 0;
  }

  /**
   * The number of the last event up to n that wrote a log's offset; 0 where none did.
   * @param {string} key
   * @param {number} offset
   * @param {number} n
   */
  writtenAt(key, offset, n) {
    const ns = this.logs.get(key)?.offsets.get(offset)?.ns ?? [];
    return ns[countUpTo(ns, n) - 1] ?? 0;
  }

  /**
   * All changes of a key: the events, and the values, or for a log what was done to it.
   * @param {string} key
   * @returns {{ns: readonly number[], values: readonly unknown[]}}
   */
  history(key) {
    return (isLog(key) ? this.logs : this.values).get(key) ?? NEVER;
  }

  /**
   * The place in a key's history of the value in force at an event; -1 before the first.
   * @param {string} key
   * @param {number} n
   */
  place(key, n) {
    return countUpTo(this.history(key).ns, n) - 1;
  }

  /** The partitions whose metadata is known, those of ordinary topics first. */
  partitions() {
    const parts = [];
    for (const key of this.values.keys()) {
      const [first, part, last] = key.split("/");
      if (first === "meta" && last === "leader") parts.push(part);
    }
    const internal = (/** @type {string} */ p) => (p.startsWith("__") ? 1 : 0);
    return parts.sort((a, b) => internal(a) - internal(b) || a.localeCompare(b, "en", { numeric: true }));
  }

  /**
   * The position in `events` of the last event numbered at most n; -1 before the first.
   * @param {number} n
   */
  indexOf(n) {
    return countUpTo(this.ns, n) - 1;
  }

  /**
   * The number of the last event at or before a virtual time; 0 before the first.
   * @param {number} t
   */
  lastAt(t) {
    const i = countUpTo(this.ts, t) - 1;
    return i < 0 ? 0 : this.ns[i];
  }

  /**
   * The keys that may differ between two cursors, or null where so many events lie
   * between them that all keys are to be read.
   * @param {number} n0
   * @param {number} n1
   * @returns {Set<string> | null}
   */
  changed(n0, n1) {
    const from = this.indexOf(Math.min(n0, n1)) + 1;
    const to = this.indexOf(Math.max(n0, n1)) + 1;
    if (to - from > STEP_LIMIT) return null;
    /** @type {Set<string>} */
    const keys = new Set();
    for (let i = from; i < to; i++) {
      for (const change of this.events[i].ch ?? []) keys.add(change[0]);
      if (keys.size > 4 * STEP_LIMIT) return null;
    }
    return keys;
  }
}
