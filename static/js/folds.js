// The folded stretches of the timeline: breaks in the bar, with what they fold.

import { make, percent } from "./dom.js";
import { clamp } from "./search.js";

/** @import { Story } from "./story.js" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Story} story
 * @param {(s: number) => number} at the place of a moment, from 0 to 1 in the stretch that is shown
 * @param {number} wide the length of the bar in px
 */
export function foldMarks(story, at, wide) {
  const shown = story.folds.filter((f) => at(f.s1) > 0 && at(f.s0) < 1);
  const named = labelled(
    shown.map((f) => ({
      x: ((at(f.s0) + at(f.s1)) / 2) * wide,
      w: f.label.length * 6 + 10,
      weight: story.t(f.s1) - story.t(f.s0),
    })),
    wide,
  );
  return shown.map((f, i) => {
    const from = clamp(at(f.s0), 0, 1);
    const width = clamp(at(f.s1), 0, 1) - from;
    const teeth = clamp(Math.round((width * wide) / 10), 2, 60);
    const el = make(
      "div",
      { class: "hw-fold", title: f.label },
      drawing(`0 0 ${teeth * 10} 10`, zigzag(teeth)),
    );
    el.style.left = percent(from);
    el.style.width = percent(width);
    if (named.has(i)) el.append(make("span", { class: "hw-fold-label", text: f.label }));
    return el;
  });
}

/**
 * The upper edge of a zigzag, for a stretch whose time is folded.
 * @param {number} teeth
 */
export function zigzag(teeth) {
  let d = "M0 5";
  for (let i = 0; i < teeth * 2; i++) d += `L${(i + 0.5) * 5} ${i % 2 ? 9 : 1}`;
  return `${d}L${teeth * 10} 5`;
}

/**
 * @param {string} viewBox
 * @param {string} d
 */
function drawing(viewBox, d) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", viewBox);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  path.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(path);
  return svg;
}

/**
 * Which labels have room on a line: the longest waits first, none over another
 * or over an end. The others are still told by title and preview.
 * @param {{x: number, w: number, weight: number}[]} labels centres and widths in px
 * @param {number} width of the line
 * @returns {Set<number>} their places in the list
 */
export function labelled(labels, width) {
  /** @type {Set<number>} */
  const kept = new Set();
  const order = labels.map((_, i) => i).sort((a, b) => labels[b].weight - labels[a].weight);
  for (const i of order) {
    const { x, w } = labels[i];
    if (x < w / 2 || x + w / 2 > width) continue;
    if ([...kept].every((k) => Math.abs(labels[k].x - x) >= (labels[k].w + w) / 2)) kept.add(i);
  }
  return kept;
}
