import assert from "node:assert/strict";
import { test } from "node:test";
import { stateAt } from "../../../static/js/checks.js";
import { handed, lagOf, rowsOf } from "../../../static/js/lag.js";

const group = { id: "g", members: ["a", "b"], parts: ["t-0", "t-1"] };

/** @param {Record<string, any>} keys */
const viewOf = (keys) => /** @type {any} */ ({ get: (/** @type {string} */ k) => keys[k] ?? null });

test("lag is what may be read and was not, and a partition without a reader is seen", () => {
  const view = viewOf({
    "meta/t-0/leader": 1,
    "b1/t-0/hw": 9,
    "a/t-0/position": 5,
    "a/t-0/delivered": 5,
    "meta/t-1/leader": 2,
    "b2/t-1/hw": 4,
  });
  const rows = rowsOf(group, view);
  assert.deepEqual(rows[0], { part: "t-0", owner: "a", end: 9, position: 5, committed: null });
  assert.equal(lagOf(rows[0]), 4);
  assert.equal(rows[1].owner, "");
  assert.equal(rows[1].position, null);
  assert.equal(handed(group, view), 5);
});

test("between two owners the committed offset stands for the position", () => {
  const [row] = rowsOf(
    { ...group, parts: ["t-0"] },
    viewOf({ "meta/t-0/leader": 1, "b1/t-0/hw": 9, "g/t-0/committed": 7 }),
  );
  assert.equal(lagOf(row), 2);
});

test("a check is open until its moment, an invariant holds until it is broken", () => {
  assert.equal(stateAt({ ok: true, n: 10 }, 9, false), "open");
  assert.equal(stateAt({ ok: true, n: 10 }, 10, false), "holds");
  assert.equal(stateAt({ ok: false, n: 10 }, 12, false), "fails");
  assert.equal(stateAt({ ok: false, n: 10 }, 9, true), "holds");
  assert.equal(stateAt({ ok: false, n: 10 }, 10, true), "fails");
  assert.equal(stateAt({ ok: true, n: 0 }, 3, true), "holds");
});
