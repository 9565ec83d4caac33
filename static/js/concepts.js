// The concepts page: the overview opens explanations, and moments of runs come to
// life as they scroll into view.

import { Clip } from "./clip.js";
import { pictures } from "./pictures.js";
import { initTerms, termsOf } from "./terms.js";
import { initTheme } from "./theme.js";

/** @import { Term } from "./terms.js" */

initTheme();
pictures();
initTerms({ page: "/concepts", outside: false });

/** @type {Map<string, Term>} */
const terms = new Map(termsOf().map((t) => [t.id, t]));
const panel = /** @type {HTMLElement} */ (document.querySelector("#overview-panel"));

/** @param {Term} term */
function explain(term) {
  const name = document.createElement("h3");
  name.textContent = term.name;
  const text = document.createElement("p");
  text.textContent = term.text;
  const source = document.createElement("p");
  source.className = "source";
  source.textContent = `${term.kafka ? `In Kafka: ${term.kafka}. ` : ""}Source: ${term.source}.`;
  const more = document.createElement("a");
  more.href = `#${term.id}`;
  const section = document.getElementById(term.id);
  more.textContent = section?.querySelector(".clip, .drawn") ? "See it move" : "Its place on this page";
  panel.replaceChildren(name, text, source, more);
  panel.hidden = false;
  panel.scrollIntoView({ block: "nearest" });
}

for (const part of document.querySelectorAll("[data-part-term]")) {
  part.addEventListener("click", (e) => {
    const { metaKey, ctrlKey, shiftKey } = /** @type {MouseEvent} */ (e);
    const term = terms.get(part.getAttribute("data-part-term") ?? "");
    if (!term || metaKey || ctrlKey || shiftKey) return;
    e.preventDefault();
    for (const other of document.querySelectorAll("[data-part-term][aria-current]"))
      other.removeAttribute("aria-current");
    part.setAttribute("aria-current", "true");
    explain(term);
  });
}

/** @type {WeakMap<Element, Clip>} */
const clips = new WeakMap();
const watch = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) clips.get(target)?.load();
  },
  { rootMargin: "200px 0px" },
);
for (const root of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("figure.clip"))) {
  clips.set(root, new Clip(root));
  watch.observe(root);
}

Object.assign(window, {
  highwaterClip: (/** @type {string} */ id) => {
    const root = document.querySelector(`[id="${id}"] figure.clip`);
    const clip = root && clips.get(root);
    return clip ? { ready: clip.ready, from: clip.from, to: clip.to, ...clip.state } : null;
  },
});
