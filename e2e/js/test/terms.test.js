import assert from "node:assert/strict";
import { test } from "node:test";
import { finder } from "../../../static/js/terms.js";

/** @param {string} id @param {string[]} forms */
const term = (id, forms) => ({ id, name: id, text: "", source: "", forms });

const find = finder([
  term("leader", ["leader"]),
  term("leader-epoch", ["leader epoch"]),
  term("epoch", ["epoch"]),
  term("isr", ["ISR", "in-sync replica"]),
  term("group", ["group"]),
  term("batch", ["batch"]),
  term("metadata", ["metadata"]),
  term("api-metadata", ["Metadata"]),
  term("offsets", ["__consumer_offsets"]),
  term("retention", ["retention"]),
  term("retention.ms", ["retention.ms"]),
  term("poll", ["poll()"]),
]);

/** @param {string} text */
const said = (text) => find(text).map(({ start, end, term }) => [text.slice(start, end), term.id]);

test("the longest form wins", () => {
  assert.deepEqual(said("the leader epoch of a leader"), [
    ["leader epoch", "leader-epoch"],
    ["leader", "leader"],
  ]);
  assert.deepEqual(said("retention.ms, not retention"), [
    ["retention.ms", "retention.ms"],
    ["retention", "retention"],
  ]);
});

test("plurals and the start of a sentence are the same word; a second time is not marked", () => {
  assert.deepEqual(said("Batches of leaders. A batch."), [
    ["Batches", "batch"],
    ["leaders", "leader"],
  ]);
  assert.deepEqual(said("In-sync replicas"), [["In-sync replicas", "isr"]]);
});

test("Kafka's capitals count", () => {
  assert.deepEqual(said("isr ISR"), [["ISR", "isr"]]);
  assert.deepEqual(said("sends Metadata for its metadata"), [
    ["Metadata", "api-metadata"],
    ["metadata", "metadata"],
  ]);
});

test("names are no words", () => {
  assert.deepEqual(said("group-a, subgroup, leader.replication, grouped"), []);
  assert.deepEqual(said("__consumer_offsets-47"), [["__consumer_offsets", "offsets"]]);
  assert.deepEqual(said("calls poll()."), [["poll()", "poll"]]);
});

test("without terms nothing is found", () => assert.deepEqual(finder([])("leader"), []));
