// The map under the bar: painted strips of who led, who was in sync, which controller
// and which generation, and curves on demand. Loaded when it is first opened.

import { make, percent } from "./dom.js";
import { lagOf, rowsOf } from "./lag.js";
import { clamp, countUpTo } from "./search.js";
import { controllerStrip, groupLines, groupStrip, partLines, partStrips, steps } from "./strips.js";

/** @import { Model } from "./player.js" */
/** @import { Line, Strip } from "./strips.js" */
/** @import { Timeline } from "./timeline.js" */
/** @import { Run } from "./types.js" */

const SVG = "http://www.w3.org/2000/svg";

/** A stretch narrower than this is drawn with its neighbours, in px. */
const NARROW = 3;

/** The height of the curves in px; their width is that of the bar. */
const HEIGHT = 56;

/**
 * @typedef {object} Host
 * @property {() => Model} model
 * @property {() => Run | null} run
 * @property {(n: number) => void} go
 */

export class TimelineMap {
  /**
   * @param {HTMLElement} box
   * @param {Timeline} timeline
   * @param {Host} host
   */
  constructor(box, timeline, host) {
    this.box = box;
    this.timeline = timeline;
    this.host = host;
    /** @type {{strip: Strip, row: HTMLElement}[]} */ this.rows = [];
    /** @type {Line[]} */ this.lines = [];
    this.select = make("select", { "aria-label": "Curves" });
    this.select.addEventListener("change", () => this.#choose());
    this.legend = make("span", { class: "hw-map-legend" });
    this.curves = document.createElementNS(SVG, "svg");
    this.curves.setAttribute("class", "hw-map-curves");
    this.curves.setAttribute("role", "img");
    this.curves.setAttribute("preserveAspectRatio", "none");
    this.strips = make("div", { class: "hw-map-strips" });
    box.replaceChildren(
      make("div", { class: "hw-map-head" }, this.select, this.legend),
      this.curves,
      this.strips,
    );
    this.strips.addEventListener("keydown", (e) => this.#move(e));
    timeline.redrawn.push(() => this.draw());
    this.grow();
  }

  /**
   * Arrows go from stretch to stretch and from strip to strip: the map is one stop of
   * the Tab key, however much it shows.
   * @param {KeyboardEvent} e
   */
  #move(e) {
    const at = /** @type {HTMLElement} */ (e.target);
    const row = at.parentElement;
    if (!row?.classList.contains("hw-strip")) return;
    const k = [...row.children].indexOf(at);
    const other = e.key === "ArrowUp" ? row.previousElementSibling : row.nextElementSibling;
    /** @type {Record<string, Element | null | undefined>} */
    const ways = {
      ArrowLeft: at.previousElementSibling,
      ArrowRight: at.nextElementSibling,
      ArrowUp: other && (other.children[k] ?? other.lastElementChild),
      ArrowDown: other && (other.children[k] ?? other.lastElementChild),
    };
    if (!(e.key in ways)) return;
    e.preventDefault();
    e.stopPropagation();
    this.#focus(/** @type {HTMLElement | null} */ (ways[e.key] ?? null));
  }

  /** @param {HTMLElement | null} to */
  #focus(to) {
    if (!to) return;
    for (const el of this.strips.querySelectorAll('[tabindex="0"]')) el.setAttribute("tabindex", "-1");
    to.tabIndex = 0;
    to.focus();
  }

  /** More events have come. */
  grow() {
    const { fold } = this.host.model();
    const groups = this.host.run()?.groups ?? [];
    const parts = fold.partitions().filter((p) => !p.startsWith("__"));
    const strips = [
      ...parts.flatMap((p) => partStrips(fold, p)),
      controllerStrip(fold),
      ...groups.map((g) => groupStrip(fold, g)).filter((s) => s !== null),
    ];
    // What changes in this run comes first.
    const moves = (/** @type {Strip} */ s) => (s.stretches.length > 1 ? 0 : 1);
    strips.sort((a, b) => moves(a) - moves(b));
    this.rows = strips.map((strip) => {
      const row = make("div", {
        class: `hw-strip is-${strip.what}`,
        role: "group",
        "aria-label": strip.name,
      });
      return { strip, row };
    });
    this.strips.replaceChildren(...this.rows.map((r) => r.row));
    const chosen = this.select.value;
    this.select.replaceChildren(
      make("option", { value: "", text: "no curves" }),
      ...fold.partitions().map((p) => make("option", { value: `part ${p}`, text: `${p}: HW and LEO` })),
      ...groups.map((g) => make("option", { value: `group ${g.id}`, text: `${g.id}: lag` })),
    );
    this.select.value = chosen;
    this.#choose();
  }

  #choose() {
    const { fold } = this.host.model();
    const [what, name] = this.select.value.split(" ");
    const group = (this.host.run()?.groups ?? []).find((g) => g.id === name);
    this.lines =
      what === "part"
        ? partLines(fold, name)
        : what === "group" && group
          ? groupLines(fold, group, (g, view) => rowsOf(g, view).reduce((sum, r) => sum + lagOf(r), 0))
          : [];
    this.draw();
  }

  draw() {
    if (this.box.hidden) return;
    const width = this.timeline.rail.getBoundingClientRect().width;
    const had = document.activeElement;
    const line = this.rows.findIndex(({ row }) => row.contains(had));
    const k = line < 0 ? 0 : [...this.rows[line].row.children].indexOf(/** @type {Element} */ (had));
    for (const { strip, row } of this.rows) this.#drawStrip(strip, row, width);
    const { children } = this.rows[Math.max(line, 0)]?.row ?? this.strips;
    const stop = /** @type {HTMLElement | undefined} */ (children[k] ?? children[children.length - 1]);
    if (line >= 0) this.#focus(stop ?? null);
    else if (stop) stop.tabIndex = 0;
    this.#drawCurves(width);
  }

  /**
   * @param {Strip} strip
   * @param {HTMLElement} row
   * @param {number} width
   */
  #drawStrip(strip, row, width) {
    const places = strip.stretches.map((x) => this.#at(x.n));
    const shown = visible(places, NARROW / Math.max(1, width));
    row.replaceChildren(
      ...shown.map(({ i, from, to, merged }, k) => {
        const stretch = strip.stretches[i];
        // The name of a strip stands in the stretch at its left edge, wherever that is.
        const text = (k === 0 ? `${strip.name} · ` : "") + stretch.text;
        const part = make("button", {
          type: "button",
          class: `hw-stretch tone-${merged ? "many" : stretch.tone}`,
          tabindex: "-1",
          title: merged
            ? `${strip.name}: ${merged} changes, zoom in to tell them apart`
            : `${strip.name}: ${stretch.text}`,
        });
        part.style.left = percent(from);
        part.style.width = percent(to - from);
        if (stretch.level !== undefined) part.style.setProperty("--level", percent(stretch.level));
        if ((to - from) * width > 24) part.append(make("span", { text: merged ? "" : text }));
        part.addEventListener("click", () => this.host.go(stretch.n));
        return part;
      }),
    );
  }

  /** @param {number} width */
  #drawCurves(width) {
    const on = this.lines.length > 0;
    this.curves.toggleAttribute("hidden", !on);
    this.legend.textContent = "";
    if (!on) return;
    const box = { width: Math.round(width), height: HEIGHT };
    this.curves.setAttribute("viewBox", `0 -2 ${box.width} ${HEIGHT + 4}`);
    const most = Math.max(1, ...this.lines.flatMap((l) => l.points.map(([, v]) => v)));
    this.curves.replaceChildren(
      ...this.lines.map((l, i) => {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("class", `curve is-${l.what} dash-${i % 4}`);
        path.setAttribute("vector-effect", "non-scaling-stroke");
        path.setAttribute(
          "d",
          steps(
            l.points.map(([n, v]) => [this.#at(n), v]),
            most,
            box,
          ),
        );
        return path;
      }),
    );
    const name = this.select.selectedOptions[0]?.textContent ?? "";
    this.curves.setAttribute("aria-label", `${name}, up to ${most}`);
    this.legend.textContent = `up to ${most} · ${this.lines.map((l, i) => `${DASHES[l.what === "leo" ? i % 4 : 4]} ${l.name}`).join("  ")}`;
  }

  /** @param {number} n */
  #at(n) {
    const { fold, story } = this.host.model();
    const i = countUpTo(fold.ns, n) - 1;
    return this.timeline.at(story.s(n, fold.ts[i] ?? 0));
  }
}

/** How the lines of a curve look, in the legend. */
const DASHES = ["─", "╌", "┄", "┈", "━"];

/**
 * The stretches in sight, those too narrow to be told apart drawn as one.
 * @param {readonly number[]} places where each begins, ascending, 0 to 1 in sight
 * @param {number} narrow
 * @returns {{i: number, from: number, to: number, merged: number}[]}
 */
export function visible(places, narrow) {
  /** @type {{i: number, from: number, to: number, merged: number}[]} */
  const out = [];
  for (let i = 0; i < places.length; i++) {
    const to = clamp(places[i + 1] ?? 1, 0, 1);
    const from = clamp(places[i], 0, 1);
    if (to <= 0 || from >= 1 || (to <= from && places[i] < 0)) continue;
    const last = out.at(-1);
    if (to - from < narrow && last && (last.merged || last.to - last.from < narrow)) {
      last.to = to;
      last.merged = (last.merged || 1) + 1;
    } else out.push({ i, from, to, merged: 0 });
  }
  return out;
}
