import assert from "node:assert/strict";
import { test } from "node:test";
import { labelled } from "../../../static/js/timeline.js";

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
