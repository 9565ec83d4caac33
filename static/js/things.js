// The things of a run and what is known of each: which keys it has, under Kafka's
// names, and what it is tied to. The panel "Inspect" shows it.

/** @import { Fold, View } from "./fold.js" */
/** @import { Ev, Run } from "./types.js" */

/** @typedef {"controller" | "broker" | "partition" | "replica" | "producer" | "group" | "member" | "record" | "connection"} Kind */

/** @typedef {{id: string, kind: Kind}} Thing */

/**
 * A value of a thing: the key that holds it, and its name.
 * @typedef {{key: string, name: string}} Field
 */

/** @type {[Kind, string][]} */
export const KINDS = [
  ["controller", "Controllers"],
  ["broker", "Brokers"],
  ["partition", "Partitions"],
  ["replica", "Replicas"],
  ["producer", "Producers"],
  ["group", "Groups"],
  ["member", "Members"],
  ["connection", "Connections"],
  ["record", "Records"],
];

const BROKER = /^b\d+$/;
const CONTROLLER = /^c\d+$/;

/** What parts the two ends of a connection in its name. */
const WIRE = " – ";

/**
 * @param {string} a
 * @param {string} b
 */
export function connection(a, b) {
  return a.localeCompare(b, "en", { numeric: true }) <= 0 ? `${a}${WIRE}${b}` : `${b}${WIRE}${a}`;
}

/**
 * @param {string} a
 * @param {string} b
 */
const inOrder = (a, b) => a.localeCompare(b, "en", { numeric: true });

/**
 * All things that a run has had, by kind.
 * @param {Fold} fold
 * @param {Run | null} run
 * @returns {Map<Kind, string[]>}
 */
export function thingsOf(fold, run) {
  const parts = fold.partitions();
  const names = (/** @type {RegExp} */ pattern) => {
    const out = new Set();
    for (const key of fold.values.keys()) {
      const m = pattern.exec(key);
      if (m) out.add(m[1]);
    }
    return [...out].sort(inOrder);
  };
  const wires = new Set();
  for (const e of fold.events)
    if (e.kind === "request.send" && e.from && e.to) wires.add(connection(e.from, e.to));
  const groups = run?.groups ?? [];
  return new Map(
    /** @type {[Kind, string[]][]} */ ([
      ["controller", names(/^(c\d+)\/state$/)],
      ["broker", names(/^(b\d+)\/state$/)],
      ["partition", parts],
      ["replica", names(/^(b\d+\/[^/]+)\/role$/)],
      ["producer", names(/^([^/]+)\/status$/)],
      ["group", groups.map((g) => g.id)],
      ["member", groups.flatMap((g) => g.members)],
      ["connection", [...wires].sort(inOrder)],
      ["record", (run?.records ?? []).map(([id]) => id)],
    ]),
  );
}

/**
 * The kind of a thing's name; null where nothing is called so.
 * @param {string} id
 * @param {Map<Kind, string[]>} things
 * @returns {Kind | null}
 */
export function kindOf(id, things) {
  for (const [kind, ids] of things) if (ids.includes(id)) return kind;
  return null;
}

/** @type {Record<"controller" | "broker" | "partition" | "replica" | "producer" | "group", [string, string][]>} */
const FIELDS = {
  controller: [
    ["state", "Process"],
    ["role", "Role in the quorum"],
    ["epoch", "Quorum epoch"],
    ["leo", "Log end offset (LEO)"],
    ["commit", "High watermark (HW)"],
    ["votedFor", "Voted for"],
  ],
  broker: [
    ["state", "Process"],
    ["epoch", "Broker epoch"],
    ["metadata", "Metadata offset applied"],
    ["disk", "Disk"],
  ],
  partition: [
    ["leader", "Leader"],
    ["leaderEpoch", "Leader epoch"],
    ["partitionEpoch", "Partition epoch"],
    ["isr", "In-sync replicas (ISR)"],
    ["elr", "Eligible leader replicas (ELR)"],
    ["lastKnownElr", "Last known ELR"],
    ["minIsr", "min.insync.replicas"],
    ["replicas", "Replicas"],
    ["leaderRecoveryState", "Leader recovery state"],
    ["adding", "Adding replicas"],
    ["removing", "Removing replicas"],
  ],
  replica: [
    ["role", "Role"],
    ["leaderEpoch", "Leader epoch"],
    ["leo", "Log end offset (LEO)"],
    ["hw", "High watermark (HW)"],
    ["lso", "Last stable offset (LSO)"],
    ["logStart", "Log start offset"],
    ["hwCheckpoint", "High watermark on disk"],
    ["epochs", "Leader epochs, epoch@start offset"],
    ["isr", "ISR that the leader works with"],
    ["maximalIsr", "Maximal ISR"],
    ["waiting", "In purgatory"],
    ["log", "Log"],
  ],
  producer: [
    ["state", "Process"],
    ["status", "Doing"],
    ["id", "Producer id"],
    ["epoch", "Producer epoch"],
  ],
  group: [
    ["state", "State"],
    ["protocol", "Protocol"],
    ["assignor", "Assignor"],
    ["generation", "Generation"],
    ["groupEpoch", "Group epoch"],
    ["targetEpoch", "Target assignment epoch"],
    ["leader", "Group leader"],
    ["coordinator", "Coordinator"],
  ],
};

/** Values that a client has for each partition. */
const OF_PART = {
  producer: [
    ["sequence", "next sequence"],
    ["batch", "batch that fills"],
    ["inflight", "batches in flight"],
  ],
  member: [
    ["position", "position"],
    ["delivered", "records handed over"],
  ],
};

/**
 * The values of a thing that this run has ever set.
 * @param {Thing} thing
 * @param {Fold} fold
 * @param {Run | null} run
 * @returns {Field[]}
 */
export function fieldsOf({ id, kind }, fold, run) {
  const known = (/** @type {Field[]} */ list) =>
    list.filter((f) => fold.values.has(f.key) || fold.logs.has(f.key));
  const parts = fold.partitions();
  const each = (/** @type {string} */ who, /** @type {string[][]} */ names) =>
    parts.flatMap((p) => names.map(([f, name]) => ({ key: `${who}/${p}/${f}`, name: `${p}: ${name}` })));
  switch (kind) {
    case "partition":
      return known(FIELDS.partition.map(([f, name]) => ({ key: `meta/${id}/${f}`, name })));
    case "broker":
      return known([
        ...FIELDS.broker.map(([f, name]) => ({ key: `${id}/${f}`, name })),
        { key: `session/${id}`, name: "Session at the active controller" },
      ]);
    case "replica": {
      const own = FIELDS.replica.map(([f, name]) => ({ key: `${id}/${f}`, name }));
      for (const key of fold.values.keys()) {
        const rest = key.startsWith(`${id}/remote/`) ? key.slice(`${id}/remote/`.length).split("/") : null;
        if (rest?.[1] === "leo") own.push({ key, name: `LEO of ${rest[0]}, as last asked for` });
        if (rest?.[1] === "caughtUp") own.push({ key, name: `${rest[0]} last caught up` });
      }
      return known(own);
    }
    case "producer":
      return known([
        ...FIELDS.producer.map(([f, name]) => ({ key: `${id}/${f}`, name })),
        ...each(id, OF_PART.producer),
      ]);
    case "group":
      return known([
        ...FIELDS.group.map(([f, name]) => ({ key: `${id}/${f}`, name })),
        ...parts.map((p) => ({ key: `${id}/${p}/committed`, name: `${p}: committed offset` })),
      ]);
    case "member": {
      const group = groupOf(id, run);
      const own = [{ key: `${id}/state`, name: "Process" }];
      for (const [f, name] of [
        ["state", "State in its group"],
        ["epoch", "Generation or member epoch"],
        ["assignment", "Assignment"],
        ["target", "Target assignment"],
      ])
        own.push({ key: `${group}/${id}/${f}`, name });
      return known([...own, ...each(id, OF_PART.member)]);
    }
    case "connection": {
      const [a, b] = id.split(WIRE);
      return known([
        { key: `link/${a}/${b}`, name: `Way from ${a} to ${b}` },
        { key: `link/${b}/${a}`, name: `Way from ${b} to ${a}` },
      ]);
    }
    case "controller":
      return known(FIELDS.controller.map(([f, name]) => ({ key: `${id}/${f}`, name })));
    default:
      return [];
  }
}

/**
 * @param {string} member
 * @param {Run | null} run
 */
function groupOf(member, run) {
  return (run?.groups ?? []).find((g) => g.members.includes(member))?.id ?? "";
}

/**
 * What a thing is tied to at a moment, the nearest first.
 * @param {Thing} thing
 * @param {View} view
 * @param {Fold} fold
 * @param {Run | null} run
 * @param {Map<Kind, string[]>} things
 * @returns {string[]}
 */
export function tiesOf({ id, kind }, view, fold, run, things) {
  const replicas = things.get("replica") ?? [];
  const wires = () => (things.get("connection") ?? []).filter((w) => w.split(WIRE).includes(id));
  switch (kind) {
    case "broker":
      return [...replicas.filter((r) => r.startsWith(`${id}/`) && !r.includes("/__")), ...wires()];
    case "controller":
    case "producer":
      return wires();
    case "partition":
      return replicas.filter((r) => r.endsWith(`/${id}`));
    case "replica": {
      const [broker, part] = id.split("/");
      const log = view.log(`${id}/log`);
      const records = [];
      for (let o = log.end - 1; o >= log.start && records.length < 12; o--) {
        const entry = log.entry(o);
        if (entry && (things.get("record") ?? []).includes(entry.id)) records.push(entry.id);
      }
      return [broker, part, ...records];
    }
    case "group":
      return (run?.groups ?? []).find((g) => g.id === id)?.members ?? [];
    case "member": {
      const parts = fold.partitions().filter((p) => typeof view.get(`${id}/${p}/position`) === "number");
      return [groupOf(id, run), ...parts, ...wires()].filter(Boolean);
    }
    case "record": {
      const where = copiesOf(id, fold)[0];
      return [where?.replica.split("/")[1], (run?.records ?? []).find((r) => r[0] === id)?.[1]].filter(
        (x) => x !== undefined,
      );
    }
    case "connection":
      return id.split(WIRE);
  }
}

/**
 * Where a record was ever written, replica by replica.
 * @param {string} record
 * @param {Fold} fold
 * @returns {{replica: string, offset: number}[]}
 */
export function copiesOf(record, fold) {
  const out = [];
  for (const [key, log] of fold.logs) {
    for (const [offset, history] of log.offsets) {
      if (history.values.some((e) => e?.id === record))
        out.push({ replica: key.slice(0, -"/log".length), offset });
    }
  }
  return out.sort((a, b) => inOrder(a.replica, b.replica) || a.offset - b.offset);
}

/**
 * How a copy of a record stands at a moment, in words.
 * @param {string} record
 * @param {{replica: string, offset: number}} copy
 * @param {View} view
 */
export function copyState(record, { replica, offset }, view) {
  const log = view.log(`${replica}/log`);
  const entry = log.entry(offset);
  if (entry?.id !== record) return entry ? `not there: offset ${offset} holds ${entry.id}` : "not there";
  const hw = view.get(`${replica}/hw`);
  const seen =
    hw === null
      ? ", on disk only: its broker does not run"
      : offset < hw
        ? ", below its high watermark"
        : ", above its high watermark";
  return `offset ${offset}, leader epoch ${entry.epoch}${seen}`;
}

/**
 * Events that name a record, ascending.
 * @param {string} record
 * @param {readonly Ev[]} events
 */
export function lifeOf(record, events) {
  return events.filter((e) => {
    const f = e.f;
    if (!f) return false;
    return f.record === record || (Array.isArray(f.records) && f.records.includes(record));
  });
}

/**
 * The events of a message, from the send of its request to the end of its answer.
 * @param {number} msg
 * @param {Iterable<Ev>} events
 */
export function messageOf(msg, events) {
  const out = [];
  for (const e of events) if (e.msg === msg) out.push(e);
  return out.sort((a, b) => a.n - b.n);
}

/**
 * The messages between two nodes up to a moment, the newest first.
 * @param {string} wire
 * @param {readonly Ev[]} events
 * @param {number} n
 * @param {number} most
 */
export function messagesOn(wire, events, n, most) {
  const [a, b] = wire.split(WIRE);
  const out = [];
  for (let i = events.length - 1; i >= 0 && out.length < most; i--) {
    const e = events[i];
    if (e.n > n || !/^(request|response)\.send$/.test(e.kind)) continue;
    if ((e.from === a && e.to === b) || (e.from === b && e.to === a)) out.push(e);
  }
  return out;
}

/**
 * A value as a reader sees it: virtual times as they are on the clock, logs by what
 * was done to them.
 * @param {string} key
 * @param {unknown} value
 * @param {(t: number) => string} clock
 */
export function shown(key, value, clock) {
  if (value === null || value === undefined) return "–";
  if (/\/(caughtUp|session|poll)$/.test(key) && typeof value === "number") return clock(value);
  if (/^meta\/.*\/leader$/.test(key)) return Number(value) < 0 ? "none" : `b${value}`;
  if (key.endsWith("/log") && typeof value === "object") {
    const op = /** @type {any} */ (value);
    if (op.append) {
      const [base, epoch, ids] = op.append;
      const what = ids.length === 1 ? ids[0] : `${ids.length} records`;
      return `append ${what} at ${base}, leader epoch ${epoch}`;
    }
    if ("truncate" in op) return `truncate to ${op.truncate}`;
    if ("start" in op) return `log start ${op.start}`;
    return "deleted";
  }
  if (Array.isArray(value)) return value.join(", ") || "none";
  return value === "" ? "none" : String(value);
}

/**
 * Whether a name is a broker's or a controller's.
 * @param {string} id
 */
export function isNode(id) {
  return BROKER.test(id) || CONTROLLER.test(id);
}
