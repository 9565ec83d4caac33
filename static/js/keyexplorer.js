// The key explorer computes while its reader types, and keeps the result in the
// page's address.

import { view } from "./murmur.js";
import { initTheme } from "./theme.js";

/** @import { Spread, Steps } from "./murmur.js" */

/** The longest address that browsers, servers and mail programs pass on. */
const LONGEST = 8000;

/** @param {string} selector */
const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

const form = /** @type {HTMLFormElement} */ (find("#keys-form"));
const key = /** @type {HTMLInputElement} */ (form.elements.namedItem("key"));
const count = /** @type {HTMLInputElement} */ (form.elements.namedItem("n"));
const none = /** @type {HTMLInputElement} */ (form.elements.namedItem("null"));
const list = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("list"));

/** @param {string} id */
function stamp(id) {
  const template = /** @type {HTMLTemplateElement} */ (find(id));
  return /** @type {HTMLElement} */ (
    /** @type {Element} */ (template.content.firstElementChild).cloneNode(true)
  );
}

/**
 * @param {Element} from
 * @param {string} selector
 * @param {string} text
 */
function write(from, selector, text) {
  const el = from.querySelector(selector);
  if (el && el.textContent !== text) el.textContent = text;
}

/** @param {Steps} s */
function showSteps(s) {
  const box = find(".keys-steps");
  box.querySelector(".keys-chars")?.replaceChildren(
    ...s.chars.map((c) => {
      const el = stamp("#keys-char");
      write(el, "b", c.text);
      write(el, "code", c.hex);
      return el;
    }),
  );
  const out = {
    length: s.length,
    more: s.moreBytes ? `, the last ${s.moreBytes} not shown` : "",
    hash: s.hash,
    bits: `0x${(s.hash >>> 0).toString(16).padStart(8, "0")}`,
    positive: s.positive,
    mask: s.hash < 0 ? "the sign bit was set and is cleared" : "the sign bit was clear: nothing changes",
    n: s.n,
    partition: s.partition,
  };
  for (const [name, value] of Object.entries(out)) write(box, `[data-out="${name}"]`, String(value));
}

/** @param {Spread} s */
function showSpread(s) {
  find(".keys-rows").replaceChildren(
    ...s.rows.map((r) => {
      const el = stamp("#keys-row");
      write(el, "th", r.name);
      write(el, ".n", String(r.count));
      el.querySelector("rect")?.setAttribute("width", String(r.width));
      const more = el.querySelector(".more");
      for (const name of r.chips) {
        const chip = stamp("#keys-chip");
        chip.textContent = name;
        more?.before(chip, " ");
      }
      write(el, ".more", r.more ? `and ${r.more} more` : "");
      return el;
    }),
  );
  write(document.body, ".keys-summary", s.summary);
}

function compute() {
  key.disabled = none.checked;
  const v = view({ key: key.value, null: none.checked, count: count.value, list: list.value });
  write(document.body, "#keys-problem", v.problem);
  find("#keys-problem").hidden = !v.problem;
  count.setAttribute("aria-invalid", String(v.problem.includes("partition count")));
  find(".keys-null").hidden = !none.checked || v.problem !== "";
  find(".keys-steps").hidden = !v.steps;
  find(".keys-spread").hidden = !v.spread;
  if (v.steps) showSteps(v.steps);
  if (v.spread) showSpread(v.spread);
  write(document.body, ".keys-said", "");
  if (!v.problem) keepAddress();
}

function keepAddress() {
  const q = new URLSearchParams();
  if (none.checked) q.set("null", "1");
  else q.set("key", key.value);
  q.set("n", count.value.trim());
  const theme = new URLSearchParams(location.search).get("theme");
  if (theme) q.set("theme", theme);
  const short = q.toString();
  if (list.value) q.set("list", list.value);
  const fits = q.toString().length <= LONGEST;
  write(document.body, ".keys-long", fits ? "" : "The list is too long for a link; the link holds the rest.");
  try {
    history.replaceState(history.state, "", `?${fits ? q : short}`);
  } catch {
    // A frame may refuse it; the page works on.
  }
}

let timer = 0;
function soon() {
  clearTimeout(timer);
  // A long list takes a moment, and an address may not change at every key.
  timer = window.setTimeout(compute, list.value.length > 20_000 ? 400 : 120);
}

async function copy() {
  compute();
  try {
    await navigator.clipboard.writeText(location.href);
    write(document.body, ".keys-said", "The link was copied.");
  } catch {
    write(document.body, ".keys-said", "Copy the link from the address bar.");
  }
}

initTheme();
form.addEventListener("input", soon);
form.addEventListener("submit", (e) => {
  e.preventDefault();
  compute();
});
const link = /** @type {HTMLElement} */ (find('[data-cmd="keys-link"]'));
link.hidden = false;
link.addEventListener("click", copy);
key.disabled = none.checked;
find("main").dataset.ready = "true";
