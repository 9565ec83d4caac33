import assert from "node:assert/strict";
import { test } from "node:test";
import { Fold } from "../../../static/js/fold.js";
import { formatClock, formatFactor, Story } from "../../../static/js/story.js";
import { breakpoints, generator, journal } from "./journals.js";

/** @param {number} seed */
function told(seed) {
  const events = journal(seed, 300);
  const fold = new Fold();
  fold.feed(events);
  return { events, fold, story: new Story(breakpoints(events, seed)) };
}

test("as the story goes on neither time nor event goes back", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { fold, story } = told(seed);
    let t = -1;
    let n = -1;
    for (let s = 0; s <= story.end; s += story.end / 500) {
      assert.ok(story.t(s) >= t && story.n(s, fold) >= n, `seed ${seed} at ${s}`);
      t = story.t(s);
      n = story.n(s, fold);
    }
  }
});

test("the story time of an event shows that event, and just before it an earlier one", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { events, fold, story } = told(seed);
    for (const e of events) {
      const s = story.s(e.n, e.t);
      assert.ok(story.n(s, fold) >= e.n, `seed ${seed} event ${e.n}`);
      if (s > 1e-3) assert.ok(story.n(s - 1e-3, fold) < e.n, `seed ${seed} before event ${e.n}`);
    }
  }
});

test("an event that is shown has happened, and its successor has not", () => {
  const { fold, story } = told(3);
  const r = generator(3);
  for (let k = 0; k < 500; k++) {
    const s = r.next() * story.end;
    const t = story.t(s);
    const i = fold.indexOf(story.n(s, fold));
    assert.ok(fold.ts[i] <= t + 0.01, `event ${fold.ns[i]} at ${s}`);
    if (i + 1 < fold.ts.length) assert.ok(fold.ts[i + 1] >= t - 0.01, `after event ${fold.ns[i]} at ${s}`);
  }
});

test("within a dwell time stands still", () => {
  const story = new Story([
    [1, 0, 0],
    [5, 1000, 1],
    [5, 1000, 1.6],
    [9, 3000, 2],
  ]);
  assert.equal(story.t(1.1), 1000);
  assert.equal(story.t(1.59), 1000);
  assert.equal(story.factor(1.3), 0);
  assert.equal(formatFactor(0), "virtual time stopped for this instant");
});

test("the factor is virtual seconds per story second", () => {
  const story = new Story([
    [1, 0, 0],
    [5, 2000, 3],
    [9, 9_002_000, 4],
  ]);
  assert.equal(formatFactor(story.factor(1)), "virtual time, slowed 1500×");
  assert.equal(formatFactor(story.factor(3.5)), "virtual time, sped up 9×");
  assert.equal(formatFactor(1), "virtual time, real speed");
});

test("beyond its ends the story stays at them", () => {
  const { fold, story } = told(4);
  assert.equal(story.n(-5, fold), story.n(0, fold));
  assert.equal(story.n(1e9, fold), fold.last);
  assert.equal(new Story([]).t(3), 0);
});

test("a fold is found by the time it covers", () => {
  const story = new Story(
    [
      [1, 0, 0],
      [2, 9e6, 5],
    ],
    [{ s0: 1, s1: 2, label: "Fetch wait, 500 ms" }],
  );
  assert.equal(story.fold(1.5)?.label, "Fetch wait, 500 ms");
  assert.equal(story.fold(2), null);
});

test("the clock shows minutes, seconds, milliseconds and microseconds", () => {
  assert.equal(formatClock(413_250), "0:00.413 250");
  assert.equal(formatClock(61_000_007), "1:01.000 007");
  assert.equal(formatClock(-1), "0:00.000 000");
});
