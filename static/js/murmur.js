// How the Java producer's built-in partitioner chooses a partition. The server
// computes the same for a page without scripts; a test compares the two.

/** The bounds of the page; the server has the same. */
export const MAX_PARTITIONS = 10_000;
const ROWS = 64;
const CHIPS = 6;
const CHARS = 48;
const NAME = 28;
const MAX_KEY = 4096;
const MAX_LIST = 1 << 20;

const utf8 = new TextEncoder();

/**
 * The 32-bit hash of Utils.murmur2.
 * @param {Uint8Array} data
 * @returns {number} signed
 */
export function murmur2(data) {
  const M = 0x5bd1e995;
  let h = 0x9747b28c ^ data.length;
  let i = 0;
  for (; data.length - i >= 4; i += 4) {
    let k = data[i] | (data[i + 1] << 8) | (data[i + 2] << 16) | (data[i + 3] << 24);
    k = Math.imul(k, M);
    k ^= k >>> 24;
    h = Math.imul(h, M) ^ Math.imul(k, M);
  }
  const rest = data.length - i;
  if (rest) {
    if (rest > 2) h ^= data[i + 2] << 16;
    if (rest > 1) h ^= data[i + 1] << 8;
    h = Math.imul(h ^ data[i], M);
  }
  h = Math.imul(h ^ (h >>> 13), M);
  return h ^ (h >>> 15);
}

/**
 * The sign bit is cleared; this is not the absolute value.
 * @param {number} hash
 */
export function toPositive(hash) {
  return hash & 0x7fffffff;
}

/**
 * @param {Uint8Array} key
 * @param {number} n partitions, 1 or more
 */
export function partitionForKey(key, n) {
  return toPositive(murmur2(key)) % n;
}

/**
 * @typedef {object} Steps
 * @property {{text: string, hex: string}[]} chars
 * @property {number} moreBytes
 * @property {number} length
 * @property {number} hash
 * @property {number} positive
 * @property {number} n
 * @property {number} partition
 */

/** @typedef {{name: string, count: number, width: number, chips: string[], more: number}} Row */
/** @typedef {{rows: Row[], summary: string}} Spread */

/**
 * @typedef {object} View
 * @property {string} problem
 * @property {Steps | null} steps
 * @property {Spread | null} spread
 */

/**
 * @param {{key: string, null: boolean, count: string, list: string}} input
 * @returns {View}
 */
export function view(input) {
  const fail = (/** @type {string} */ problem) => ({ problem, steps: null, spread: null });
  const n = partitions(input.count);
  if (!n) {
    return fail(
      `The partition count has to be a whole number from 1 to ${thousands(MAX_PARTITIONS)}, such as 12.`,
    );
  }
  const key = utf8.encode(input.key);
  if (key.length > MAX_KEY) {
    return fail(
      `The key has ${thousands(key.length)} bytes; this page takes up to ${thousands(MAX_KEY)}. Shorten it.`,
    );
  }
  if (input.list.length > MAX_LIST || utf8.encode(input.list).length > MAX_LIST) {
    return fail("The list is longer than 1 MiB; take a part of it.");
  }
  return {
    problem: "",
    steps: input.null ? null : steps(input.key, key, n),
    spread: spread(split(input.list), n),
  };
}

/**
 * @param {string} text
 * @returns {number} 0 where it is no count
 */
function partitions(text) {
  const n = /^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : 0;
  return n <= MAX_PARTITIONS ? n : 0;
}

/**
 * @param {string} text
 * @param {Uint8Array} key
 * @param {number} n
 * @returns {Steps}
 */
function steps(text, key, n) {
  const hash = murmur2(key);
  const positive = toPositive(hash);
  const shown = [...text].slice(0, CHARS);
  const chars = shown.map((c) => ({ text: visible(c), hex: hex(utf8.encode(c)) }));
  const bytes = utf8.encode(shown.join("")).length;
  const { length } = key;
  return { chars, moreBytes: length - bytes, length, hash, positive, n, partition: positive % n };
}

/** @param {Uint8Array} bytes */
const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join(" ");

/**
 * Characters that leave no mark are replaced.
 * @param {string} c
 */
const visible = (c) => (c === " " ? "␣" : c === "\t" ? "⇥" : c);

/**
 * One key a line. Empty lines are left out; blanks are part of a key.
 * @param {string} list
 */
function split(list) {
  return list
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter(Boolean);
}

/**
 * @param {string[]} list
 * @param {number} n
 * @returns {Spread | null}
 */
function spread(list, n) {
  if (!list.length) return null;
  const per = Math.ceil(n / ROWS);
  const counts = new Uint32Array(n);
  /** @type {Row[]} */
  const rows = Array.from({ length: Math.ceil(n / per) }, (_, i) => {
    const last = Math.min((i + 1) * per, n) - 1;
    return {
      name: last > i * per ? `${i * per}–${last}` : `${i * per}`,
      count: 0,
      width: 0,
      chips: [],
      more: 0,
    };
  });
  const seen = new Set();
  for (const key of list) {
    const p = partitionForKey(utf8.encode(key), n);
    counts[p]++;
    const row = rows[Math.floor(p / per)];
    row.count++;
    if (seen.has(key)) continue;
    seen.add(key);
    if (row.chips.length < CHIPS) row.chips.push(name(key));
    else row.more++;
  }
  const top = rows.reduce((most, r) => Math.max(most, r.count), 0);
  for (const r of rows) if (r.count) r.width = Math.max(1, Math.floor((r.count * 100) / top));
  return { rows, summary: summary(list.length, seen.size, counts) };
}

/**
 * @param {number} keys
 * @param {number} distinct
 * @param {Uint32Array} counts
 */
function summary(keys, distinct, counts) {
  const high = counts.reduce((a, b) => Math.max(a, b), 0);
  const empty = counts.reduce((a, b) => a + (b ? 0 : 1), 0);
  const said =
    `${plural(keys, "key")}, ${thousands(distinct)} different, in ${plural(counts.length, "partition")}. ` +
    `The fullest is ${counts.indexOf(high)} with ${thousands(high)}: ${Math.floor((high * 100) / keys)} % of all.`;
  return empty ? `${said} Empty: ${thousands(empty)}.` : said;
}

/**
 * @param {number} n
 * @param {string} what
 */
const plural = (n, what) => (n === 1 ? `1 ${what}` : `${thousands(n)} ${what}s`);

/** @param {number} n */
const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** @param {string} key */
function name(key) {
  const chars = [...key];
  return chars.length <= NAME ? key : `${chars.slice(0, NAME - 1).join("")}…`;
}
