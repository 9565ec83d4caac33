import assert from "node:assert/strict";
import { test } from "node:test";

import { span } from "../../../static/js/clip.js";
import { Story } from "../../../static/js/story.js";

const story = new Story([
  [1, 0, 0],
  [9, 1000, 20],
]);

test("a clip begins a little before its chapter and lasts its seconds", () => {
  assert.deepEqual(span(10, 2, 5, story), { from: 8, to: 13 });
});

test("a clip stays within the story", () => {
  assert.deepEqual(span(1, 3, 5, story), { from: 0, to: 5 });
  assert.deepEqual(span(18, 0, 5, story), { from: 18, to: 20 });
});
