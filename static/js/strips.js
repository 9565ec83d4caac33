// The painted strips of the timeline, and its curves: the history of a few keys,
// each drawn over the whole run.

/** @import { Fold } from "./fold.js" */
/** @import { Group } from "./types.js" */

/**
 * A stretch in which a value stands still; it lasts until the next one.
 * @typedef {object} Stretch
 * @property {number} n the event that began it
 * @property {string} text
 * @property {string} tone what is drawn: "none" for nobody or nothing, else a number to tell neighbours apart
 * @property {number} [level] from 0 to 1, where the value is a size
 */

/**
 * @typedef {object} Strip
 * @property {string} name
 * @property {"leader" | "isr" | "controller" | "group"} what
 * @property {Stretch[]} stretches
 */

/**
 * The value of some keys taken together, at each event that changed one of them.
 * @param {Fold} fold
 * @param {readonly string[]} keys
 * @param {(get: (key: string) => any, n: number) => Omit<Stretch, "n">} read
 * @returns {Stretch[]}
 */
function stretches(fold, keys, read) {
  const ns = [...new Set(keys.flatMap((k) => fold.values.get(k)?.ns ?? []))].sort((a, b) => a - b);
  /** @type {Stretch[]} */
  const out = [];
  for (const n of ns) {
    const now = { n, ...read(fold.at(n).get, n) };
    const last = out.at(-1);
    if (last && last.text === now.text && last.tone === now.tone && last.level === now.level) continue;
    out.push(now);
  }
  return out;
}

/** @param {unknown} ids "1,2,3" */
const count = (ids) => (typeof ids === "string" && ids ? ids.split(",").length : 0);

/**
 * @param {Fold} fold
 * @param {string} part
 * @returns {Strip[]} who leads it in which epoch, and how many replicas are in sync
 */
export function partStrips(fold, part) {
  const key = (/** @type {string} */ name) => `meta/${part}/${name}`;
  const leader = stretches(fold, [key("leader"), key("leaderEpoch")], (get) => {
    const id = Number(get(key("leader")) ?? -1);
    const epoch = get(key("leaderEpoch")) ?? 0;
    return id < 0
      ? { text: `no leader, epoch ${epoch}`, tone: "none" }
      : { text: `b${id}, epoch ${epoch}`, tone: String(Number(epoch) % 3) };
  });
  const isr = stretches(fold, [key("isr"), key("replicas"), key("minIsr")], (get) => {
    const size = count(get(key("isr")));
    const min = Number(get(key("minIsr")) ?? 1);
    const low = size < min ? `, below min ${min}` : "";
    return {
      text: size ? `ISR ${get(key("isr"))}${low}` : "ISR empty",
      tone: low ? "none" : "0",
      level: size / Math.max(1, count(get(key("replicas")))),
    };
  });
  return [
    { name: `${part} leader`, what: "leader", stretches: leader },
    { name: part, what: "isr", stretches: isr },
  ];
}

/**
 * @param {Fold} fold
 * @returns {Strip} the active controller and its quorum epoch
 */
export function controllerStrip(fold) {
  const names = [...fold.values.keys()].filter((k) => /^c\d+\/role$/.test(k)).map((k) => k.split("/")[0]);
  const keys = names.flatMap((c) => [`${c}/role`, `${c}/epoch`, `${c}/state`]);
  const list = stretches(fold, keys, (get) => {
    const leaders = names.filter((c) => get(`${c}/role`) === "leader" && get(`${c}/state`) === "running");
    // A leader that was cut off believes in itself until it hears of a newer epoch.
    leaders.sort((a, b) => Number(get(`${b}/epoch`)) - Number(get(`${a}/epoch`)));
    const [c] = leaders;
    if (!c) return { text: "no active controller", tone: "none" };
    const epoch = Number(get(`${c}/epoch`) ?? 0);
    return { text: `${c.toUpperCase()}, quorum epoch ${epoch}`, tone: String(epoch % 3) };
  });
  return { name: "controller", what: "controller", stretches: list };
}

/**
 * @param {Fold} fold
 * @param {Group} group
 * @returns {Strip | null} its generation or epoch, and its state; null for consumers that assign themselves
 */
export function groupStrip(fold, { id }) {
  const key = (/** @type {string} */ name) => `${id}/${name}`;
  if (!fold.values.has(key("state"))) return null;
  const list = stretches(fold, [key("state"), key("generation"), key("groupEpoch")], (get) => {
    const epoch = get(key("groupEpoch"));
    const age = epoch ?? get(key("generation"));
    const state = get(key("state"));
    if (state === null) return { text: "no group", tone: "none" };
    const stable = state === "Stable";
    const called = epoch === null ? "generation" : "group epoch";
    return {
      text: age === null ? String(state) : `${called} ${age}, ${state}`,
      tone: stable ? String(Number(age) % 3) : "busy",
    };
  });
  return { name: id, what: "group", stretches: list };
}

/**
 * A line of a curve: its value from each event on.
 * @typedef {object} Line
 * @property {string} name
 * @property {"hw" | "leo" | "lag"} what
 * @property {[number, number][]} points event and value, ascending
 */

/**
 * The leader's high watermark, and the log end offset of each replica.
 * @param {Fold} fold
 * @param {string} part
 * @returns {Line[]}
 */
export function partLines(fold, part) {
  const leaderKey = `meta/${part}/leader`;
  const brokers = [...fold.values.keys()]
    .filter((k) => k.endsWith(`/${part}/leo`) && k.split("/").length === 3)
    .map((k) => k.split("/")[0])
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const lines = brokers.map((b) =>
    line(fold, `LEO ${b}`, "leo", [`${b}/${part}/leo`], (get) => get(`${b}/${part}/leo`)),
  );
  const hw = line(fold, "HW", "hw", [leaderKey, ...brokers.map((b) => `${b}/${part}/hw`)], (get) =>
    get(`b${get(leaderKey)}/${part}/hw`),
  );
  return [...lines, hw];
}

/**
 * The records a group still has to read, all its partitions together.
 * @param {Fold} fold
 * @param {Group} group
 * @param {(group: Group, view: import("./fold.js").View) => number} lag
 * @returns {Line[]}
 */
export function groupLines(fold, group, lag) {
  const keys = [...fold.values.keys()].filter((k) => {
    const [first, part, last] = k.split("/");
    if (!group.parts.includes(part)) return false;
    return (
      (first === "meta" && last === "leader") || last === "hw" || last === "position" || last === "committed"
    );
  });
  return [line(fold, "lag", "lag", keys, (_, n) => lag(group, fold.at(n)))];
}

/**
 * @param {Fold} fold
 * @param {string} name
 * @param {Line["what"]} what
 * @param {readonly string[]} keys
 * @param {(get: (key: string) => any, n: number) => unknown} read
 * @returns {Line}
 */
function line(fold, name, what, keys, read) {
  const ns = [...new Set(keys.flatMap((k) => fold.values.get(k)?.ns ?? []))].sort((a, b) => a - b);
  /** @type {[number, number][]} */
  const points = [];
  for (const n of ns) {
    const v = read(fold.at(n).get, n);
    if (typeof v === "number" && points.at(-1)?.[1] !== v) points.push([n, v]);
  }
  return { name, what, points };
}

/**
 * A step curve as a path in a box of the given size, thinned to what a reader can see.
 * @param {readonly [number, number][]} points place from 0 to 1 (outside: before or after the box) and value
 * @param {number} most the value at the upper edge
 * @param {{width: number, height: number}} box
 */
export function steps(points, most, { width, height }) {
  let d = "";
  let y = 0;
  let column = Number.NEGATIVE_INFINITY;
  for (const [p, v] of points) {
    const x = Math.max(0, Math.min(p, 1)) * width;
    const to = height - (most > 0 ? v / most : 0) * height;
    if (p > 1) break;
    if (!d || p <= 0) d = `M${num(x)} ${num(to)}`;
    else if (x - column >= 1) {
      d += `H${num(x)}V${num(to)}`;
      column = x;
    } else d = `${d.slice(0, d.lastIndexOf("V"))}V${num(to)}`;
    y = to;
  }
  return d ? `${d}H${width}` : `M0 ${num(y)}`;
}

/** @param {number} x */
const num = (x) => String(Math.round(x * 10) / 10);
