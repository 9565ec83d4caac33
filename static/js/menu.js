// The menu filters while one types, and offers to go on where the reader was.

import { pictures } from "./pictures.js";
import { recall } from "./resume.js";
import { initTheme } from "./theme.js";

initTheme();
pictures();
const cards = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".menu-card"));
const box = /** @type {HTMLElement | null} */ (document.querySelector(".menu-continue"));
const last = recall();
if (box?.hidden && last) {
  const link = /** @type {HTMLAnchorElement} */ (box.querySelector("a"));
  link.href = last.href;
  /** @type {HTMLElement} */ (link.querySelector("span")).textContent = last.title;
  box.hidden = false;
}

const field = /** @type {HTMLInputElement} */ (document.querySelector("#menu-search"));
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of cards) card.hidden = !words.every((w) => card.dataset.words?.includes(w));
  const sections = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".menu-section"));
  for (const s of sections) s.hidden = !s.querySelector(".menu-card:not([hidden])");
  const none = /** @type {HTMLElement} */ (document.querySelector(".menu-empty"));
  none.hidden = [...sections].some((s) => !s.hidden);
  const n = [...cards].filter((c) => !c.hidden).length;
  const count = /** @type {HTMLElement} */ (document.querySelector(".menu-count"));
  count.textContent = none.hidden ? `${n} ${n === 1 ? "scenario" : "scenarios"}` : "";
  const tracks = /** @type {HTMLElement | null} */ (document.querySelector(".menu-tracks"));
  if (tracks) tracks.hidden = words.length > 0;
});
