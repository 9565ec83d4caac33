import assert from "node:assert/strict";
import { test } from "node:test";
import { commandFor } from "../../../static/js/keys.js";
import { corners, LanePath } from "../../../static/js/lanepath.js";
import { formatLink, linkTo, parseLink } from "../../../static/js/links.js";
import { ROW, rowsInSight } from "../../../static/js/log.js";
import { countUpTo } from "../../../static/js/search.js";
import { backoff, deliver, offlineSource, openMessage } from "../../../static/js/source.js";
import { generator } from "./journals.js";

test("a link that is read gives the link that was written", () => {
  /** @type {import("../../../static/js/links.js").Link[]} */
  const links = [
    { kind: "event", n: 412 },
    { kind: "time", t: 12_400_000 },
    { kind: "time", t: 1 },
    { kind: "chapter", id: "followers-fetch" },
    { kind: "chapter", id: "50% später" },
  ];
  for (const link of links) assert.deepEqual(parseLink(formatLink(link)), link);
  assert.equal(formatLink(links[1]), "#v12.4s");
});

test("an address without a moment, or a broken one, does no harm", () => {
  assert.equal(parseLink(""), null);
  assert.equal(parseLink("#"), null);
  assert.deepEqual(parseLink("#%"), { kind: "chapter", id: "%" });
});

test("a chapter's first event is linked by the chapter's name", () => {
  const chapters = [
    { id: "append", title: "Append", n: 7 },
    { id: "e9", title: "?", n: 8 },
  ];
  assert.equal(formatLink(linkTo(7, chapters)), "#append");
  assert.equal(formatLink(linkTo(8, chapters)), "#e8", "a name that reads as an event is not used");
  assert.equal(formatLink(linkTo(9, chapters)), "#e9");
});

test("every key does what the help says", () => {
  const type = (/** @type {string} */ key, more = {}) => commandFor({ key, ...more }, "player");
  assert.deepEqual(type(" "), { type: "toggle" });
  assert.deepEqual(type("k"), { type: "toggle" });
  assert.deepEqual(type("ArrowLeft"), { type: "step", by: -1 });
  assert.deepEqual(type("ArrowRight", { shiftKey: true }), { type: "skip", by: 5 });
  assert.deepEqual(type("["), { type: "chapter", by: -1 });
  assert.deepEqual(type("PageDown"), { type: "chapter", by: 1 });
  assert.deepEqual(type("Home"), { type: "seek", s: 0 });
  assert.deepEqual(type("End"), { type: "tenth", i: 10 });
  assert.deepEqual(type("3"), { type: "tenth", i: 3 });
  assert.deepEqual(type("<", { shiftKey: true }), { type: "speed", by: -1 });
  assert.deepEqual(type("L"), { type: "panel", name: "events" });
  assert.deepEqual(type("w"), { type: "panel", name: "why" });
  assert.deepEqual(type("?", { shiftKey: true }), { type: "press", name: "help" });
  assert.deepEqual(type("M"), { type: "press", name: "map" });
  assert.deepEqual(type("r"), { type: "press", name: "clock" });
  assert.deepEqual(type("o"), { type: "press", name: "loop" });
  assert.deepEqual(type("(", { shiftKey: true }), { type: "loop-end", end: "from" });
  assert.deepEqual(type(")", { shiftKey: true }), { type: "loop-end", end: "to" });
  assert.deepEqual(type(","), { type: "frame", by: -1 });
  assert.deepEqual(type("."), { type: "frame", by: 1 });
  assert.deepEqual(type("+", { shiftKey: true }), { type: "zoom", by: 1 });
  assert.deepEqual(type("="), { type: "zoom", by: 1 }, "the same key without Shift");
  assert.deepEqual(type("-"), { type: "zoom", by: -1 });
  assert.deepEqual(type("z"), { type: "zoom", by: 0 });
  assert.deepEqual(type("x"), { type: "panel", name: "table" });
  assert.equal(type("y"), null);
});

test("keys leave fields, shortcuts, buttons and scrolling lists alone", () => {
  assert.equal(commandFor({ key: "k" }, "field"), null);
  assert.equal(commandFor({ key: "l", ctrlKey: true }, "player"), null);
  assert.equal(commandFor({ key: " " }, "control"), null, "Space presses the button");
  assert.equal(commandFor({ key: "PageDown" }, "list"), null);
  assert.deepEqual(commandFor({ key: "ArrowLeft" }, "list"), { type: "step", by: -1 });
});

test("a lane path of straight lines is read exactly", () => {
  assert.deepEqual(corners("M184 276.0H1087"), [
    { x: 184, y: 276 },
    { x: 1087, y: 276 },
  ]);
  assert.deepEqual(corners("M10,20 v5 h-3 l1 1 L0 0"), [
    { x: 10, y: 20 },
    { x: 10, y: 25 },
    { x: 7, y: 25 },
    { x: 8, y: 26 },
    { x: 0, y: 0 },
  ]);
  assert.equal(corners("M0 0C1 1 2 2 3 3"), null, "curves are the browser's");
});

test("progress along a path is by length", () => {
  const path = new LanePath([
    { x: 0, y: 0 },
    { x: 0, y: 10 },
    { x: -30, y: 10 },
  ]);
  assert.deepEqual(path.at(0), { x: 0, y: 0 });
  assert.deepEqual(path.at(0.25), { x: 0, y: 10 });
  assert.deepEqual(path.at(0.5), { x: -10, y: 10 });
  assert.deepEqual(path.at(1), { x: -30, y: 10 });
  assert.ok(path.leftward);
  assert.deepEqual(new LanePath([{ x: 3, y: 4 }]).at(0.7), { x: 3, y: 4 });
});

test("binary search counts what a loop counts", () => {
  const r = generator(2);
  for (let i = 0; i < 200; i++) {
    const list = Array.from({ length: r.below(20) }, () => r.below(30)).sort((a, b) => a - b);
    const x = r.below(32) - 1;
    const want = list.filter((y) => y <= x).length;
    assert.equal(countUpTo(list, x), want);
  }
});

test("the list has only the rows in sight and a few more", () => {
  assert.deepEqual(rowsInSight(0, 10 * ROW, 100_000), { from: 0, to: 16 });
  const { from, to } = rowsInSight(ROW * 5000, 10 * ROW, 100_000);
  assert.ok(from <= 5000 && to >= 5010 && to - from < 30);
  assert.deepEqual(rowsInSight(1e9, 240, 50), { from: 50, to: 50 });
});

/** A sink that writes down what it is told. */
function recorder() {
  /** @type {string[]} */
  const calls = [];
  const note = (/** @type {string} */ name) => (/** @type {any} */ x) => {
    calls.push(`${name} ${Array.isArray(x) ? x.length : (x?.message ?? x?.id ?? x?.ok ?? x)}`);
  };
  const sink = {
    run: note("run"),
    events: note("events"),
    chatter: (/** @type {any} */ m) => note("chatter")(m.events),
    end: note("end"),
    stage: note("stage"),
    error: note("error"),
    waiting: note("waiting"),
  };
  return { calls, sink };
}

test("an offline run comes through the same surface as one from a server", () => {
  const run = { op: "run", id: "write" };
  const events = [{ n: 1 }, { n: 2 }];
  const end = { op: "end", verdict: { ok: true } };
  const live = recorder();
  for (const m of [run, { op: "events", track: "main", events }, end]) deliver(m, live.sink);
  for (const form of [events, { op: "events", events }, [{ op: "events", events }]]) {
    const offline = recorder();
    offlineSource({ offline: { run, events: form, end } }, offline.sink).open();
    assert.deepEqual(offline.calls, live.calls);
  }
});

test("messages reach the sink by their kind, and unknown ones are left out", () => {
  const { calls, sink } = recorder();
  deliver({ op: "events", track: "chatter", events: [1] }, sink);
  deliver({ op: "error", code: "unknown-scenario", message: "There is no such scenario." }, sink);
  deliver({ op: "stage", stage: "<svg/>" }, sink);
  deliver({ op: "later" }, sink);
  deliver(null, sink);
  assert.deepEqual(calls, ["chatter 1", "error There is no such scenario.", "stage <svg/>"]);
});

test("opening again asks to go on from the last event", () => {
  const message = openMessage({ scenario: "write", seed: 7 }, "wide", 412);
  assert.deepEqual(message, {
    op: "open",
    scenario: "write",
    set: {},
    actions: [],
    seed: 7,
    layout: "wide",
    from: 412,
  });
  assert.ok(!("scenario" in openMessage({ text: "title: x" }, "wide", 0)));
});

test("attempts to connect grow rarer, up to a bound", () => {
  assert.deepEqual([0, 1, 2, 9].map(backoff), [500, 1000, 2000, 15_000]);
});
