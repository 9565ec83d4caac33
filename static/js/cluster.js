// The cluster at a moment as tables of text: what the stage draws, for those who
// read or hear it.

/** @import { Fold, View } from "./fold.js" */
/** @import { Sighting } from "./flights.js" */
/** @import { Group } from "./types.js" */

/**
 * @typedef {object} Table
 * @property {string} name
 * @property {readonly string[]} head
 * @property {string[][]} rows the first cell of each names it
 * @property {string} none what is said where there is no row
 */

/** How a value reads in a cell. @param {unknown} v */
const say = (v) =>
  v === null || v === undefined || v === "" ? "–" : Array.isArray(v) ? v.join(", ") || "–" : String(v);

/**
 * The names before the slash of the keys that end in a word.
 * @param {Fold} fold
 * @param {RegExp} pattern its first group is the name
 */
function names(fold, pattern) {
  const out = new Set();
  for (const key of fold.values.keys()) {
    const m = pattern.exec(key);
    if (m) out.add(m[1]);
  }
  return [...out].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/**
 * @param {View} view
 * @param {Fold} fold
 * @param {readonly Group[]} groups
 * @param {readonly Sighting[]} flights
 * @returns {Table[]}
 */
export function tablesOf(view, fold, groups, flights) {
  const { get } = view;
  const brokers = names(fold, /^(b\d+)\/state$/);
  const controllers = names(fold, /^(c\d+)\/state$/);
  const producers = names(fold, /^([^/]+)\/status$/);
  const every = fold.partitions();
  const parts = every.filter((p) => !p.startsWith("__"));
  const members = new Set(groups.flatMap((g) => g.members));
  return [
    {
      name: "Controllers",
      head: ["Controller", "Process", "Role", "Quorum epoch", "LEO", "HW"],
      rows: controllers.map((c) => [
        c,
        ...["state", "role", "epoch", "leo", "commit"].map((k) => say(get(`${c}/${k}`))),
      ]),
      none: "There is no controller yet.",
    },
    {
      name: "Brokers",
      head: ["Broker", "Process", "Session", "Broker epoch", "Metadata applied"],
      rows: brokers.map((b) => [
        b,
        say(get(`${b}/state`)),
        say(get(`session/${b}`)),
        say(get(`${b}/epoch`)),
        say(get(`${b}/metadata`)),
      ]),
      none: "There is no broker yet.",
    },
    partitions("Partitions, as the controllers committed them", parts, view),
    {
      name: "Replicas",
      head: ["Replica", "Role", "Leader epoch", "Log start", "HW", "LEO", "Waiting requests"],
      rows: parts.flatMap((p) =>
        brokers
          .filter((b) => get(`${b}/${p}/role`) !== null)
          .map((b) => [
            `${p} on ${b}`,
            ...["role", "leaderEpoch", "logStart", "hw", "leo", "waiting"].map((k) =>
              say(get(`${b}/${p}/${k}`)),
            ),
          ]),
      ),
      none: "There is no replica yet.",
    },
    {
      name: "Producers",
      head: ["Producer", "Doing"],
      rows: producers.map((p) => [p, say(get(`${p}/status`))]),
      none: "Nobody produces.",
    },
    {
      name: "Groups",
      head: ["Group", "State", "Protocol", "Generation or epoch", "Coordinator", "Committed"],
      rows: groups.map((g) => [
        g.id,
        say(get(`${g.id}/state`)),
        say(get(`${g.id}/protocol`)),
        say(get(`${g.id}/groupEpoch`) ?? get(`${g.id}/generation`)),
        say(get(`${g.id}/coordinator`)),
        say(
          g.parts
            .filter((p) => typeof get(`${g.id}/${p}/committed`) === "number")
            .map((p) => `${p}: ${get(`${g.id}/${p}/committed`)}`),
        ),
      ]),
      none: "Nobody reads.",
    },
    {
      name: "Members",
      head: ["Member", "Process", "In its group", "Assigned", "Position"],
      rows: groups.flatMap((g) =>
        g.members
          .filter((m) => members.has(m) && get(`${m}/state`) !== null)
          .map((m) => [
            m,
            say(get(`${m}/state`)),
            say(get(`${g.id}/${m}/state`)),
            say(get(`${g.id}/${m}/assignment`)),
            say(
              g.parts
                .filter((p) => typeof get(`${m}/${p}/position`) === "number")
                .map((p) => `${p}: ${get(`${m}/${p}/position`)}`),
            ),
          ]),
      ),
      none: "There is no member.",
    },
    {
      name: "Messages on their way",
      head: ["Message", "What", "Way"],
      rows: flights.map(({ flight, progress, held, count }) => [
        flight.pill.text,
        `${flight.api} ${flight.leg}${count > 1 ? `, ${count} alike` : ""}`,
        held ? "held up" : `${Math.round(progress * 100)} % of its way`,
      ]),
      none: "None is in the air.",
    },
    partitions(
      "Partitions of internal topics",
      every.filter((p) => p.startsWith("__")),
      view,
    ),
  ];
}

/**
 * @param {string} name
 * @param {readonly string[]} parts
 * @param {View} view
 * @returns {Table}
 */
function partitions(name, parts, { get }) {
  return {
    name,
    head: ["Partition", "Leader", "Leader epoch", "Partition epoch", "ISR", "ELR", "min ISR"],
    rows: parts
      .filter((p) => get(`meta/${p}/replicas`) !== null)
      .map((p) => {
        const leader = Number(get(`meta/${p}/leader`) ?? -1);
        return [
          p,
          leader < 0 ? "none" : `b${leader}`,
          ...["leaderEpoch", "partitionEpoch", "isr", "elr", "minIsr"].map((k) => say(get(`meta/${p}/${k}`))),
        ];
      }),
    none: "There is none yet.",
  };
}
