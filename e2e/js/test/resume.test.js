import assert from "node:assert/strict";
import { test } from "node:test";
import { recall, remember, wayBack } from "../../../static/js/resume.js";

test("the way back names scenario and moment", () => {
  assert.equal(wayBack("demo", "#e412"), "/?at=demo&moment=e412");
  assert.equal(wayBack("demo", ""), "/?at=demo");
  assert.equal(wayBack("demo", "#50%25"), "/?at=demo&moment=50%25");
});

test("without storage nothing is remembered, and nothing breaks", () => {
  remember({ href: "/s/demo", title: "Demo" });
  assert.equal(recall(), null);
});

test("only a scenario's page is a place to go on at", () => {
  /** @type {Record<string, string>} */ const items = {};
  Object.assign(globalThis, {
    localStorage: {
      getItem: (/** @type {string} */ k) => items[k] ?? null,
      setItem: (/** @type {string} */ k, /** @type {string} */ v) => {
        items[k] = v;
      },
    },
  });
  remember({ href: "/s/demo#e4", title: "Demo" });
  assert.deepEqual(recall(), { href: "/s/demo#e4", title: "Demo" });
  for (const bad of ["{", '{"href":"https://x/s/demo","title":"x"}', '{"href":"/s/demo"}', "7"]) {
    items["highwater.last"] = bad;
    assert.equal(recall(), null, bad);
  }
});
