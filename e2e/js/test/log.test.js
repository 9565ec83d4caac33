import assert from "node:assert/strict";
import { test } from "node:test";
import { Chatter } from "../../../static/js/chatter.js";
import { rowAt, rowsInSight } from "../../../static/js/log.js";
import { ALL, Facets, fields, matcher, missing, parts, rowsOf } from "../../../static/js/logrows.js";
import { generator, journal } from "./journals.js";

/** @import { Ev } from "../../../static/js/types.js" */

const fetched = /** @type {Ev} */ ({
  n: 12,
  t: 5,
  kind: "response.send",
  node: "b1",
  api: "Fetch",
  from: "b1",
  to: "b2",
  part: "orders-0",
  say: "Broker 1 answers the Fetch of broker 2.",
  f: { errorCode: "NONE", parts: [{ part: "orders-0", highWatermark: 5 }, { part: "orders-1" }], empty: [] },
});

test("each part of a filter takes away, and all of them must hold", () => {
  const lets = (/** @type {object} */ f) => matcher({ ...ALL, ...f })(fetched);
  assert.ok(lets({}));
  for (const f of [{ kind: "response." }, { kind: "response.send" }, { node: "b2" }, { part: "orders-1" }]) {
    assert.ok(lets(f), JSON.stringify(f));
  }
  for (const f of [{ api: "Fetch" }, { text: "broker ANSWERS" }, { text: "12" }]) assert.ok(lets(f));
  for (const f of [{ kind: "request." }, { kind: "response" }, { node: "b3" }, { part: "orders-2" }]) {
    assert.ok(!lets(f), JSON.stringify(f));
  }
  assert.ok(!lets({ api: "Produce" }));
  assert.ok(!lets({ text: "answers vote" }));
  assert.ok(!lets({ node: "b1", part: "orders-2" }));
  assert.deepEqual(parts(fetched), ["orders-0", "orders-1"]);
});

test("without a filter the log is the journal itself, so opening costs nothing an event", () => {
  const main = journal(3, 500);
  assert.equal(rowsOf(main, null, ALL), main);
  const background = [/** @type {Ev} */ ({ ...fetched, n: main[10].n + 0.5, chatter: true })];
  const rows = rowsOf(main, background, ALL);
  assert.equal(rows[11].chatter, true);
  assert.equal(rows.length, 501);
});

test("a hundred thousand events show a screenful of rows", () => {
  for (const top of [0, 1e6, 4e6 - 600]) {
    const { from, to } = rowsInSight(top, 600, 100_000);
    assert.ok(to - from <= 600 / 40 + 14, `${to - from} rows`);
    assert.ok(from * 40 <= top && to * 40 >= Math.min(top + 600, 4e6));
  }
});

test("the row of a cursor is the last one up to it", () => {
  const rows = /** @type {Ev[]} */ ([3, 5, 5.5, 9].map((n) => ({ n, t: 0, kind: "x" })));
  assert.deepEqual(
    [2, 3, 4, 5.7, 9, 10].map((n) => rowAt(rows, n)),
    [-1, 0, 0, 2, 3, 3],
  );
});

test("what is missing of the background is asked once, a block at a time", () => {
  assert.deepEqual(missing(1, 100, []), [1, 100]);
  assert.deepEqual(missing(1, 9000, []), [1, 501]);
  assert.deepEqual(missing(1, 100, [[1, 40]]), [41, 100]);
  assert.equal(missing(10, 100, [[1, 120]]), null);
  assert.deepEqual(
    missing(50, 300, [
      [1, 60],
      [70, 90],
    ]),
    [61, 300],
  ); // prettier-ignore
});

test("ranges of the background join, whatever their order", async () => {
  const r = generator(5);
  /** @type {[number, number][]} */ const asked = [];
  const chatter = new Chatter((a, b) => asked.push([a, b]) > 0);
  const has = new Set();
  for (let i = 0; i < 40; i++) {
    const from = 1 + r.below(300);
    const to = from + r.below(30);
    const done = chatter.load(from, to);
    if (chatter.waiting.length) {
      chatter.take({ from, to, events: [{ ...fetched, n: from, chatter: true }], done: false });
      chatter.take({ from, to, events: [], done: true });
      assert.ok(chatter.events.has(from));
    }
    assert.ok(await done);
    for (let n = from; n <= to; n++) has.add(n);
  }
  for (let n = 1; n < 340; n++) assert.equal(chatter.has(n, n), has.has(n), `number ${n}`);
  for (let i = 1; i < chatter.ranges.length; i++)
    assert.ok(chatter.ranges[i - 1][1] + 1 < chatter.ranges[i][0]);
});

test("where there is nobody to ask, the background stays away", async () => {
  assert.equal(await new Chatter(() => false).load(1, 5), false);
});

test("fields are rows of paths and values", () => {
  assert.deepEqual(fields(fetched.f), [
    ["errorCode", "NONE"],
    ["parts[0].part", "orders-0"],
    ["parts[0].highWatermark", "5"],
    ["parts[1].part", "orders-1"],
    ["empty", "none"],
  ]);
  assert.deepEqual(fields(undefined), []);
});

test("choices are collected once, as events come", () => {
  const facets = new Facets();
  facets.feed([fetched]);
  facets.feed([fetched, /** @type {Ev} */ ({ ...fetched, node: "b9" })]);
  assert.deepEqual([...facets.of.node], ["b1", "b9"]);
  assert.deepEqual([...facets.of.api], ["Fetch"]);
});
