import assert from "node:assert/strict";
import { test } from "node:test";
import { Fold } from "../../../static/js/fold.js";
import { IDLE, RATES, reach, SHORTEST_LOOP, SPEEDS, timeAt, transition } from "../../../static/js/player.js";
import { Story } from "../../../static/js/story.js";
import { breakpoints, generator, journal } from "./journals.js";

/** @import { Command, State } from "../../../static/js/player.js" */

/** @param {number} seed */
function model(seed, complete = true) {
  const events = journal(seed, 300);
  const fold = new Fold();
  fold.feed(events);
  const chapters = [0, 100, 200].map((i) => ({ id: `c${i}`, title: `Chapter ${i}`, n: events[i].n }));
  return { fold, story: new Story(breakpoints(events, seed)), chapters, complete };
}

/**
 * @param {ReturnType<typeof model>} m
 * @param {Command[]} commands
 */
function after(m, ...commands) {
  /** @type {State} */
  let state = transition(IDLE, { type: "loaded" }, m);
  for (const c of commands) state = transition(state, c, m);
  return state;
}

/** @param {State} state */
const cursor = ({ n, s }) => ({ n, s });

test("before anything has come every command but the speed is ignored", () => {
  const m = model(1);
  /** @type {Command[]} */
  const commands = [
    { type: "play" },
    { type: "seek", s: 3 },
    { type: "grab" },
    { type: "tick", ms: 16 },
    { type: "step", by: 1 },
  ];
  for (const c of commands) assert.equal(transition(IDLE, c, m), IDLE);
});

test("seek(s) twice equals seek(s) once", () => {
  const m = model(2);
  for (const s of [0, 1.234, 7, m.story.end, 1e6]) {
    assert.deepEqual(after(m, { type: "seek", s }, { type: "seek", s }), after(m, { type: "seek", s }));
  }
});

test("a seek depends on nothing that came before it", () => {
  const m = model(3);
  const r = generator(3);
  for (let i = 0; i < 200; i++) {
    const s = r.next() * m.story.end;
    const wander = after(m, { type: "tenth", i: r.below(10) }, { type: "step", by: 1 }, { type: "seek", s });
    assert.deepEqual(cursor(wander), cursor(after(m, { type: "seek", s })));
  }
});

test("backwards equals forwards: stepping through all events and back shows each at the same cursor", () => {
  const m = model(4);
  const forwards = [];
  let state = after(m, { type: "event", n: 1 });
  for (let i = 0; i < m.fold.events.length; i++) {
    forwards.push(cursor(state));
    state = transition(state, { type: "step", by: 1 }, m);
  }
  assert.deepEqual(
    forwards.map((c) => c.n),
    m.fold.ns,
  );
  const backwards = [];
  for (let i = 0; i < m.fold.events.length; i++) {
    backwards.push(cursor(state));
    state = transition(state, { type: "step", by: -1 }, m);
  }
  assert.deepEqual(backwards.toReversed(), forwards);
});

test("playing reaches the end whatever the frames are, without going back", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const m = model(seed);
    const r = generator(seed);
    let state = after(m, { type: "play" });
    for (let i = 0; i < 1e5 && state.phase === "playing"; i++) {
      const next = transition(state, { type: "tick", ms: 1 + r.below(90) }, m);
      assert.ok(next.n >= state.n && next.s >= state.s);
      state = next;
    }
    assert.equal(state.phase, "ended");
    assert.equal(state.n, m.fold.last);
    assert.equal(state.s, m.story.end);
  }
});

test("one long tick equals many short ones", () => {
  const m = model(5);
  const once = after(m, { type: "play" }, { type: "tick", ms: 4000 });
  let many = after(m, { type: "play" });
  for (let i = 0; i < 400; i++) many = transition(many, { type: "tick", ms: 10 }, m);
  assert.ok(Math.abs(once.s - many.s) < 1e-6);
  assert.ok(Math.abs(timeAt(once, m) - timeAt(many, m)) < 1);
});

test("play at the end begins again", () => {
  const m = model(6);
  const state = after(m, { type: "seek", s: 1e9 }, { type: "play" });
  assert.equal(state.phase, "playing");
  assert.equal(state.s, 0);
});

test("a seek while playing plays on, a step pauses", () => {
  const m = model(7);
  assert.equal(after(m, { type: "play" }, { type: "seek", s: 2 }).phase, "playing");
  assert.equal(after(m, { type: "play" }, { type: "step", by: 1 }).phase, "paused");
});

test("letting go of the knob goes on as before, and a late drag changes nothing", () => {
  const m = model(8);
  const dragged = after(m, { type: "play" }, { type: "grab" }, { type: "drag", s: 3 });
  assert.equal(dragged.phase, "dragging");
  assert.equal(transition(dragged, { type: "tick", ms: 500 }, m).s, 3, "time waits while the knob is held");
  const dropped = transition(dragged, { type: "drop" }, m);
  assert.equal(dropped.phase, "playing");
  assert.equal(transition(dropped, { type: "drag", s: 9 }, m), dropped);
  assert.equal(after(m, { type: "grab" }, { type: "drag", s: 3 }, { type: "drop" }).phase, "paused");
});

test("a step back from between two events leads to the one last seen", () => {
  const m = model(9);
  const i = m.fold.events.findIndex(
    (e, k) => k > 5 && m.story.s(m.fold.ns[k + 1], m.fold.ts[k + 1]) - m.story.s(e.n, e.t) > 0.01,
  );
  const e = m.fold.events[i];
  const between = after(m, { type: "seek", s: m.story.s(e.n, e.t) + 0.005 });
  assert.equal(between.n, e.n);
  assert.equal(transition(between, { type: "step", by: -1 }, m).n, e.n);
});

test("chapters: back goes to the beginning first, then to the one before", () => {
  const m = model(10);
  const [first, second, third] = m.chapters.map((c) => c.n);
  const inside = after(m, { type: "event", n: second }, { type: "skip", by: 2 });
  assert.ok(inside.n < third);
  const begun = transition(inside, { type: "chapter", by: -1 }, m);
  assert.equal(begun.n, second);
  assert.equal(transition(begun, { type: "chapter", by: -1 }, m).n, first);
  assert.equal(transition(begun, { type: "chapter", by: 1 }, m).n, third);
  assert.equal(after(m, { type: "event", n: third }, { type: "chapter", by: 1 }).s, m.story.end);
});

test("while events still come the playhead waits at the last one and doesn't end", () => {
  const m = model(11, false);
  m.story = new Story([...breakpoints(m.fold.events, 11), [m.fold.last + 50, 1e9, 1e4]]);
  const state = after(m, { type: "play" }, { type: "tick", ms: 1e9 });
  assert.equal(state.phase, "playing");
  assert.equal(state.s, reach(m));
  assert.equal(state.n, m.fold.last);
});

test("speed moves among the six and stays within them", () => {
  const m = model(12);
  let state = after(m);
  for (let i = 0; i < 9; i++) state = transition(state, { type: "speed", by: 1 }, m);
  assert.equal(state.speed, SPEEDS.at(-1));
  for (let i = 0; i < 9; i++) state = transition(state, { type: "speed", by: -1 }, m);
  assert.equal(state.speed, 0.25);
  const half = { ...after(m, { type: "play" }), speed: 0.5 };
  assert.ok(Math.abs(transition(half, { type: "tick", ms: 1000 }, m).s - 0.5) < 1e-9);
});

test("the time at a cursor lies between its event and the next", () => {
  const m = model(13);
  for (const [i, e] of m.fold.events.entries()) {
    const t = timeAt(after(m, { type: "event", n: e.n }), m);
    assert.ok(t >= e.t && t <= (m.fold.ts[i + 1] ?? t), `event ${e.n}`);
  }
});

test("whatever is pressed, the cursor stays within the story", () => {
  const m = model(14);
  const r = generator(14);
  /** @type {(() => Command)[]} */
  const presses = [
    () => ({ type: "toggle" }),
    () => ({ type: "seek", s: r.next() * 100 - 20 }),
    () => ({ type: "skip", by: r.next() < 0.5 ? -5 : 5 }),
    () => ({ type: "step", by: r.next() < 0.5 ? -1 : 1 }),
    () => ({ type: "chapter", by: r.next() < 0.5 ? -1 : 1 }),
    () => ({ type: "event", n: r.below(2000) }),
    () => ({ type: "grab" }),
    () => ({ type: "drag", s: r.next() * 100 - 20 }),
    () => ({ type: "drop" }),
    () => ({ type: "tick", ms: r.below(3000) }),
  ];
  let state = after(m);
  for (let i = 0; i < 5000; i++) {
    state = transition(state, r.pick(presses)(), m);
    assert.ok(state.s >= 0 && state.s <= m.story.end);
    assert.ok(m.fold.ns.includes(state.n), `event ${state.n} exists`);
  }
});

test("real time is virtual time: no dwell, no fold, one second a second", () => {
  const m = model(21);
  let state = after(m, { type: "clock" }, { type: "play" });
  assert.equal(state.real, true);
  let t = timeAt(state, m);
  while (state.phase === "playing") {
    const next = transition(state, { type: "tick", ms: 0.05 }, m);
    assert.ok(next.n >= state.n && next.s >= state.s, "it never goes back");
    if (next.phase !== "playing") break;
    assert.ok(Math.abs(timeAt(next, m) - t - 50) < 1, `from ${t} to ${timeAt(next, m)}`);
    assert.equal(next.n, Math.max(m.fold.lastAt(t + 50 + 1e-3), state.n), "all that has happened is shown");
    t = timeAt(next, m);
    state = next;
  }
  assert.ok(t > m.story.t(m.story.end) - 60);
});

test("each clock keeps its own speed", () => {
  const m = model(22);
  const state = after(
    m,
    { type: "speed", by: 1 },
    { type: "clock" },
    { type: "speed", by: -1 },
    { type: "speed", by: -1 },
  );
  assert.deepEqual([state.speed, state.rate], [2, RATES[RATES.indexOf(1) - 2]]);
  assert.equal(RATES[0], 1 / 1000);
  assert.equal(RATES.at(-1), 8);
  let slowest = state;
  for (let i = 0; i < 20; i++) slowest = transition(slowest, { type: "speed", by: -1 }, m);
  assert.equal(slowest.rate, 1 / 1000);
});

test("a loop plays its stretch again, and a seek past it leaves it alone", () => {
  const m = model(23);
  const [a, b] = [m.story.end * 0.2, m.story.end * 0.4];
  let state = after(m, { type: "loop", range: [b, a] }, { type: "seek", s: a }, { type: "play" });
  assert.deepEqual(state.loop, [a, b], "its ends are put in order");
  for (let i = 0; i < 200; i++) {
    state = transition(state, { type: "tick", ms: 100 }, m);
    assert.ok(state.s >= a && state.s < b);
  }
  state = after(m, { type: "loop", range: [a, b] }, { type: "seek", s: b + 0.1 }, { type: "play" });
  state = transition(state, { type: "tick", ms: 100 }, m);
  assert.ok(state.s > b);
  const tiny = after(m, { type: "loop", range: [m.story.end + 9, m.story.end + 9] });
  assert.ok(tiny.loop && tiny.loop[1] - tiny.loop[0] >= SHORTEST_LOOP - 1e-9 && tiny.loop[1] <= m.story.end);
  assert.equal(after(m, { type: "loop", range: [a, b] }, { type: "loop", range: null }).loop, null);
});

test("a frame is a step of the clock that is on", () => {
  const m = model(24);
  const story = after(m, { type: "seek", s: 2 }, { type: "frame", by: 1 });
  assert.ok(Math.abs(story.s - 2.04) < 1e-9);
  assert.equal(story.phase, "paused");
  const real = after(m, { type: "seek", s: 2 }, { type: "clock" }, { type: "speed", by: -1 });
  const there = transition(real, { type: "frame", by: 1 }, m);
  assert.ok(there.s >= real.s);
  assert.ok(transition(there, { type: "frame", by: -1 }, m).s <= there.s);
});
