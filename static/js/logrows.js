// Which events the log lists: those that a filter lets through, and among them
// the background where it is asked for.

/** @import { Ev } from "./types.js" */

/**
 * What an event must have; "" lets everything through.
 * @typedef {object} Filter
 * @property {string} kind a kind, or a family of kinds that ends with a point
 * @property {string} node who does it, sends it or gets it
 * @property {string} part
 * @property {string} api
 * @property {string} text words that must all occur
 */

/** @type {Filter} */
export const ALL = { kind: "", node: "", part: "", api: "", text: "" };

/** @param {Filter} f */
export function isOpen(f) {
  return !f.kind && !f.node && !f.part && !f.api && !f.text.trim();
}

/**
 * @param {Filter} f
 * @returns {(e: Ev) => boolean}
 */
export function matcher(f) {
  const words = f.text.toLowerCase().split(/\s+/).filter(Boolean);
  return (e) => {
    if (f.kind && (f.kind.endsWith(".") ? !e.kind.startsWith(f.kind) : e.kind !== f.kind)) return false;
    if (f.node && e.node !== f.node && e.from !== f.node && e.to !== f.node) return false;
    if (f.part && !parts(e).includes(f.part)) return false;
    if (f.api && e.api !== f.api) return false;
    if (!words.length) return true;
    const text = `${e.say ?? ""} ${e.kind} ${e.api ?? ""} ${e.n}`.toLowerCase();
    return words.every((w) => text.includes(w));
  };
}

/**
 * The partitions that an event speaks of.
 * @param {Ev} e
 * @returns {string[]}
 */
export function parts(e) {
  const list = e.f?.parts;
  const named = Array.isArray(list) ? list.map((x) => String(x?.part ?? "")).filter(Boolean) : [];
  return e.part && !named.includes(e.part) ? [e.part, ...named] : named;
}

/**
 * The main track and what has come of the background, in the order of their numbers.
 * @param {readonly Ev[]} main
 * @param {Iterable<Ev> | null} background
 * @param {Filter} filter
 * @returns {readonly Ev[]}
 */
export function rowsOf(main, background, filter) {
  if (!background && isOpen(filter)) return main;
  const lets = matcher(filter);
  const list = main.filter(lets);
  if (!background) return list;
  for (const e of background) if (lets(e)) list.push(e);
  return list.sort((a, b) => a.n - b.n);
}

/** Batches of the background that a scroll loads at once. */
const BLOCK = 500;

/**
 * What to load so that a stretch of rows has no holes: at most one block, from the
 * first number that is missing.
 * @param {number} from
 * @param {number} to
 * @param {readonly [number, number][]} ranges that have come, ascending
 * @returns {[number, number] | null}
 */
export function missing(from, to, ranges) {
  let at = from;
  for (const [a, b] of ranges) if (a <= at && at <= b) at = b + 1;
  return at > to ? null : [at, Math.max(to, at) > at + BLOCK ? at + BLOCK : to];
}

/** What there is to choose from, collected as events come. */
export class Facets {
  constructor() {
    this.seen = 0;
    /** @type {Record<"kind" | "node" | "part" | "api", Set<string>>} */
    this.of = { kind: new Set(), node: new Set(), part: new Set(), api: new Set() };
  }

  /** @param {readonly Ev[]} events */
  feed(events) {
    for (; this.seen < events.length; this.seen++) {
      const e = events[this.seen];
      this.of.kind.add(e.kind);
      if (e.node) this.of.node.add(e.node);
      if (e.part) this.of.part.add(e.part);
      if (e.api) this.of.api.add(e.api);
    }
  }
}

/**
 * An event's fields as rows of names and values: lists and structures by their paths.
 * @param {unknown} value
 * @param {string} [path]
 * @returns {[string, string][]}
 */
export function fields(value, path = "") {
  if (value === null || value === undefined) return path ? [[path, "none"]] : [];
  if (Array.isArray(value)) {
    if (value.every((x) => typeof x !== "object" || x === null)) return [[path, value.join(", ") || "none"]];
    return value.flatMap((x, i) => fields(x, `${path}[${i}]`));
  }
  if (typeof value === "object") {
    return Object.entries(value).flatMap(([k, v]) => fields(v, path ? `${path}.${k}` : k));
  }
  return [[path, value === "" ? "none" : String(value)]];
}
