import assert from "node:assert/strict";
import { test } from "node:test";
import { Fold } from "../../../static/js/fold.js";
import { generator, journal, replay } from "./journals.js";

/**
 * @param {import("../../../static/js/fold.js").Fold} fold
 * @param {number} n
 */
function read(fold, n) {
  const view = fold.at(n);
  const values = [...fold.values.keys()].sort().map((k) => [k, view.get(k)]);
  const logs = [...fold.logs.keys()].sort().map((k) => {
    const log = view.log(k);
    const entries = [];
    for (let o = log.start; o < log.end; o++) entries.push(log.entry(o));
    return [k, log.start, entries];
  });
  return { values, logs };
}

/** @param {readonly import("../../../static/js/types.js").Ev[]} events */
function folded(events) {
  const fold = new Fold();
  fold.feed(events);
  return fold;
}

test("a seek to any event gives what replaying everything up to it gives", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const events = journal(seed, 150);
    const fold = folded(events);
    for (const { n } of events) {
      const slow = replay(events, n);
      const view = fold.at(n);
      for (const k of fold.values.keys())
        assert.equal(view.get(k), slow.values.get(k) ?? null, `${seed} ${n} ${k}`);
      for (const k of fold.logs.keys()) {
        const want = slow.logs.get(k) ?? { start: 0, entries: [] };
        const log = view.log(k);
        const got = Array.from({ length: log.end - log.start }, (_, i) => log.entry(log.start + i));
        assert.deepEqual(got, want.entries, `${seed} ${n} ${k}`);
        if (got.length) assert.equal(log.start, want.start, `${seed} ${n} ${k}`);
        assert.equal(log.entry(log.end), null, "nothing lies beyond the end");
        assert.equal(log.entry(log.start - 1), null, "nothing lies before the start");
      }
    }
  }
});

test("seek(t) twice equals seek(t) once", () => {
  const fold = folded(journal(7, 300));
  for (const n of [3, 200, 401]) assert.deepEqual(read(fold, n), read(fold, n));
});

test("backwards equals forwards", () => {
  const events = journal(8, 300);
  const fold = folded(events);
  const forwards = events.map((e) => read(fold, e.n));
  const backwards = events.toReversed().map((e) => read(fold, e.n));
  assert.deepEqual(backwards.toReversed(), forwards);
});

test("events fed in batches, some of them twice, fold as when fed at once", () => {
  const events = journal(9, 400);
  const r = generator(9);
  const fold = new Fold();
  let i = 0;
  while (i < events.length) {
    const from = Math.max(0, i - r.below(5));
    const to = i + 1 + r.below(40);
    const fresh = fold.feed(events.slice(from, to));
    assert.equal(fresh.length, Math.min(to, events.length) - i, "only what is new is reported");
    i = to;
  }
  const last = events[events.length - 1].n;
  assert.deepEqual(read(fold, last), read(folded(events), last));
});

test("a key that isn't among the changed ones has the same value at both cursors", () => {
  const events = journal(10, 500, { keys: 200 });
  const fold = folded(events);
  const r = generator(10);
  for (let i = 0; i < 200; i++) {
    const a = r.pick(events).n;
    const b = fold.events[Math.min(fold.events.length - 1, fold.indexOf(a) + r.below(30))].n;
    const [from, to] = r.next() < 0.5 ? [a, b] : [b, a];
    const keys = fold.changed(from, to);
    assert.ok(keys, "a short way names its keys");
    const before = fold.at(from);
    const after = fold.at(to);
    for (const k of fold.values.keys()) if (!keys.has(k)) assert.equal(after.get(k), before.get(k));
  }
});

test("a far seek asks for all keys", () => {
  const events = journal(11, 2000);
  assert.equal(folded(events).changed(0, events[1999].n), null);
});

test("before the first event there is nothing", () => {
  const fold = folded(journal(12, 50));
  assert.equal(fold.at(0).get("k1"), null);
  assert.equal(fold.at(0).log("b1/orders-0/log").end, 0);
  assert.equal(fold.indexOf(0), -1);
});

test("a seek in 100,000 events reads 2,000 keys within 8 ms", () => {
  const fold = folded(journal(13, 100_000, { keys: 2000 }));
  const keys = [...fold.values.keys()];
  assert.ok(keys.length >= 1990);
  const r = generator(13);
  const seek = () => {
    const view = fold.at(1 + r.below(fold.last));
    for (const k of keys) view.get(k);
    const log = view.log("b1/orders-0/log");
    for (let i = 0; i < 400; i++) log.entry(log.end - i);
  };
  for (let i = 0; i < 20; i++) seek();
  const times = Array.from({ length: 50 }, () => {
    const t0 = performance.now();
    seek();
    return performance.now() - t0;
  }).sort((a, b) => a - b);
  // The median, because a busy machine may stall any single one.
  assert.ok(times[25] <= 8, `median ${times[25].toFixed(2)} ms`);
});
