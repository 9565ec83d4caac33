// Why an event happened, and what it led to: walks up and down the causes that
// the journal records. Chains leave the main track where one idle fetch leads to
// the next; the wire says where they come back to it.

/** @import { Ev } from "./types.js" */

/**
 * One step of a chain: an event, and how the event below it hangs on it.
 * @typedef {object} Link
 * @property {Ev} event
 * @property {number} hops background events between the two
 * @property {boolean} missing whether it kept something away, rather than set it off
 */

/**
 * Where a chain goes on: 0 where it ends.
 * @param {Ev} e
 * @returns {{n: number, hops: number, missing: boolean}}
 */
export function up(e) {
  const missing = Boolean(e.missing);
  if (e.via) return { n: e.via[0], hops: e.via[1], missing };
  return { n: e.missing || e.cause || 0, hops: 0, missing };
}

/** Longer chains than this go round in circles for a reader. */
const LONGEST = 400;

/**
 * The chain of causes from an event to what began it, the nearest first.
 * `begins` is how many background events stand before the last link.
 * @param {Ev} e
 * @param {(n: number) => Ev | undefined} byNumber
 * @returns {{links: Link[], begins: number}}
 */
export function chain(e, byNumber) {
  /** @type {Link[]} */
  const links = [];
  let at = e;
  while (links.length < LONGEST) {
    const { n, hops, missing } = up(at);
    const event = n > 0 && n < at.n ? byNumber(n) : undefined;
    if (!event) return { links, begins: hops };
    links.push({ event, hops, missing });
    at = event;
  }
  return { links, begins: 0 };
}

/** What each event led to. */
export class Effects {
  constructor() {
    /** @type {Map<number, Ev[]>} */ this.children = new Map();
  }

  /** @param {readonly Ev[]} batch */
  feed(batch) {
    for (const e of batch) {
      const { n } = up(e);
      this.#add(n, e);
      // Something that kept a message away also has what set its timer off.
      if (e.missing && e.cause && e.cause !== n) this.#add(e.cause, e);
    }
  }

  /**
   * @param {number} n
   * @param {Ev} e
   */
  #add(n, e) {
    if (!n) return;
    const list = this.children.get(n);
    if (list) list.push(e);
    else this.children.set(n, [e]);
  }

  /**
   * The events that one led to at once, in their order.
   * @param {number} n
   * @returns {readonly Ev[]}
   */
  of(n) {
    return this.children.get(n) ?? [];
  }

  /**
   * How many events followed from one, counted up to `most`.
   * @param {number} n
   * @param {number} [most]
   */
  count(n, most = 999) {
    const seen = new Set();
    const due = [n];
    while (due.length && seen.size < most) {
      for (const e of this.of(/** @type {number} */ (due.pop()))) {
        if (seen.has(e.n)) continue;
        seen.add(e.n);
        due.push(e.n);
      }
    }
    return Math.min(seen.size, most);
  }
}
