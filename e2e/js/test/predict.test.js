import assert from "node:assert/strict";
import { test } from "node:test";
import { questionBetween, verdictOf } from "../../../static/js/predict.js";

const ask = { question: "Who leads?", options: ["Broker 1", "Broker 2"], answer: 1, because: "It is next." };
const chapters = [
  { id: "a", title: "A", n: 1 },
  { id: "b", title: "B", n: 10, ask },
  { id: "c", title: "C", n: 20, ask },
];

test("playing stops at the first open question that it comes to", () => {
  const none = new Map();
  assert.equal(questionBetween(chapters, 1, 9, none), null);
  assert.equal(questionBetween(chapters, 1, 10, none)?.id, "b");
  assert.equal(questionBetween(chapters, 1, 30, none)?.id, "b");
  assert.equal(questionBetween(chapters, 10, 30, none)?.id, "c");
  assert.equal(questionBetween(chapters, 1, 30, new Map([["b", 0]]))?.id, "c");
  assert.equal(questionBetween(chapters, 20, 99, none), null);
});

test("an answer is held against the run", () => {
  assert.equal(verdictOf(ask, 1), "Right.");
  assert.equal(verdictOf(ask, 0), "Not this time. In this run: Broker 2.");
});
