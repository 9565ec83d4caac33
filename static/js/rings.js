// Countdowns as rings: how much is left of a session, at any moment.

import { countUpTo } from "./search.js";

/**
 * A time-out that is started anew again and again. Starts are pairs of a moment and
 * when it is due, in microseconds; due 0 stops it.
 * @typedef {object} Countdown
 * @property {string} key
 * @property {[number, number][]} starts
 */

/**
 * What is left of a countdown, in microseconds and as a share; null where none runs.
 * @param {readonly [number, number][]} starts in the order of their moments
 * @param {number} t
 */
export function left(starts, t) {
  const i =
    countUpTo(
      starts.map((s) => s[0]),
      t,
    ) - 1;
  if (i < 0 || starts[i][1] === 0) return null;
  const [from, due] = starts[i];
  const rest = Math.max(due - t, 0);
  return { rest, share: due > from ? Math.min(rest / (due - from), 1) : 0 };
}

export class Rings {
  /**
   * @param {SVGSVGElement} svg
   * @param {readonly Countdown[]} countdowns
   */
  constructor(svg, countdowns) {
    const starts = new Map(countdowns.map((c) => [c.key, c.starts]));
    /** @type {{el: SVGElement, ring: Element | null, what: string, text: Element | null, starts: [number, number][], shown: string}[]} */
    this.list = [];
    for (const node of svg.querySelectorAll("[data-ring]")) {
      const el = /** @type {SVGElement} */ (node);
      const of = starts.get(el.dataset.ring ?? "");
      if (!of) continue;
      const ring = el.querySelector(".ring-left");
      const what = el.dataset.ring?.startsWith("poll/") ? "until the next poll()" : "session";
      this.list.push({ el, ring, what, text: el.querySelector("text"), starts: of, shown: "none" });
    }
  }

  /**
   * Writes what differs from the last frame: a ring moves in hundredths, its text in
   * seconds.
   * @param {number} t
   */
  write(t) {
    for (const x of this.list) {
      const now = left(x.starts, t);
      const shown = now ? `${now.share.toFixed(2)} ${Math.ceil(now.rest / 1e6)}` : "none";
      if (shown === x.shown) continue;
      if (!now) x.el.setAttribute("display", "none");
      else {
        if (x.shown === "none") x.el.removeAttribute("display");
        const label = `${x.what}: ${Math.ceil(now.rest / 1e6)} s left`;
        x.ring?.setAttribute("stroke-dashoffset", (1 - now.share).toFixed(2));
        if (x.el.getAttribute("aria-label") !== label) {
          x.el.setAttribute("aria-label", label);
          if (x.text) x.text.textContent = `${Math.ceil(now.rest / 1e6)} s`;
        }
        x.el.classList.toggle("low", now.share < 0.34);
      }
      x.shown = shown;
    }
  }
}
