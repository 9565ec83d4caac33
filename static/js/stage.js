// The stage: what Go drew, with the closed set of bindings that tie its parts to
// keys. They are compiled once; a frame then writes the keys that changed.

import { clamp } from "./search.js";

/** @import { Log, View } from "./fold.js" */

/** @typedef {(view: View) => void} Writer */

/**
 * What the stage needs to know of records: the colour index of a record's producer.
 * @typedef {(id: string) => number | undefined} ColourOf
 */

export class Stage {
  /**
   * @param {SVGSVGElement} svg
   * @param {ColourOf} colourOf
   */
  constructor(svg, colourOf) {
    this.svg = svg;
    this.colourOf = colourOf;
    /** @type {Map<string, Writer[]>} */ this.writers = new Map();
    /** @type {WeakMap<Element, Set<string>>} */ this.hidden = new WeakMap();
    for (const el of svg.querySelectorAll("*")) this.#compile(/** @type {SVGElement} */ (el));
  }

  /** @param {SVGElement} el */
  #compile(el) {
    const d = el.dataset;
    if (d.text) this.#bind([d.text], textWriter(el, d.text));
    if (d.class) this.#bind([d.class], classWriter(el, d.class));
    if (d.label) this.#bind([d.label], labelWriter(el, d.label));
    if (d.show) this.#bind([d.show], this.#showWriter(el, d.show));
    if (d.slot) this.#bind([d.slot, d.base], this.#slotWriter(el, d.slot));
    if (d.meter) this.#bind([d.meter], meterWriter(el, d.meter));
    if (d.log) this.#bind([d.log, d.base, d.hw], logWriter(el, d.log, this.colourOf));
  }

  /**
   * @param {(string | undefined)[]} keys
   * @param {Writer} writer
   */
  #bind(keys, writer) {
    for (const key of keys) {
      if (!key) continue;
      const list = this.writers.get(key);
      if (list) list.push(writer);
      else this.writers.set(key, [writer]);
    }
  }

  /**
   * Brings the stage to a view. `keys` are those that may differ from the last one
   * written, null for all.
   * @param {View} view
   * @param {Set<string> | null} keys
   */
  write(view, keys) {
    /** @type {Set<Writer>} */
    const due = new Set();
    if (keys === null) {
      for (const list of this.writers.values()) for (const w of list) due.add(w);
    } else {
      for (const key of keys) for (const w of this.writers.get(key) ?? []) due.add(w);
    }
    for (const w of due) w(view);
  }

  /**
   * An element may be hidden for more than one reason, and shows when none is left.
   * @param {Element} el
   * @param {string} reason
   * @param {boolean} hide
   */
  #hide(el, reason, hide) {
    let reasons = this.hidden.get(el);
    if (!reasons) this.hidden.set(el, (reasons = new Set()));
    if (hide) reasons.add(reason);
    else reasons.delete(reason);
    if (reasons.size) el.setAttribute("display", "none");
    else el.removeAttribute("display");
  }

  /**
   * @param {SVGElement} el
   * @param {string} key
   * @returns {Writer}
   */
  #showWriter(el, key) {
    const { is } = el.dataset;
    const inverted = "not" in el.dataset;
    return onChange(
      (view) => {
        const value = view.get(key);
        const holds = is === undefined ? isPresent(value) : format(value) === is;
        return holds !== inverted;
      },
      (shown) => this.#hide(el, "show", !shown),
    );
  }

  /**
   * @param {SVGElement} el
   * @param {string} key
   * @returns {Writer}
   */
  #slotWriter(el, key) {
    const slots = (el.dataset.slots ?? "").trim().split(/[\s,]+/);
    const { base } = el.dataset;
    return onChange(
      (view) => {
        const value = view.get(key);
        if (typeof value !== "number") return undefined;
        return slots[value - (base ? Number(view.get(base) ?? 0) : 0)];
      },
      (x) => {
        this.#hide(el, "slot", x === undefined);
        if (x !== undefined) el.setAttribute("transform", `translate(${x} 0)`);
      },
    );
  }

  /**
   * Dims the rows and nodes a chapter doesn't speak of. A part of the stage stays
   * clear when the chapter names it, something within it or something around it;
   * within a part that is dimmed nothing is dimmed again.
   * @param {readonly string[]} focus
   */
  focus(focus) {
    const named = new Set(focus);
    const parts = [...this.svg.querySelectorAll("[data-part], [data-node]")];
    // Where a chapter names partitions, the nodes that it names do not light up
    // their replicas of others.
    const rows = parts.some((el) => named.has(el.getAttribute("data-part") ?? ""));
    const isNamed = (/** @type {Element} */ el) => {
      const part = el.getAttribute("data-part");
      if (part !== null && (rows || named.has(part))) return named.has(part);
      return named.has(el.getAttribute("data-node") ?? "");
    };
    const clear = new Set(parts.filter(isNamed));
    this.#reveal([...clear]);
    /** What has something clear in it. @type {Set<Element>} */
    const around = new Set();
    for (const c of clear)
      for (let el = c.parentElement; el && !around.has(el); el = el.parentElement) around.add(el);
    const isIn = (/** @type {Element | null} */ el) => {
      while (el && !clear.has(el)) el = el.parentElement;
      return el !== null;
    };
    for (const el of parts) {
      const dim = clear.size > 0 && !around.has(el) && !isIn(el);
      const within = el.parentElement?.closest(".dimmed");
      el.classList.toggle("dimmed", dim && !within);
    }
  }

  /**
   * Scrolls a stage that is taller than its frame to what a chapter speaks of: all
   * of it if it fits, else its replicas.
   * @param {Element[]} clear
   */
  #reveal(clear) {
    const frame = this.svg.closest(".hw-stage");
    if (!frame || !clear.length || frame.scrollHeight <= frame.clientHeight) return;
    const start = frame.getBoundingClientRect().top;
    const span = (/** @type {Element[]} */ els) => {
      const boxes = els.map((el) => el.getBoundingClientRect());
      return [Math.min(...boxes.map((b) => b.top)) - start, Math.max(...boxes.map((b) => b.bottom)) - start];
    };
    const cards = clear.filter((el) => el.hasAttribute("data-part"));
    let [top, bottom] = span(clear);
    if (bottom - top > frame.clientHeight && cards.length) [top, bottom] = span(cards);
    frame.scrollTop += scrollBy(top, bottom, frame.clientHeight);
  }
}

/**
 * How far a frame has to scroll so that something is in view: not at all if it
 * is, to its start if it is taller than the frame.
 * @param {number} top of it, from the frame's upper edge
 * @param {number} bottom
 * @param {number} height of the frame
 */
export function scrollBy(top, bottom, height) {
  const margin = 8;
  if (bottom - top + 2 * margin > height || top < margin) return top - margin;
  return bottom + margin > height ? bottom + margin - height : 0;
}

/**
 * A writer that reads a value and writes it only where it differs from the last.
 * @template T
 * @param {(view: View) => T} read
 * @param {(value: T) => void} write
 * @returns {Writer}
 */
function onChange(read, write) {
  /** @type {unknown} */
  let last = onChange;
  return (view) => {
    const value = read(view);
    if (value === last) return;
    last = value;
    write(value);
  };
}

/** @param {any} value */
function isPresent(value) {
  return value !== null && value !== undefined && value !== false && value !== "";
}

/** @param {any} value */
function format(value) {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(",") : String(value);
}

/**
 * @param {SVGElement} el
 * @param {string} key
 */
function textWriter(el, key) {
  const { prefix = "", suffix = "", none = "", say = "" } = el.dataset;
  /** Other words for some values: "leader=main;follower=copy". @type {Map<string, string>} */
  const words = new Map(
    say ? say.split(";").map((pair) => /** @type {[string, string]} */ (pair.split("="))) : [],
  );
  return onChange(
    (view) => {
      const value = view.get(key);
      const text = format(value);
      return isPresent(value) || value === false ? prefix + (words.get(text) ?? text) + suffix : none;
    },
    (text) => {
      el.textContent = text;
    },
  );
}

/**
 * @param {SVGElement} el
 * @param {string} key
 */
function classWriter(el, key) {
  let last = "";
  return onChange(
    (view) => format(view.get(key)).replace(/[^\w-]+/g, "-"),
    (value) => {
      if (last) el.classList.remove(last);
      last = value ? `is-${value}` : "";
      if (last) el.classList.add(last);
    },
  );
}

/**
 * @param {SVGElement} el
 * @param {string} key
 */
function labelWriter(el, key) {
  const drawn = el.getAttribute("aria-label");
  return onChange(
    (view) => format(view.get(key)),
    (text) => {
      const label = text || drawn;
      if (label) el.setAttribute("aria-label", label);
    },
  );
}

/**
 * @param {SVGElement} el
 * @param {string} key
 */
function meterWriter(el, key) {
  const stroked = el.hasAttribute("pathLength");
  const x = Number(el.getAttribute("x") ?? 0);
  return onChange(
    (view) => clamp(Number(view.get(key) ?? 0), 0, 1),
    (v) => {
      if (stroked) el.setAttribute("stroke-dashoffset", String(1 - v));
      else el.setAttribute("transform", `translate(${x * (1 - v)} 0) scale(${v} 1)`);
    },
  );
}

/**
 * @param {SVGElement} el
 * @param {string} key
 * @param {ColourOf} colourOf
 * @returns {Writer}
 */
function logWriter(el, key, colourOf) {
  const { base, hw } = el.dataset;
  const cells = [...el.querySelectorAll(".cell")].map((g) => cellWriter(g, colourOf));
  return (view) => {
    const log = view.log(key);
    const first = base ? Number(view.get(base) ?? 0) : log.start;
    const mark = hw ? view.get(hw) : null;
    for (const cell of cells) cell(log, first, typeof mark === "number" ? mark : null);
  };
}

/**
 * One cell of a log's window: whose record it is, whether the replica knows it
 * to be committed, and the leader epoch it was written in.
 * @param {Element} g
 * @param {ColourOf} colourOf
 * @returns {(log: Log, base: number, hw: number | null) => void}
 */
function cellWriter(g, colourOf) {
  const i = Number(g.getAttribute("data-i") ?? 0);
  const setClass = attributeWriter(g, "class");
  const setTag = contentWriter(g.querySelector(".cell-tag"));
  const setOffset = contentWriter(g.querySelector(".cell-offset"));
  const setEpoch = attributeWriter(g.querySelector(".cell-epoch"), "class");
  return (log, base, hw) => {
    const offset = base + i;
    const entry = log.entry(offset);
    if (!entry) {
      setClass("cell empty");
      setTag("");
      setOffset("");
      setEpoch("cell-epoch");
      return;
    }
    const colour = colourOf(entry.id);
    const classes = ["cell"];
    classes.push(colour === undefined ? "px" : `p${colour % 6}`);
    if (hw !== null && offset >= hw) classes.push("above-hw");
    classes.push(...entry.flags);
    setClass(classes.join(" "));
    setTag(entry.id);
    setOffset(String(offset));
    setEpoch(`cell-epoch e${entry.epoch % 3}`);
  };
}

/**
 * @param {Element | null} el
 * @param {string} name
 */
function attributeWriter(el, name) {
  let last = el?.getAttribute(name);
  return (/** @type {string} */ value) => {
    if (!el || value === last) return;
    last = value;
    el.setAttribute(name, value);
  };
}

/** @param {Element | null} el */
function contentWriter(el) {
  let last = el?.textContent;
  return (/** @type {string} */ value) => {
    if (!el || value === last) return;
    last = value;
    el.textContent = value;
  };
}
