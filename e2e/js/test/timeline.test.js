import assert from "node:assert/strict";
import { test } from "node:test";
import { Fold } from "../../../static/js/fold.js";
import { labelled } from "../../../static/js/folds.js";
import { visible } from "../../../static/js/map.js";
import { nearest, shapeOf, thinned } from "../../../static/js/marks.js";
import { stateStrip } from "../../../static/js/preview.js";
import { controllerStrip, groupStrip, partLines, partStrips, steps } from "../../../static/js/strips.js";
import { following, isWhole, panned, zoomed } from "../../../static/js/zoom.js";
import { generator } from "./journals.js";

test("labels never lie over one another, and the longest wait is named", () => {
  const labels = [
    { x: 100, w: 80, weight: 1 },
    { x: 120, w: 80, weight: 9 },
    { x: 300, w: 80, weight: 2 },
    { x: 5, w: 80, weight: 99 },
  ];
  assert.deepEqual([...labelled(labels, 400)].sort(), [1, 2]);
});

test("no labels, no names", () => {
  assert.equal(labelled([], 100).size, 0);
});

test("a zoom keeps the moment under the pointer and stays within the story", () => {
  const r = generator(5);
  for (let i = 0; i < 500; i++) {
    const whole = /** @type {const} */ ([0, 5 + r.next() * 100]);
    const a = r.next() * whole[1];
    const range = /** @type {[number, number]} */ ([a, a + r.next() * (whole[1] - a)]);
    const at = range[0] + r.next() * (range[1] - range[0]);
    const [from, to] = zoomed(range, whole, 0.3 + r.next() * 3, at);
    assert.ok(from >= -1e-9 && to <= whole[1] + 1e-9 && to - from >= 1 - 1e-9, `${from} to ${to}`);
    const [f, t] = following(range, whole, r.next() * whole[1]);
    assert.ok(Math.abs(t - f - (range[1] - range[0])) < 1e-9, "following changes no length");
  }
  const inside = zoomed([10, 30], [0, 100], 2, 15);
  assert.deepEqual(inside, [12.5, 22.5]);
  assert.equal(isWhole(zoomed([10, 30], [0, 100], 0.1, 15), [0, 100]), true);
});

test("the stretch follows the cursor page by page, both ways", () => {
  const whole = /** @type {const} */ ([0, 100]);
  assert.deepEqual(following([10, 20], whole, 15), [10, 20]);
  assert.deepEqual(following([10, 20], whole, 20.5), [19.5, 29.5]);
  assert.deepEqual(following([10, 20], whole, 9), [0, 10]);
  assert.deepEqual(panned([10, 20], whole, 1000), [90, 100]);
});

test("marks are few however many events there are, and each kind keeps its own", () => {
  /** @type {import("../../../static/js/marks.js").Mark[]} */
  const marks = Array.from({ length: 50_000 }, (_, i) => ({ n: i, s: i / 1000, shape: "append" }));
  marks.push({ n: 50_001, s: 50, shape: "fault" });
  const drawn = thinned(marks, [0, 50], 100);
  assert.equal(drawn.length, 101);
  assert.equal(drawn.at(-1)?.shape, "fault", "what is rare lies on top");
  assert.equal(thinned(marks, [10, 11], 50).length, 50, "a shorter stretch has the detail");
});

test("what an event's mark looks like", () => {
  const shape = (/** @type {string} */ kind, f = {}) => shapeOf({ n: 1, t: 0, kind, f });
  assert.equal(shape("action", { do: "crash" }), "fault");
  assert.equal(shape("action", { do: "produce" }), "other");
  assert.equal(shape("request.send"), null);
  assert.equal(shape("message.lost"), "loss");
  assert.equal(shape("replica.truncate"), "loss");
  assert.equal(shape("hw.advance"), "hw");
  assert.equal(shape("hw.learn"), null);
  assert.equal(shape("leader.elect"), "leader");
  assert.equal(shape("broker.fence"), "node");
  assert.equal(shape("isr.commit"), "isr");
  assert.equal(shape("member.join"), "group");
});

test("the pointer is drawn to the nearest event, and to none from afar", () => {
  /** @type {import("../../../static/js/marks.js").Mark[]} */
  const marks = [1, 2, 5].map((s) => ({ n: s, s, shape: "append" }));
  assert.equal(nearest(marks, 1.9, 0.5)?.s, 2);
  assert.equal(nearest(marks, 4.6, 0.5)?.s, 5);
  assert.equal(nearest(marks, 3.4, 0.5), null);
  assert.equal(nearest([], 1, 1), null);
});

/** A partition whose leader dies, and what else the strips tell. */
function failover() {
  const fold = new Fold();
  /** @type {[number, [string, any][]][]} */
  const history = [
    [
      1,
      [
        ["meta/orders-0/leader", 1],
        ["meta/orders-0/leaderEpoch", 0],
        ["meta/orders-0/isr", "1,2,3"],
        ["meta/orders-0/replicas", "1,2,3"],
        ["meta/orders-0/minIsr", 2],
      ],
    ],
    [
      2,
      [
        ["b1/orders-0/hw", 5],
        ["b1/orders-0/leo", 6],
        ["b2/orders-0/leo", 5],
        ["b2/orders-0/hw", 5],
        ["c1/role", "leader"],
        ["c1/state", "running"],
        ["c1/epoch", 1],
        ["c2/role", "follower"],
      ],
    ],
    [
      4,
      [
        ["meta/orders-0/leader", -1],
        ["meta/orders-0/leaderEpoch", 1],
        ["meta/orders-0/isr", "1"],
      ],
    ],
    [
      6,
      [
        ["meta/orders-0/leader", 2],
        ["meta/orders-0/leaderEpoch", 2],
        ["b2/orders-0/hw", 9],
      ],
    ],
    [
      7,
      [
        ["c1/state", "crashed"],
        ["a/state", "Stable"],
        ["a/generation", 1],
      ],
    ],
    [
      8,
      [
        ["c2/role", "leader"],
        ["c2/state", "running"],
        ["c2/epoch", 2],
        ["a/state", "PreparingRebalance"],
      ],
    ],
  ];
  fold.feed(history.map(([n, ch]) => ({ n, t: n * 10, kind: "boot", ch })));
  return fold;
}

test("strips tell who led, who was in sync, and which controller and generation there was", () => {
  const fold = failover();
  assert.deepEqual(fold.partitions(), ["orders-0"]);
  const [leader, isr] = partStrips(fold, "orders-0");
  assert.deepEqual(
    leader.stretches.map((x) => [x.n, x.text]),
    [
      [1, "b1, epoch 0"],
      [4, "no leader, epoch 1"],
      [6, "b2, epoch 2"],
    ],
  );
  assert.deepEqual(
    isr.stretches.map((x) => [x.n, x.text, x.tone, x.level]),
    [
      [1, "ISR 1,2,3", "0", 1],
      [4, "ISR 1, below min 2", "none", 1 / 3],
    ],
  );
  assert.deepEqual(
    controllerStrip(fold).stretches.map((x) => x.text),
    ["no active controller", "C1, quorum epoch 1", "no active controller", "C2, quorum epoch 2"].slice(1),
  );
  const group = groupStrip(fold, { id: "a", members: [], parts: [] });
  assert.deepEqual(
    group?.stretches.map((x) => [x.text, x.tone]),
    [
      ["generation 1, Stable", "1"],
      ["generation 1, PreparingRebalance", "busy"],
    ],
  );
  assert.equal(groupStrip(fold, { id: "alone", members: [], parts: [] }), null);
});

test("the curve of the high watermark is that of whoever leads", () => {
  const hw = partLines(failover(), "orders-0").find((l) => l.what === "hw");
  assert.deepEqual(hw?.points, [
    [2, 5],
    [6, 9],
  ]);
});

test("a curve has no more corners than pixels", () => {
  const points = Array.from({ length: 20_000 }, (_, i) => /** @type {[number, number]} */ ([i / 20_000, i]));
  const d = steps(points, 20_000, { width: 500, height: 50 });
  assert.ok(d.split("V").length <= 502, `${d.split("V").length} corners`);
  assert.match(d, /^M0 50/);
  assert.match(d, /H500$/);
});

test("stretches too narrow to see are drawn as one", () => {
  assert.deepEqual(visible([0, 0.5, 0.501, 0.502, 0.503, 0.9], 0.01), [
    { i: 0, from: 0, to: 0.5, merged: 0 },
    { i: 1, from: 0.5, to: 0.503, merged: 3 },
    { i: 4, from: 0.503, to: 0.9, merged: 0 },
    { i: 5, from: 0.9, to: 1, merged: 0 },
  ]);
  assert.deepEqual(
    visible([-2, -1, 0.4, 3], 0.01).map((x) => x.i),
    [1, 2],
    "what lies outside is not drawn",
  );
});

test("the strip of a preview tells the state of what the chapter is about", () => {
  const fold = failover();
  assert.deepEqual(stateStrip(fold.at(3), ["orders-0"], fold), [
    { name: "orders-0", state: "b1 leads · ISR 1,2,3 · HW 5" },
  ]);
  assert.deepEqual(stateStrip(fold.at(4), ["orders-0", "c1"], fold), [
    { name: "orders-0", state: "no leader · ISR 1" },
  ]);
  assert.deepEqual(stateStrip(fold.at(8), ["c1", "a"], fold).slice(1), [
    { name: "c1", state: "crashed" },
    { name: "a", state: "PreparingRebalance · 1" },
  ]);
});
