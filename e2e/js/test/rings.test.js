import assert from "node:assert/strict";
import { test } from "node:test";
import { left } from "../../../static/js/rings.js";

/** @type {[number, number][]} */
const starts = [
  [0, 9_000_000],
  [2_000_000, 11_000_000],
  [20_000_000, 0],
];

test("a countdown runs down from its last start", () => {
  assert.deepEqual(left(starts, 0), { rest: 9_000_000, share: 1 });
  assert.deepEqual(left(starts, 1_000_000), { rest: 8_000_000, share: 8 / 9 });
  assert.deepEqual(left(starts, 2_000_000), { rest: 9_000_000, share: 1 });
});

test("it stays at nothing when it is over, until it is stopped", () => {
  assert.deepEqual(left(starts, 15_000_000), { rest: 0, share: 0 });
  assert.equal(left(starts, 20_000_000), null);
  assert.equal(left([], 5), null);
});
