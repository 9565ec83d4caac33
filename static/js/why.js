// The panel "Why?": the chain of causes of one event, and what it led to.

import { chain } from "./causes.js";
import { button, family, make } from "./dom.js";
import { formatClock } from "./story.js";

/** @import { Host, Pane } from "./drawer.js" */
/** @import { Link } from "./causes.js" */
/** @import { Ev } from "./types.js" */

/** What led to an event is read whole; what it led to is cut here and opened on demand. */
const FIRST = 12;

/**
 * @param {HTMLElement} box
 * @param {Host} host
 * @returns {Pane}
 */
export function open(box, host) {
  return new Why(box, host);
}

class Why {
  /**
   * @param {HTMLElement} box
   * @param {Host} host
   */
  constructor(box, host) {
    this.box = box;
    this.host = host;
    /** The event that is explained. */
    this.n = 0;
    /** The cursor that was last shown. */
    this.at = -1;
    /** @type {Map<number, HTMLElement[]>} */ this.rows = new Map();
  }

  /** @param {import("./pick.js").Picked} picked */
  pick(picked) {
    if (picked.type === "event") this.#explain(picked.n);
  }

  grow() {
    if (this.n) this.#explain(this.n);
  }

  /**
   * The panel stays with its event while the reader jumps among its links, and
   * goes along with any other move. What passes while it plays is not explained.
   */
  write() {
    const { n, phase } = this.host.state();
    if (n === this.at || (phase === "playing" && this.n)) return;
    const before = this.at;
    this.at = n;
    const followed = this.n === 0 || !this.rows.has(n);
    if (followed && !(before < 0 && this.n)) this.#explain(n);
    else this.#mark();
  }

  /** @param {number} n */
  #explain(n) {
    const { fold } = this.host.model();
    const event = fold.event(n);
    if (!event) return;
    this.n = n;
    this.rows.clear();
    const { links, begins } = chain(event, (x) => fold.event(x));
    const up = make("ol", { class: "hw-chain", "aria-label": "Why, the nearest reason first" });
    for (const link of links) {
      if (link.hops) up.append(this.#background(link.hops));
      up.append(this.#link(link.event, link.missing ? "What kept something away" : ""));
    }
    if (begins) up.append(this.#background(begins));
    const last = links.at(-1)?.event ?? event;
    const children = this.host.effects().of(n);
    this.box.replaceChildren(
      make("p", { class: "hw-why-at" }, clock(event.t), ` · event ${n}`),
      make("h2", { class: `hw-why-say ${family(event.kind)}`, text: event.say ?? event.kind }),
      this.#tools(event),
      make("h3", { text: "Why?" }),
      ...(links.length || begins ? [up] : []),
      make("p", { class: "hw-why-end", text: beginning(last, begins > 0) }),
      make("h3", { text: "What next" }),
      ...(children.length
        ? [this.#effects(children, FIRST)]
        : [make("p", { class: "hw-why-end", text: "Nothing followed from it." })]),
    );
    this.#mark();
  }

  /** @param {Ev} event */
  #tools(event) {
    const go = button("Go there", () => this.host.dispatch({ type: "event", n: event.n }), {
      "aria-label": `Go there, event ${event.n}`,
    });
    this.rows.set(event.n, [go]);
    const copy = button("Copy", () => this.host.copy(this.#text(event), "The reasons were copied."), {
      "aria-label": "Copy the reasons as text",
    });
    const tools = make("div", { class: "hw-tools" }, go, copy);
    if (event.msg) {
      const what = event.kind.startsWith("response") ? "Open the response" : "Open the request";
      tools.append(button(what, () => this.host.pick({ type: "event", n: event.n }, "inspect")));
    }
    return tools;
  }

  /** @param {Ev} event */
  #text(event) {
    const { fold } = this.host.model();
    const { links } = chain(event, (x) => fold.event(x));
    return [{ event, hops: 0, missing: false }, ...links].map(line).join("\n");
  }

  /**
   * @param {Ev} e
   * @param {string} note
   * @param {number} [more] events that followed from it
   */
  #link(e, note, more = 0) {
    const jump = button("", () => this.host.dispatch({ type: "event", n: e.n }), {
      class: `hw-jump ${family(e.kind)}`,
    });
    if (note) jump.append(make("span", { class: "hw-jump-note", text: note }));
    jump.append(make("span", { class: "hw-jump-say", text: e.say ?? e.kind }));
    jump.append(
      make(
        "span",
        { class: "hw-jump-at" },
        clock(e.t),
        more ? ` · ${more === 999 ? "999 or more" : more} followed` : "",
      ),
    );
    const rows = this.rows.get(e.n);
    if (rows) rows.push(jump);
    else this.rows.set(e.n, [jump]);
    const ask = button("?", () => this.#explain(e.n), {
      class: "hw-ask-why",
      "aria-label": `Why event ${e.n}?`,
      title: "Explain this event",
    });
    return make("li", {}, jump, ask);
  }

  /**
   * @param {readonly Ev[]} children
   * @param {number} most
   */
  #effects(children, most) {
    const effects = this.host.effects();
    const list = make("ul", { class: "hw-chain", "aria-label": "What it led to" });
    for (const e of children.slice(0, most)) list.append(this.#link(e, "", effects.count(e.n)));
    if (children.length > most) {
      const rest = children.length - most;
      const more = button(`${rest} more`, () => {
        const whole = this.#effects(children, children.length);
        list.replaceWith(whole);
        /** @type {HTMLElement | undefined} */ (whole.querySelectorAll("button")[2 * most])?.focus();
        this.#mark();
      });
      list.append(make("li", {}, more));
    }
    return list;
  }

  /** @param {number} hops */
  #background(hops) {
    const what = hops === 1 ? "1 background event" : `${hops} background events`;
    return make("li", { class: "hw-chain-hops", text: `${what} (idle fetches, heartbeats) in between` });
  }

  /** Marks the link on which the cursor stands. */
  #mark() {
    for (const [n, rows] of this.rows) {
      for (const row of rows) {
        if (n === this.at) row.setAttribute("aria-current", "true");
        else row.removeAttribute("aria-current");
      }
    }
  }
}

/** @param {number} t */
function clock(t) {
  return make("span", { class: "hw-num", text: formatClock(t) });
}

/** @param {Link} link */
function line({ event, hops, missing }) {
  const note = [hops ? `after ${hops} background events` : "", missing ? "this kept something away" : ""];
  const notes = note.filter(Boolean).join(", ");
  return `${event.n}\t${formatClock(event.t)}\t${event.say ?? event.kind}${notes ? ` (${notes})` : ""}`;
}

/**
 * What stands at the end of a chain.
 * @param {Ev} last
 * @param {boolean} background whether it goes on in the background track
 */
export function beginning(last, background) {
  if (background) return "It began in the background, with a timer that runs all the time.";
  if (last.kind === "action") return "It began there: the outside world did this.";
  if (last.kind === "boot") return "It began there: the cluster as the run finds it.";
  return "It began there: a timer that runs all the time.";
}
