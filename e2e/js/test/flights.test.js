import assert from "node:assert/strict";
import { test } from "node:test";
import { crowd, Flights, makeWay, VISIBLE } from "../../../static/js/flights.js";
import { generator, journal } from "./journals.js";

/** @import { Ev } from "../../../static/js/types.js" */

/**
 * Ids of the sends whose message has not ended by event n, by looking at every event.
 * @param {readonly Ev[]} events
 * @param {number} n
 */
function inTheAir(events, n) {
  const open = new Map();
  for (const e of events) {
    if (e.n > n) break;
    if (e.kind.endsWith(".send")) open.set(e.msg, e.n);
    else if (/\.(receive|lost)$/.test(e.kind)) open.delete(e.msg);
  }
  return [...open.values()];
}

/** @param {readonly Ev[]} events */
function flightsOf(events) {
  const flights = new Flights();
  flights.feed(events);
  return flights;
}

const send = (/** @type {Partial<Ev>} */ more) =>
  /** @type {Ev} */ ({
    n: 1,
    t: 100,
    kind: "request.send",
    msg: 1,
    from: "b2",
    to: "b1",
    arrive: 300,
    pill: { text: "Fetch 2→1", lane: "orders-0" },
    ...more,
  });

test("what is in the air is what was sent and has not ended", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const events = journal(seed, 400);
    const flights = flightsOf(events);
    for (const e of events) {
      const ids = flights.at(e.n, e.t).map((x) => x.flight.id);
      assert.deepEqual(ids, inTheAir(events, e.n), `seed ${seed} event ${e.n}`);
    }
  }
});

test("fed in batches it sees the same flights", () => {
  const events = journal(5, 600);
  const r = generator(5);
  const flights = new Flights();
  for (let i = 0; i < events.length; ) {
    const to = i + 1 + r.below(30);
    flights.feed(events.slice(i, to));
    i = to;
  }
  const whole = flightsOf(events);
  for (const e of events) assert.deepEqual(flights.at(e.n, e.t), whole.at(e.n, e.t));
});

test("progress goes from 0 at the send to 1 at the arrival and stands still with time", () => {
  const flights = flightsOf([send({})]);
  const progress = (/** @type {number} */ t) => flights.at(1, t)[0].progress;
  assert.deepEqual([100, 200, 200, 300, 900].map(progress), [0, 0.5, 0.5, 1, 1]);
});

test("a held message stays in the air, marked, until it arrives", () => {
  const pair = { msg: 1, from: "b2", to: "b1" };
  const flights = flightsOf([
    send({}),
    { n: 2, t: 300, kind: "message.held", ...pair },
    { n: 3, t: 900, kind: "request.receive", ...pair },
  ]);
  assert.equal(flights.at(1, 300)[0].held, false);
  assert.equal(flights.at(2, 500)[0].held, true);
  assert.deepEqual(flights.at(3, 900), []);
});

test("a lost response doesn't end a request of the same message", () => {
  const flights = flightsOf([
    send({}),
    send({ n: 2, t: 150, kind: "response.send", from: "b1", to: "b2" }),
    { n: 3, t: 160, kind: "message.lost", msg: 1, from: "b1", to: "b2" },
  ]);
  assert.deepEqual(
    flights.at(3, 160).map((x) => x.flight.id),
    [1],
  );
});

test("a crowd is brought down to the cap, and nothing is left uncounted while like ones merge", () => {
  const events = Array.from({ length: 200 }, (_, i) =>
    send({ n: i + 1, t: i, arrive: 5000 + i, msg: i + 1, api: "Fetch", from: `b${i % 3}` }),
  );
  const all = flightsOf(events).at(200, 300);
  const shown = crowd(all);
  assert.ok(shown.length <= VISIBLE);
  assert.equal(
    shown.reduce((sum, x) => sum + x.count, 0),
    200,
  );
  assert.deepEqual(
    all.map((x) => x.count),
    Array(200).fill(1),
    "what is given stays as it was",
  );
});

test("two messages that look the same and fly side by side are one pill", () => {
  const twin = flightsOf([send({}), send({ n: 2, msg: 2 }), send({ n: 3, msg: 3, t: 120, arrive: 320 })]);
  assert.deepEqual(
    crowd(twin.at(3, 200)).map((x) => x.count),
    [2, 1],
  );
});

test("two pills in one lane never cover each other", () => {
  const r = generator(6);
  for (let k = 0; k < 300; k++) {
    const boxes = [0, 1].map(() => ({ x: r.below(400), y: 276, w: 60 + r.below(120), h: 18 }));
    const [a, b] = boxes;
    const shifts = makeWay(boxes);
    const overX = Math.abs(a.x - b.x) < (a.w + b.w) / 2;
    if (overX) assert.ok(Math.abs(shifts[0] - shifts[1]) >= 18, JSON.stringify({ boxes, shifts }));
    assert.ok(shifts.every((s) => Math.abs(s) <= 20));
  }
});

test("three pills at one place stand on three levels", () => {
  const box = { x: 100, y: 276, w: 80, h: 18 };
  assert.deepEqual(makeWay([box, box, box]), [0, -20, 20]);
});

test("a pill makes way to the side where no other lane's pill is", () => {
  const box = { x: 100, w: 80, h: 18 };
  assert.deepEqual(
    makeWay([
      { ...box, y: 267 },
      { ...box, y: 285 },
      { ...box, y: 285 },
    ]),
    [0, 0, 20],
  );
});

test("a pill makes way gradually as another comes near", () => {
  const shift = (/** @type {number} */ x) =>
    Math.abs(
      makeWay([
        { x: 0, y: 0, w: 80, h: 18 },
        { x, y: 0, w: 80, h: 18 },
      ])[1],
    );
  let before = shift(140);
  assert.equal(before, 0);
  for (let x = 140; x >= 0; x--) {
    assert.ok(shift(x) - before >= 0 && shift(x) - before <= 1, `at ${x}`);
    before = shift(x);
  }
});
