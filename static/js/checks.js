// The panel "Checks": what the scenario expects and what must always hold, with its
// state at the cursor.

import { button, make } from "./dom.js";

/** @import { Host, Pane } from "./drawer.js" */
/** @import { Verdict } from "./types.js" */

/**
 * The state of a check at an event: an expectation is open until its moment, an
 * invariant holds until the event that breaks it.
 * @param {{ok: boolean, n: number}} check
 * @param {number} n
 * @param {boolean} always an invariant
 * @returns {"open" | "holds" | "fails"}
 */
export function stateAt(check, n, always) {
  if (always) return !check.ok && n >= check.n ? "fails" : "holds";
  if (n < check.n) return "open";
  return check.ok ? "holds" : "fails";
}

const SIGN = { open: "○ not yet", holds: "✓ holds", fails: "✗ fails" };

/**
 * @param {HTMLElement} box
 * @param {Host} host
 * @returns {Pane}
 */
export function open(box, host) {
  return new Checks(box, host);
}

class Checks {
  /**
   * @param {HTMLElement} box
   * @param {Host} host
   */
  constructor(box, host) {
    this.box = box;
    this.host = host;
    /** @type {Verdict | null} */ this.verdict = null;
    /** @type {{el: HTMLElement, check: {ok: boolean, n: number}, always: boolean, shown: string}[]} */
    this.items = [];
    box.append(make("p", { text: "The checks come with the end of the run." }));
  }

  write() {
    const verdict = this.host.verdict();
    if (!verdict) return;
    if (verdict !== this.verdict) this.#draw(verdict);
    const { n } = this.host.state();
    for (const item of this.items) {
      const state = stateAt(item.check, n, item.always);
      if (state === item.shown) continue;
      item.shown = state;
      item.el.textContent = SIGN[state];
      item.el.className = `hw-check is-${state}`;
    }
  }

  /** @param {Verdict} verdict */
  #draw(verdict) {
    this.verdict = verdict;
    this.items = [];
    const section = (
      /** @type {string} */ title,
      /** @type {{text: string, ok: boolean, n: number}[]} */ list,
      /** @type {boolean} */ always,
    ) => {
      const ul = make("ul", { class: "hw-checks" });
      for (const check of list) {
        const el = make("span", { class: "hw-check" });
        this.items.push({ el, check, always, shown: "" });
        const li = make("li", {}, el);
        if (check.n > 0)
          li.append(
            button(check.text, () => this.host.dispatch({ type: "event", n: check.n }), { class: "hw-jump" }),
          );
        else li.append(make("span", { text: check.text }));
        ul.append(li);
      }
      return [make("h3", { text: title }), ul];
    };
    this.box.replaceChildren(
      ...section(
        "What this scenario expects",
        (verdict.expect ?? []).map((x) => ({ text: x.say, ok: x.ok, n: x.n })),
        false,
      ),
      ...section(
        "What must hold at every event",
        (verdict.invariants ?? []).map((x) => ({ text: x.name, ok: x.ok, n: x.n })),
        true,
      ),
    );
  }
}
