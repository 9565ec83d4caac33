// The drawer beside the stage. Each of its panels is a module that is loaded when
// it is first opened, so that the first picture waits for none of them.

/** @import { State, Model, Command } from "./player.js" */
/** @import { Chatter } from "./chatter.js" */
/** @import { Effects } from "./causes.js" */
/** @import { Run, Verdict } from "./types.js" */

/**
 * What a panel may ask of the player it belongs to.
 * @typedef {object} Host
 * @property {() => Model} model
 * @property {() => State} state
 * @property {() => Run | null} run
 * @property {() => Verdict | null} verdict
 * @property {() => Effects} effects
 * @property {() => import("./flights.js").Sighting[]} flights the messages in the air at the cursor
 * @property {Chatter} chatter
 * @property {(command: Command) => void} dispatch
 * @property {(picked: import("./pick.js").Picked, panel?: string) => void} pick shows an event or a thing in a panel, "why" unless named
 * @property {(text: string, said: string) => void} copy
 * @property {(text: string) => void} say
 */

/**
 * A panel that has been opened once.
 * @typedef {object} Pane
 * @property {() => void} write brings it to the cursor; called in each frame while it is open
 * @property {() => void} [grow] more events have come
 * @property {(picked: import("./pick.js").Picked) => void} [pick]
 */

/** @typedef {{open: (box: HTMLElement, host: Host) => Pane}} PaneModule */

/** @type {Record<string, () => Promise<PaneModule>>} */
const MODULES = {
  why: () => import("./why.js"),
  inspect: () => import("./inspect.js"),
  events: () => import("./log.js"),
  lag: () => import("./lag.js"),
  checks: () => import("./checks.js"),
  table: () => import("./table.js"),
};

export class Drawer {
  /**
   * @param {HTMLElement} root of the player
   * @param {Host} host
   */
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.box = /** @type {HTMLElement | null} */ (root.querySelector(".hw-side"));
    /** @type {HTMLElement[]} */
    this.tabs = [...root.querySelectorAll("[data-tab]")].map((x) => /** @type {HTMLElement} */ (x));
    /** @type {Map<string, Pane>} */ this.panes = new Map();
    /** The panel that is open or was last; "" before the first. */
    this.name = "";
    /** What to show as soon as the module has come. @type {import("./pick.js").Picked | null} */
    this.picked = null;
    this.#listen();
  }

  get open() {
    return this.box !== null && !this.box.hidden;
  }

  #listen() {
    for (const tab of this.tabs) tab.addEventListener("click", () => this.show(nameOf(tab)));
    this.box?.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        e.preventDefault();
        e.stopPropagation();
        this.close();
      } else this.#move(e);
    });
  }

  /**
   * Arrows go from tab to tab and, within a panel, up and down its buttons.
   * @param {KeyboardEvent} e
   */
  #move(e) {
    const at = /** @type {HTMLElement} */ (e.target);
    const tab = this.tabs.indexOf(at);
    const along = tab >= 0 ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const by = along.indexOf(e.key) * 2 - 1;
    if (!along.includes(e.key)) return;
    const list = /** @type {HTMLElement[]} */ (
      tab >= 0 ? this.tabs : [...(at.closest("[role=tabpanel]")?.querySelectorAll("button") ?? [])]
    );
    const to = list[list.indexOf(at) + by];
    if (!list.includes(at) || !to) return;
    e.preventDefault();
    e.stopPropagation();
    to.focus();
    if (tab >= 0) this.show(nameOf(to));
  }

  /**
   * Opens a panel, or closes the drawer where that panel is open.
   * @param {string} name
   */
  toggle(name) {
    if (this.open && this.name === name) this.close();
    else this.show(name);
  }

  /**
   * @param {string} name
   * @param {import("./pick.js").Picked} [picked]
   */
  show(name, picked) {
    if (!this.box || !(name in MODULES)) return;
    const before = this.open ? this.name : "";
    this.name = name;
    this.box.hidden = false;
    if (picked) this.picked = picked;
    for (const tab of this.tabs) {
      const on = nameOf(tab) === name;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      const panel = this.#section(nameOf(tab));
      if (panel) panel.hidden = !on;
      if (on && before !== name) this.host.say(`${tab.textContent?.trim()}: opened.`);
    }
    this.#buttons();
    if (this.panes.has(name)) this.write();
    else this.#load(name);
  }

  /** @param {string} name */
  async #load(name) {
    const box = this.#section(name);
    if (!box) return;
    box.setAttribute("aria-busy", "true");
    try {
      const { open } = await MODULES[name]();
      if (!this.panes.has(name)) this.panes.set(name, open(box, this.host));
      this.write();
    } catch {
      box.textContent = "This panel could not be loaded. Close it and open it again.";
    }
    box.removeAttribute("aria-busy");
  }

  close() {
    if (!this.box || !this.open) return;
    const within = this.box.contains(document.activeElement);
    this.box.hidden = true;
    this.#buttons();
    // The keys go on to work where they did.
    if (within) this.root.focus({ preventScroll: true });
  }

  #buttons() {
    for (const el of this.root.querySelectorAll("[data-opens]")) {
      const on = this.open && el.getAttribute("data-opens") === this.name;
      el.setAttribute("aria-expanded", String(on));
    }
  }

  /** Brings the open panel to the cursor. */
  write() {
    const pane = this.open ? this.panes.get(this.name) : undefined;
    if (!pane || this.host.state().phase === "idle") return;
    if (this.picked) {
      const { picked } = this;
      this.picked = null;
      pane.pick?.(picked);
    }
    pane.write();
  }

  grow() {
    for (const pane of this.panes.values()) pane.grow?.();
  }

  /** @param {string} name */
  #section(name) {
    return /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-panel="${name}"]`));
  }
}

/** @param {HTMLElement} tab */
function nameOf(tab) {
  return tab.dataset.tab ?? "";
}
