import assert from "node:assert/strict";
import { test } from "node:test";

import { chosen } from "../../../static/js/words.js";

test("a choice made before adds itself to an address that makes none", () => {
  assert.equal(chosen("http://x/s/a?seed=7#e4", "library"), "http://x/s/a?seed=7&words=library#e4");
});

test("an address that says its words is left alone", () => {
  assert.equal(chosen("http://x/s/a?words=kafka", "library"), "");
  assert.equal(chosen("http://x/s/a?words=library", "library"), "");
});

test("without a choice, or with one that is none, nothing changes", () => {
  assert.equal(chosen("http://x/s/a", ""), "");
  assert.equal(chosen("http://x/s/a", "javascript:1"), "");
});
