// Messages on their lanes. Elements are kept and used again; where one stands is
// decided anew in every frame from how far its message has come.

import { crowd, makeWay } from "./flights.js";
import { corners, LanePath } from "./lanepath.js";
import { clamp } from "./search.js";

/** @import { Sighting } from "./flights.js" */
/** @import { ColourOf } from "./stage.js" */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 18;
/** Squares for the records carried; more than these can't be told apart. */
const MOST_TAGS = 6;
/** Samples of a curve, where the browser has to say where it goes. */
const SAMPLES = 48;

/**
 * One element of the pool and what was last written to it.
 * @typedef {object} Slot
 * @property {SVGGElement} g
 * @property {string} look
 * @property {number} width
 * @property {string} place
 */

export class Pills {
  /**
   * @param {SVGSVGElement} svg
   * @param {ColourOf} colourOf
   */
  constructor(svg, colourOf) {
    this.layer = svg.querySelector(".pills");
    this.colourOf = colourOf;
    this.right = svg.viewBox.baseVal.width || 1200;
    /** @type {Map<string, LanePath>} */ this.paths = new Map();
    for (const el of svg.querySelectorAll('path[id^="lane/"]')) {
      this.paths.set(el.id, tableOf(/** @type {SVGPathElement} */ (el)));
    }
    /** The ids of the pills shown, in the order in which they lie. */
    this.order = "";
    /** @type {Map<number, Slot>} */ this.used = new Map();
    /** @type {Slot[]} */ this.free = [];
    this.measure = ruler(this.layer);
  }

  /**
   * @param {readonly Sighting[]} sightings
   * @param {{still: boolean, focus: readonly string[]}} how `still` puts each pill at the
   *   middle of its lane, for readers who want no motion
   */
  write(sightings, { still, focus }) {
    if (!this.layer) return;
    const shown = crowd(sightings.filter((x) => this.paths.has(x.flight.path)));
    this.#release(new Set(shown.map((x) => x.flight.id)));
    const slots = shown.map((x) => this.#slot(x, focus));
    // Which pill lies on top must not depend on where the pool's elements happen to be.
    const order = shown.map((x) => x.flight.id).join(" ");
    if (order !== this.order) {
      this.order = order;
      this.layer.append(...slots.map((slot) => slot.g));
    }
    const boxes = shown.map((x, i) => this.#box(x, slots[i].width, still));
    const shifts = makeWay(boxes);
    for (let i = 0; i < slots.length; i++) {
      const place = `translate(${round(boxes[i].x)} ${round(boxes[i].y + shifts[i])})`;
      if (place === slots[i].place) continue;
      slots[i].place = place;
      slots[i].g.setAttribute("transform", place);
    }
  }

  /** @param {Set<number>} kept */
  #release(kept) {
    for (const [id, slot] of this.used) {
      if (kept.has(id)) continue;
      slot.g.setAttribute("display", "none");
      this.used.delete(id);
      this.free.push(slot);
    }
  }

  /**
   * @param {Sighting} x
   * @param {readonly string[]} focus
   * @returns {Slot}
   */
  #slot(x, focus) {
    const { id } = x.flight;
    let slot = this.used.get(id);
    if (!slot) {
      slot = this.free.pop() ?? this.#create();
      slot.g.removeAttribute("display");
      this.used.set(id, slot);
    }
    const { flight } = x;
    const left = /** @type {LanePath} */ (this.paths.get(flight.path)).leftward;
    const dim = focus.length > 0 && ![flight.pill.lane, ...ends(flight.path)].some((p) => focus.includes(p));
    const look = [id, flight.leg, left, dim, x.held, x.count].join(" ");
    if (look !== slot.look) {
      slot.look = look;
      slot.width = this.#draw(slot.g, x, left, dim);
    }
    return slot;
  }

  /** @returns {Slot} */
  #create() {
    const g = document.createElementNS(SVG, "g");
    this.layer?.append(g);
    return { g, look: "", width: 0, place: "" };
  }

  /**
   * @param {SVGGElement} g
   * @param {Sighting} x
   * @param {boolean} left
   * @param {boolean} dim
   */
  #draw(g, x, left, dim) {
    const { pill, leg, id } = x.flight;
    const tags = (pill.tags ?? []).slice(0, MOST_TAGS);
    const badges = [pill.more ? `+${pill.more}` : "", x.count > 1 ? `×${x.count}` : ""].filter(Boolean);
    const textWidth = [pill.text, ...badges].reduce((w, t) => w + this.measure(t), 6 * badges.length);
    const tagsWidth = tags.length ? 8 + tags.length * 12 - 3 : 0;
    const width = Math.ceil(9 + 8 + textWidth + tagsWidth + 9);
    const textX = -width / 2 + (left ? 17 : 9);

    const outline = document.createElementNS(SVG, "path");
    outline.setAttribute("d", shape(width, left));
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("x", String(textX));
    text.setAttribute("y", "4");
    text.textContent = pill.text;
    for (const badge of badges) {
      const span = document.createElementNS(SVG, "tspan");
      span.setAttribute("class", "pill-more");
      span.setAttribute("dx", "6");
      span.textContent = badge;
      text.append(span);
    }
    const squares = tags.map((tag, i) => this.#square(tag, textX + textWidth + 8 + i * 12));
    g.setAttribute(
      "class",
      `pill ${leg}${dim ? " dim" : ""}${x.held ? " held" : ""}${pill.error ? " error" : ""}`,
    );
    g.setAttribute("data-send", String(id));
    g.replaceChildren(outline, text, ...squares);
    return width;
  }

  /**
   * @param {string} tag
   * @param {number} x
   */
  #square(tag, x) {
    const colour = this.colourOf(tag);
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("class", colour === undefined ? "tag" : `tag p${colour % 6}`);
    rect.setAttribute("x", String(x));
    rect.setAttribute("y", "-4.5");
    rect.setAttribute("width", "9");
    rect.setAttribute("height", "9");
    rect.setAttribute("rx", "2");
    // A record keeps its producer's colour in whatever pill carries it.
    if (colour !== undefined) Object.assign(rect.style, { fill: `var(--p${colour % 6})`, stroke: "none" });
    return rect;
  }

  /**
   * @param {Sighting} x
   * @param {number} width
   * @param {boolean} still
   */
  #box(x, width, still) {
    const path = /** @type {LanePath} */ (this.paths.get(x.flight.path));
    const point = path.at(still ? 0.5 : x.progress);
    const half = Math.min(width, this.right) / 2;
    return { x: clamp(point.x, half, this.right - half), y: point.y, w: width, h: HEIGHT };
  }
}

/**
 * Both ends of a lane's path, from its id.
 * @param {string} id
 */
function ends(id) {
  return id.split("/").slice(-2);
}

/** @param {number} x */
function round(x) {
  return Math.round(x * 100) / 100;
}

/**
 * A pill around the origin, pointed where it travels to.
 * @param {number} width
 * @param {boolean} left
 */
function shape(width, left) {
  const l = -width / 2;
  const r = width / 2;
  return left
    ? `M${r - 6} -9H${l + 9}L${l} 0L${l + 9} 9H${r - 6}a6 6 0 0 0 6-6V-3a6 6 0 0 0-6-6z`
    : `M${l + 6} -9H${r - 9}L${r} 0L${r - 9} 9H${l + 6}a6 6 0 0 1-6-6V-3a6 6 0 0 1 6-6z`;
}

/** @param {SVGPathElement} path */
function tableOf(path) {
  const points = corners(path.getAttribute("d") ?? "");
  if (points) return new LanePath(points);
  const total = path.getTotalLength();
  return new LanePath(
    Array.from({ length: SAMPLES + 1 }, (_, i) => path.getPointAtLength((i / SAMPLES) * total)),
  );
}

/**
 * Measures texts away from the page, in the font that a pill's text has there:
 * asking the page itself would make it lay everything out again.
 * @param {Element | null} layer
 * @returns {(text: string) => number}
 */
function ruler(layer) {
  const context = document.createElement("canvas").getContext("2d");
  if (!layer || !context) return (text) => text.length * 6.4;
  const probe = document.createElementNS(SVG, "g");
  probe.setAttribute("class", "pill request");
  const text = probe.appendChild(document.createElementNS(SVG, "text"));
  layer.append(probe);
  const style = getComputedStyle(text);
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  probe.remove();
  /** @type {Map<string, number>} */
  const widths = new Map();
  return (t) => {
    let w = widths.get(t);
    if (w === undefined) widths.set(t, (w = context.measureText(t).width));
    return w;
  };
}
