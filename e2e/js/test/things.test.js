import assert from "node:assert/strict";
import { test } from "node:test";
import { Fold } from "../../../static/js/fold.js";
import {
  connection,
  copiesOf,
  copyState,
  fieldsOf,
  kindOf,
  lifeOf,
  messageOf,
  messagesOn,
  shown,
  thingsOf,
  tiesOf,
} from "../../../static/js/things.js";

/** @import { Ev, Run } from "../../../static/js/types.js" */

const run = /** @type {Run} */ (
  /** @type {unknown} */ ({
    id: "x",
    title: "",
    last: 9,
    end: 0,
    chapters: [],
    story: [],
    groups: [{ id: "g", members: ["m"], parts: ["orders-0"] }],
    records: [
      ["r1", "shop", "k", "v"],
      ["r2", "shop", null, "w"],
    ],
  })
);

function cluster() {
  const fold = new Fold();
  fold.feed(
    /** @type {Ev[]} */ ([
      {
        n: 1,
        t: 0,
        kind: "boot",
        ch: [
          ["c1/state", "running"],
          ["b1/state", "running"],
          ["b2/state", "running"],
          ["session/b1", "active"],
          ["meta/orders-0/leader", 1],
          ["b1/orders-0/role", "leader"],
          ["b2/orders-0/role", "follower"],
          ["b1/orders-0/hw", 0],
          ["b1/orders-0/remote/b2/leo", 0],
          ["shop/status", "idle"],
          ["g/state", "Stable"],
          ["m/orders-0/position", 0],
        ],
      },
      {
        n: 2,
        t: 5,
        kind: "request.send",
        api: "Produce",
        from: "shop",
        to: "b1",
        msg: 7,
        corr: 3,
        f: { acks: -1 },
      },
      { n: 3, t: 6, kind: "request.receive", api: "Produce", from: "shop", to: "b1", msg: 7 },
      {
        n: 4,
        t: 6,
        kind: "replica.append",
        node: "b1",
        part: "orders-0",
        f: { records: ["r1"] },
        ch: [["b1/orders-0/log", { append: [0, 0, ["r1"], ""] }]],
      },
      { n: 6, t: 8, kind: "replica.truncate", node: "b1", ch: [["b1/orders-0/log", { truncate: 0 }]] },
      {
        n: 7,
        t: 9,
        kind: "replica.append",
        f: { records: ["r2"] },
        ch: [
          ["b1/orders-0/log", { append: [0, 1, ["r2"], ""] }],
          ["b1/orders-0/hw", 1],
        ],
      },
      { n: 8, t: 10, kind: "response.send", api: "Produce", from: "b1", to: "shop", msg: 7 },
    ]),
  );
  return fold;
}

test("every thing of a run has its kind", () => {
  const fold = cluster();
  const things = thingsOf(fold, run);
  for (const [id, kind] of [
    ["c1", "controller"],
    ["b2", "broker"],
    ["orders-0", "partition"],
    ["b2/orders-0", "replica"],
    ["shop", "producer"],
    ["g", "group"],
    ["m", "member"],
    ["r2", "record"],
    [connection("shop", "b1"), "connection"],
  ])
    assert.equal(kindOf(id, things), kind, id);
  assert.equal(kindOf("nobody", things), null);
  assert.equal(connection("b2", "b10"), "b2 – b10");
});

test("a thing has the fields that the run has set, under their names", () => {
  const fold = cluster();
  const names = (/** @type {any} */ thing) => fieldsOf(thing, fold, run).map((f) => f.name);
  assert.deepEqual(names({ id: "b1", kind: "broker" }), ["Process", "Session at the active controller"]);
  assert.deepEqual(names({ id: "b1/orders-0", kind: "replica" }), [
    "Role",
    "High watermark (HW)",
    "Log",
    "LEO of b2, as last asked for",
  ]);
  assert.deepEqual(names({ id: "m", kind: "member" }), ["orders-0: position"]);
});

test("history and place of a value, and of a log", () => {
  const fold = cluster();
  assert.deepEqual(fold.history("b1/orders-0/hw").ns, [1, 7]);
  assert.equal(fold.place("b1/orders-0/hw", 6), 0);
  assert.equal(fold.place("b1/orders-0/hw", 0), -1);
  const log = fold.history("b1/orders-0/log");
  const says = log.values.map((v) => shown("b1/orders-0/log", v, String));
  assert.deepEqual(says, [
    "append r1 at 0, leader epoch 0",
    "truncate to 0",
    "append r2 at 0, leader epoch 1",
  ]);
  assert.deepEqual(fold.history("no/such"), { ns: [], values: [] });
});

test("a record knows its copies, also those that were erased", () => {
  const fold = cluster();
  const [copy] = copiesOf("r1", fold);
  assert.deepEqual(copy, { replica: "b1/orders-0", offset: 0 });
  assert.equal(copyState("r1", copy, fold.at(3)), "not there");
  assert.equal(copyState("r1", copy, fold.at(4)), "offset 0, leader epoch 0, above its high watermark");
  assert.equal(copyState("r1", copy, fold.at(7)), "not there: offset 0 holds r2");
  assert.equal(copyState("r2", copy, fold.at(7)), "offset 0, leader epoch 1, below its high watermark");
  assert.deepEqual(
    lifeOf("r1", fold.events).map((e) => e.n),
    [4],
  );
  assert.deepEqual(copiesOf("r9", fold), []);
});

test("a message is its four events, and a connection its messages, the newest first", () => {
  const fold = cluster();
  assert.deepEqual(
    messageOf(7, fold.events).map((e) => e.n),
    [2, 3, 8],
  );
  const wire = connection("shop", "b1");
  assert.deepEqual(
    messagesOn(wire, fold.events, 9, 5).map((e) => e.n),
    [8, 2],
  );
  assert.deepEqual(
    messagesOn(wire, fold.events, 4, 5).map((e) => e.n),
    [2],
  );
});

test("things lead to one another", () => {
  const fold = cluster();
  const things = thingsOf(fold, run);
  const ties = (/** @type {any} */ thing, n = 9) => tiesOf(thing, fold.at(n), fold, run, things);
  assert.deepEqual(ties({ id: "b1", kind: "broker" }), ["b1/orders-0", "b1 – shop"]);
  assert.deepEqual(ties({ id: "b1/orders-0", kind: "replica" }), ["b1", "orders-0", "r2"]);
  assert.deepEqual(ties({ id: "b1/orders-0", kind: "replica" }, 4), ["b1", "orders-0", "r1"]);
  assert.deepEqual(ties({ id: "r1", kind: "record" }), ["orders-0", "shop"]);
  assert.deepEqual(ties({ id: "m", kind: "member" }), ["g", "orders-0"]);
});

test("values read as they stand on the stage", () => {
  assert.equal(shown("meta/orders-0/leader", -1, String), "none");
  assert.equal(shown("meta/orders-0/leader", 2, String), "b2");
  assert.equal(
    shown("b1/orders-0/remote/b2/caughtUp", 5, () => "0:00"),
    "0:00",
  );
  assert.equal(shown("g/m/assignment", [], String), "none");
  assert.equal(shown("b1/x", null, String), "–");
});
