import assert from "node:assert/strict";
import { test } from "node:test";
import { chain, Effects } from "../../../static/js/causes.js";
import { beginning } from "../../../static/js/why.js";

/** @import { Ev } from "../../../static/js/types.js" */

/**
 * @param {number} n
 * @param {Partial<Ev>} more
 * @returns {Ev}
 */
const ev = (n, more = {}) => ({ n, t: n * 10, kind: "timer.fire", ...more });

// A crash, the heartbeat that it kept away, and the fence that followed from it.
const events = [
  ev(1, { kind: "boot" }),
  ev(5, { kind: "action" }),
  ev(6, { kind: "node.crash", cause: 5 }),
  ev(7, { kind: "message.lost", cause: 6 }),
  ev(90, { cause: 60, missing: 7, via: undefined }),
  ev(91, { kind: "broker.fence", cause: 90 }),
  ev(120, { kind: "request.send", cause: 119, via: [91, 12] }),
  ev(130, { kind: "request.send", cause: 129, via: [0, 3] }),
];
const byNumber = (/** @type {number} */ n) => events.find((e) => e.n === n);

test("a chain follows what kept something away before what set the timer off", () => {
  const { links, begins } = chain(/** @type {Ev} */ (byNumber(91)), byNumber);
  assert.deepEqual(
    links.map((l) => [l.event.n, l.missing]),
    [
      [90, false],
      [7, true],
      [6, false],
      [5, false],
    ],
  );
  assert.equal(begins, 0);
  assert.match(beginning(links[3].event, false), /outside world/);
});

test("a chain through the background says how many events it passes", () => {
  const { links } = chain(/** @type {Ev} */ (byNumber(120)), byNumber);
  assert.deepEqual([links[0].event.n, links[0].hops], [91, 12]);
  const alone = chain(/** @type {Ev} */ (byNumber(130)), byNumber);
  assert.deepEqual(alone, { links: [], begins: 3 });
  assert.match(beginning(events[7], true), /background/);
});

test("effects are the chain read the other way, and a lost message has both", () => {
  const effects = new Effects();
  effects.feed(events.slice(0, 5));
  effects.feed(events.slice(5));
  for (const e of events) {
    for (const { event } of chain(e, byNumber).links.slice(0, 1)) {
      assert.ok(effects.of(event.n).includes(e), `${e.n} follows from ${event.n}`);
    }
  }
  assert.deepEqual(
    effects.of(60).map((e) => e.n),
    [90],
  );
  assert.equal(effects.count(5), 5);
  assert.equal(effects.count(5, 2), 2);
  assert.deepEqual(effects.of(1), []);
});

test("a chain ends even where a journal points at itself or ahead", () => {
  const loop = [ev(1, { cause: 2 }), ev(2, { cause: 2 })];
  assert.deepEqual(chain(loop[1], (n) => loop[n - 1]).links, []);
  assert.deepEqual(chain(loop[0], (n) => loop[n - 1]).links, []);
});
