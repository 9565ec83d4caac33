import assert from "node:assert/strict";
import { test } from "node:test";
import { tablesOf } from "../../../static/js/cluster.js";
import { Fold } from "../../../static/js/fold.js";

/** @import { Sighting } from "../../../static/js/flights.js" */

const groups = [{ id: "g", members: ["a", "later"], parts: ["orders-0"] }];

function cluster() {
  const fold = new Fold();
  /** @type {[string, any][]} */
  const boot = [
    ["c1/state", "running"],
    ["c1/role", "leader"],
    ["c1/epoch", 1],
    ["c1/leo", 30],
    ["c1/commit", 29],
    ["b2/state", "running"],
    ["b1/state", "running"],
    ["session/b1", "active"],
    ["b1/epoch", 15],
    ["meta/orders-0/leader", 1],
    ["meta/orders-0/replicas", "1,2"],
    ["meta/orders-0/isr", "1,2"],
    ["b1/orders-0/role", "leader"],
    ["b1/orders-0/leo", 6],
    ["b1/orders-0/hw", 5],
    ["p/status", "idle"],
    ["g/state", "Stable"],
    ["g/generation", 3],
    ["g/a/assignment", ["orders-0"]],
    ["g/a/state", "stable"],
    ["a/state", "running"],
    ["a/orders-0/position", 4],
    ["g/orders-0/committed", 2],
  ];
  fold.feed([
    { n: 1, t: 0, kind: "boot", ch: boot },
    {
      n: 2,
      t: 5,
      kind: "node.crash",
      ch: [
        ["b1/state", "crashed"],
        ["meta/orders-0/leader", -1],
        ["b1/orders-0/hw", null],
      ],
    },
  ]);
  return fold;
}

test("the tables say what the stage draws", () => {
  const fold = cluster();
  const at = (/** @type {number} */ n) => {
    /** @type {Record<string, string[][]>} */
    const out = {};
    for (const t of tablesOf(fold.at(n), fold, groups, [])) out[t.name.split(",")[0]] = t.rows;
    return out;
  };
  const before = at(1);
  assert.deepEqual(before.Controllers, [["c1", "running", "leader", "1", "30", "29"]]);
  assert.deepEqual(before.Brokers[0], ["b1", "running", "active", "15", "–"]);
  assert.deepEqual(before.Partitions, [["orders-0", "b1", "–", "–", "1,2", "–", "–"]]);
  assert.deepEqual(before.Replicas, [["orders-0 on b1", "leader", "–", "–", "5", "6", "–"]]);
  assert.deepEqual(before.Groups, [["g", "Stable", "–", "3", "–", "orders-0: 2"]]);
  assert.deepEqual(
    before.Members,
    [["a", "running", "stable", "orders-0", "orders-0: 4"]],
    "who has not come yet is not there",
  );
  const after = at(2);
  assert.equal(after.Brokers[0][1], "crashed");
  assert.equal(after.Partitions[0][1], "none");
  assert.equal(after.Replicas[0][4], "–");
});

test("messages on their way, and none", () => {
  const fold = cluster();
  const flight = {
    id: 9,
    leg: "request",
    path: "",
    api: "Fetch",
    pill: { text: "Fetch 2→1 from 6", lane: "x" },
    t0: 0,
    t1: 9,
    endN: 99,
    heldN: 99,
  };
  const sightings = /** @type {Sighting[]} */ ([
    { flight, progress: 0.5, held: false, count: 3 },
    { flight, progress: 0.5, held: true, count: 1 },
  ]);
  const table = tablesOf(fold.at(1), fold, groups, sightings).at(-2);
  assert.deepEqual(table?.rows, [
    ["Fetch 2→1 from 6", "Fetch request, 3 alike", "50 % of its way"],
    ["Fetch 2→1 from 6", "Fetch request", "held up"],
  ]);
  assert.equal(tablesOf(fold.at(1), fold, [], []).at(-2)?.none, "None is in the air.");
});
