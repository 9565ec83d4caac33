import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { murmur2, partitionForKey, toPositive, view } from "../../../static/js/murmur.js";

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"));
/** @param {string} hex */
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (x) => Number.parseInt(x, 16));

test("murmur2 gives what Kafka gives", () => {
  const { cases } = read("engine/testdata/vectors/murmur2.json");
  assert.equal(cases.length, 22);
  for (const { id, input, expected } of cases) {
    assert.equal(murmur2(bytes(input.hex)), expected.murmur2, id);
    assert.equal(toPositive(murmur2(bytes(input.hex))), expected.positive, id);
  }
});

test("a key goes to Kafka's partition", () => {
  const { cases } = read("engine/testdata/vectors/partition_for_key.json");
  assert.equal(cases.length, 35);
  for (const { id, input, expected } of cases)
    assert.equal(partitionForKey(bytes(input.keyHex), input.numPartitions), expected.partition, id);
});

test("the page computes what the server computes", () => {
  const pairs = read("web/keys/testdata/views.json");
  assert.equal(pairs.length, 14);
  for (const { query, view: v } of pairs) {
    const { problem, steps, spread } = v;
    assert.deepEqual(view(v), { problem, steps, spread }, query);
  }
});

test("a hundred thousand keys are spread, and more than a mebibyte is refused", () => {
  const keys = Array.from({ length: 100_000 }, (_, i) => `k${i}`).join("\n");
  const { spread } = view({ key: "", null: true, count: "10000", list: keys });
  assert.equal(
    spread?.rows.reduce((sum, r) => sum + r.count, 0),
    100_000,
  );
  assert.match(view({ key: "", null: true, count: "3", list: "ö".repeat(600_000) }).problem, /1 MiB/);
});
