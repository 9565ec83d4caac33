// One player: commands come in, the state follows, the page is written. All of
// it happens in one frame loop, in that order.

import { Effects } from "./causes.js";
import { Chatter } from "./chatter.js";
import { Drawer } from "./drawer.js";
import { Flights } from "./flights.js";
import { Fold } from "./fold.js";
import { commandFor } from "./keys.js";
import { formatLink, linkTo, parseLink } from "./links.js";
import { Panel } from "./panel.js";
import { picked } from "./pick.js";
import { Pills } from "./pills.js";
import { chapterAt, IDLE, timeAt, transition } from "./player.js";
import { Predict } from "./predict.js";
import { Rings } from "./rings.js";
import { offlineSource, socketSource } from "./source.js";
import { Stage } from "./stage.js";
import { Story } from "./story.js";
import { nextTheme } from "./theme.js";
import { Timeline, timeOf } from "./timeline.js";

/** @import { KeyCommand } from "./keys.js" */
/** @import { Link } from "./links.js" */
/** @import { Command, Model } from "./player.js" */
/** @import { Boot, Ev, Run, Verdict } from "./types.js" */

/** A tab that slept doesn't leap ahead when it wakes. */
const LONGEST_FRAME = 100;

/**
 * @typedef {object} Options
 * @property {boolean} manual whether time moves only by `tick`
 * @property {boolean} paused
 * @property {Link | null} link where to start
 * @property {number | null} start a story time to start at
 * @property {boolean} addressed whether the page's address follows this player
 */

export class App {
  /**
   * @param {HTMLElement} root
   * @param {Boot} boot
   * @param {Options} options
   */
  constructor(root, boot, options) {
    this.root = root;
    this.boot = boot;
    this.options = options;
    this.state = IDLE;
    /** @type {Model} */
    this.model = { fold: new Fold(), story: new Story([]), chapters: [], complete: false };
    this.flights = new Flights();
    /** @type {Run | null} */ this.run = null;
    /** @type {Command[]} */ this.queue = [];
    /** Where the reader wants to be before those events have come. @type {Link | null} */
    this.pending = options.link;
    this.startAt = options.start;
    this.autoplay = !options.paused;
    /** @type {Map<string, number>} */ this.colours = new Map();
    /** @type {Stage | null} */ this.stage = null;
    /** @type {Pills | null} */ this.pills = null;
    /** The event that the stage shows; -1 when all of it is to be written. */
    this.shown = -1;
    this.chapter = -2;
    /** A question that has just stopped the play. */
    this.asked = "";
    this.scheduled = false;
    /** @type {number | null} */ this.before = null;
    this.times = { input: 0, state: 0, write: 0 };
    this.layout = boot.layout ?? root.dataset.layout ?? "wide";
    /** Replicas opened where a column shows them in short. @type {string[]} */
    this.opened = [];
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    if (this.still.matches) this.autoplay = false;
    this.still.addEventListener("change", () => this.request());
    /** @type {{promise: Promise<void>, resolve: () => void, reject: (e: Error) => void}} */
    this.ready = deferred();

    this.panel = new Panel(root);
    const bar = /** @type {HTMLElement | null} */ (root.querySelector(".hw-timeline"));
    this.timeline =
      bar &&
      new Timeline(
        bar,
        (c) => this.dispatch(c),
        (text) => this.panel.say(text),
      );
    /** @type {import("./map.js").TimelineMap | null} */ this.map = null;
    this.effects = new Effects();
    this.chatter = new Chatter((from, to) => this.source.chatter(from, to));
    /** @type {Verdict | null} */ this.verdict = null;
    this.drawer = new Drawer(root, this.#host());
    this.predict = new Predict(root, {
      dispatch: (command) => this.dispatch(command),
      say: (text) => this.panel.say(text),
    });
    this.#bindStage();
    this.#listen();
    const sink = {
      run: (/** @type {Run} */ r) => this.#onRun(r),
      events: (/** @type {Ev[]} */ e) => this.#onEvents(e),
      chatter: (/** @type {import("./chatter.js").ChatterMessage} */ m) => this.chatter.take(m),
      end: (/** @type {Verdict} */ v) => this.#onEnd(v),
      stage: (/** @type {string} */ svg) => this.#onStage(svg),
      error: (/** @type {import("./types.js").Failure} */ f) => {
        this.panel.fail(f);
        this.ready.reject(new Error(f.message));
      },
      waiting: (/** @type {boolean} */ on) =>
        this.panel.fail(on ? { message: "The connection was lost. Trying again…" } : null),
    };
    const where = () => ({ layout: this.layout, from: this.model.fold.last });
    /** @type {import("./source.js").Source} */
    this.source = boot.offline ? offlineSource(boot, sink) : socketSource(boot, sink, where);
  }

  start() {
    this.source.open();
    this.#watchWidth();
  }

  /** What panels may ask of this player. @returns {import("./drawer.js").Host} */
  #host() {
    return {
      model: () => this.model,
      state: () => this.state,
      run: () => this.run,
      verdict: () => this.verdict,
      effects: () => this.effects,
      flights: () => this.flights.at(this.state.n, this.time()),
      chatter: this.chatter,
      dispatch: (command) => this.dispatch(command),
      pick: (what, panel) => this.#pick(what, panel),
      copy: (text, said) => this.#copy(text, said),
      say: (text) => this.panel.say(text),
    };
  }

  // Input.

  /** @param {Command} command */
  dispatch(command) {
    this.queue.push(command);
    if (this.state.phase !== "idle" && !/^(tick|speed|clock|loop)$/.test(command.type)) {
      this.pending = this.startAt = null;
    }
    this.request();
  }

  /** @param {KeyCommand} command */
  #act(command) {
    if (command.type === "panel") this.drawer.toggle(command.name);
    else if (command.type === "press") this.#press(command.name);
    else if (command.type === "zoom") this.timeline?.zoom(command.by);
    else if (command.type === "loop-end") this.#setLoop(command.end);
    else this.dispatch(command);
  }

  #listen() {
    const { root } = this;
    root.addEventListener("click", (e) => {
      const target = /** @type {Element} */ (e.target);
      const button = target.closest("[data-cmd]");
      if (button) this.#press(button.getAttribute("data-cmd") ?? "");
      else if (target.closest("[data-open]"))
        this.#open(/** @type {Element} */ (target.closest("[data-open]")));
      else if (target.closest(".hw-stage") && !target.closest("a")) this.#onStageClick(target);
    });
    root.addEventListener("keydown", (e) => {
      const card = /** @type {Element} */ (e.target).closest("[data-open]");
      if (card && (e.key === "Enter" || e.key === " ")) {
        e.preventDefault();
        this.#open(card);
        return;
      }
      const command = e.defaultPrevented ? null : commandFor(e, placeOf(/** @type {Element} */ (e.target)));
      if (!command) return;
      e.preventDefault();
      this.#act(command);
    });
    // A click anywhere in the player brings the keys to it; on a page of its own it
    // has them from the start.
    if (!root.hasAttribute("tabindex")) root.tabIndex = -1;
    if (root.dataset.embed !== "true" && document.activeElement === document.body)
      root.focus({ preventScroll: true });
    if (this.options.addressed) {
      window.addEventListener("hashchange", () => this.go(parseLink(location.hash)));
    }
    for (const el of root.querySelectorAll('[data-cmd="fullscreen"]')) {
      if (!document.fullscreenEnabled) /** @type {HTMLElement} */ (el).hidden = true;
    }
  }

  /** @param {string} name */
  #press(name) {
    /** @type {Record<string, () => void>} */
    const commands = {
      play: () => this.dispatch({ type: "toggle" }),
      back: () => this.dispatch({ type: "step", by: -1 }),
      forward: () => this.dispatch({ type: "step", by: 1 }),
      "prev-chapter": () => this.dispatch({ type: "chapter", by: -1 }),
      "next-chapter": () => this.dispatch({ type: "chapter", by: 1 }),
      slower: () => this.dispatch({ type: "speed", by: -1 }),
      faster: () => this.dispatch({ type: "speed", by: 1 }),
      clock: () => this.#switchClock(),
      loop: () => this.#toggleLoop(),
      map: () => this.#toggleMap(),
      "zoom-in": () => this.timeline?.zoom(1),
      "zoom-out": () => this.timeline?.zoom(-1),
      "zoom-whole": () => this.timeline?.zoom(0),
      events: () => this.drawer.toggle("events"),
      why: () => this.drawer.toggle("why"),
      inspect: () => this.drawer.toggle("inspect"),
      lag: () => this.drawer.toggle("lag"),
      checks: () => this.drawer.toggle("checks"),
      table: () => this.drawer.toggle("table"),
      "close-side": () => this.drawer.close(),
      help: () => this.#toggleHelp(),
      link: () => this.#copyLink(),
      fullscreen: () => this.#toggleFullscreen(),
      ask: () => {
        this.predict.switch();
        this.request();
      },
      theme: () => this.panel.say(`Theme: ${nextTheme()}`),
    };
    commands[name]?.();
  }

  #switchClock() {
    this.dispatch({ type: "clock" });
    this.panel.say(this.state.real ? "Story clock" : "Real time: no dwells and no folds");
  }

  /** The chapter at the cursor again and again, or no loop any more. */
  #toggleLoop() {
    const { state, model } = this;
    if (state.phase === "idle") return;
    if (state.loop) this.dispatch({ type: "loop", range: null });
    else {
      const { chapters, story } = model;
      const i = chapterAt(chapters, state.n);
      const start = (/** @type {number} */ k) =>
        chapters[k] && story.s(chapters[k].n, timeOf(model, chapters[k].n));
      this.dispatch({ type: "loop", range: [start(i) ?? story.start, start(i + 1) ?? story.end] });
    }
    this.panel.say(
      state.loop
        ? "No loop"
        : `Loop over ${model.chapters[chapterAt(model.chapters, state.n)]?.title ?? "the start"}`,
    );
  }

  /**
   * Puts an end of the loop at the cursor.
   * @param {"from" | "to"} end
   */
  #setLoop(end) {
    const { state, model } = this;
    if (state.phase === "idle") return;
    const [a, b] = state.loop ?? [model.story.start, model.story.end];
    const { s } = state;
    this.dispatch({ type: "loop", range: end === "from" ? [s, Math.max(b, s)] : [Math.min(a, s), s] });
    this.panel.say(end === "from" ? "The loop begins here" : "The loop ends here");
  }

  async #toggleMap() {
    const box = /** @type {HTMLElement | null} */ (this.root.querySelector(".hw-map"));
    const { timeline } = this;
    if (!box || !timeline) return;
    box.hidden = !box.hidden;
    for (const el of this.root.querySelectorAll('[data-cmd="map"]'))
      el.setAttribute("aria-expanded", String(!box.hidden));
    if (!this.map && !box.hidden) {
      const { TimelineMap } = await import("./map.js");
      this.map ??= new TimelineMap(box, timeline, {
        model: () => this.model,
        run: () => this.run,
        go: (n) => this.dispatch({ type: "event", n }),
      });
    }
    this.map?.draw();
    this.panel.say(box.hidden ? "Map: closed." : "Map: opened.");
  }

  /**
   * Opens a replica that is drawn in short, or closes it again.
   * @param {Element} card
   */
  #open(card) {
    const name = card.getAttribute("data-open") ?? "";
    const open = this.opened.includes(name) ? this.opened.filter((x) => x !== name) : [...this.opened, name];
    if (this.source.layout(this.layout, open)) this.opened = open;
  }

  /**
   * A click on something explains it; beside everything it plays or pauses.
   * @param {Element} target
   */
  #onStageClick(target) {
    const what = picked(target, this.model.fold, this.state.n);
    if (what) this.#pick(what, what.type === "event" ? "why" : "inspect");
    else this.dispatch({ type: "toggle" });
  }

  /**
   * @param {import("./pick.js").Picked} what
   * @param {string} [panel]
   */
  #pick(what, panel = "why") {
    this.dispatch({ type: "pause" });
    this.drawer.show(panel, what);
  }

  #toggleHelp() {
    const help = this.root.querySelector(".hw-help");
    if (!(help instanceof HTMLDialogElement)) return;
    if (help.open) return help.close();
    help.showModal();
    // From its top, not from the button at its end.
    help.querySelector("h2")?.focus();
  }

  #toggleFullscreen() {
    const done = document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen?.();
    done?.catch(() => this.panel.say("This page may not use the whole screen."));
  }

  #copyLink() {
    const url = location.href.replace(/#.*$/, "") + formatLink(linkTo(this.state.n, this.model.chapters));
    this.#copy(url, "The link was copied.", url);
  }

  /**
   * A frame without the right to the clipboard shows the text instead.
   * @param {string} text
   * @param {string} said
   * @param {string} [shown]
   */
  async #copy(text, said, shown = "This page may not use the clipboard.") {
    try {
      await navigator.clipboard.writeText(text);
      this.panel.say(said);
    } catch {
      this.panel.say(shown);
    }
  }

  /**
   * Goes to a linked moment, now or when it has come.
   * @param {Link | null} link
   */
  go(link) {
    if (!link) return;
    this.pending = link;
    this.startAt = null;
    this.autoplay = false;
    this.#resolvePending();
  }

  /**
   * Before its events have come a linked moment stays pending; after the end an unknown
   * one is forgotten.
   */
  #resolvePending() {
    const { fold, story, chapters, complete } = this.model;
    if (this.state.phase === "idle") return;
    if (this.startAt !== null) {
      const s = this.startAt;
      const last = fold.events[fold.events.length - 1];
      if (!complete && story.s(last.n, last.t) < s) return;
      this.dispatch({ type: "seek", s });
    } else if (this.pending) {
      const link = this.pending;
      const chapter = link.kind === "chapter" ? chapters.find((c) => c.id === link.id) : null;
      let n = link.kind === "event" ? link.n : (chapter?.n ?? 0);
      if (link.kind === "time") {
        if (!complete && (fold.ts[fold.ts.length - 1] ?? 0) <= link.t) return;
        n = Math.max(fold.lastAt(link.t), fold.ns[0]);
      } else if (!complete && fold.last < n) return;
      this.pending = null;
      if (n > 0) this.dispatch({ type: "event", n });
    }
    if (this.autoplay) this.dispatch({ type: "play" });
    this.autoplay = false;
  }

  // What comes from the source.

  /** @param {Run} run */
  #onRun(run) {
    const again = this.run?.id === run.id && this.model.fold.last > 0;
    this.run = run;
    this.panel.fail(null);
    if (again) return;
    this.effects = new Effects();
    const colours = run.producers ?? {};
    for (const [id, producer] of run.records ?? []) {
      if (producer in colours) this.colours.set(id, colours[producer]);
    }
    const { fold } = this.model;
    const story = new Story(run.story ?? [], run.folds ?? []);
    this.model = { fold, story, chapters: run.chapters ?? [], complete: false };
    this.panel.introduce(run);
    this.predict.set(this.model.chapters);
    this.timeline?.set(this.model, (c) => this.dispatch({ type: "event", n: c.n }));
    this.#bindStage();
    this.request();
  }

  /** @param {Ev[]} events */
  #onEvents(events) {
    const fresh = this.model.fold.feed(events.filter((e) => !e.chatter));
    if (!fresh.length) return;
    this.flights.feed(fresh);
    this.effects.feed(fresh);
    this.drawer.grow();
    if (this.state.phase === "idle") {
      this.dispatch({ type: "loaded" });
      this.#input(0);
    }
    this.#resolvePending();
    this.request();
  }

  /** @param {Verdict} verdict */
  #onEnd(verdict) {
    this.model.complete = true;
    this.verdict = verdict;
    this.timeline?.verdict(verdict);
    this.map?.grow();
    this.panel.verdict(verdict, (n) => this.dispatch({ type: "event", n }));
    this.#resolvePending();
    this.frame(0);
    this.ready.resolve();
  }

  /** @param {string} svg */
  #onStage(svg) {
    const box = this.root.querySelector(".hw-stage");
    if (!box) return;
    const template = document.createElement("template");
    template.innerHTML = svg;
    box.replaceChildren(template.content);
    this.#bindStage();
    this.request();
  }

  #bindStage() {
    const svg = /** @type {SVGSVGElement | null} */ (this.root.querySelector(".hw-stage > svg"));
    if (!svg) return;
    const colourOf = (/** @type {string} */ id) => this.colours.get(id);
    this.stage = new Stage(svg, colourOf);
    this.pills = new Pills(svg, colourOf);
    this.rings = new Rings(svg, this.run?.countdowns ?? []);
    // A wide stage may use all the height there is, and is never drawn smaller than
    // it was laid out.
    if (svg.dataset.layout === "wide") svg.style.maxHeight = `max(100%, ${svg.viewBox.baseVal.height}px)`;
    this.shown = -1;
    this.chapter = -2;
  }

  /** Asks for the layout that fits, each at its lower bound and only scaled up. */
  #watchWidth() {
    const box = this.root.querySelector(".hw-stage");
    if (!box || this.boot.offline) return;
    let timer = 0;
    new ResizeObserver(([entry]) => {
      const { width } = entry.contentRect;
      const fits = width >= 1200 ? "wide" : width >= 640 ? "medium" : "narrow";
      clearTimeout(timer);
      if (width === 0 || fits === this.layout) return;
      const ask = () => {
        if (this.source.layout(fits, this.opened)) this.layout = fits;
        else if (!this.model.complete) timer = window.setTimeout(ask, 250);
      };
      timer = window.setTimeout(ask, 150);
    }).observe(box);
  }

  // The frame.

  request() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      const ms = this.before === null ? 0 : Math.min(LONGEST_FRAME, now - this.before);
      this.frame(this.options.manual ? 0 : ms);
      const playing = this.state.phase === "playing";
      this.before = playing ? now : null;
      if (playing && !this.options.manual) this.request();
    });
  }

  /** @param {number} ms */
  frame(ms) {
    const t0 = performance.now();
    this.#input(ms);
    const t1 = performance.now();
    const { state, model } = this;
    if (state.phase === "idle") return;
    const t = this.time();
    const sightings = this.flights.at(state.n, t);
    const changed = this.shown < 0 ? null : model.fold.changed(this.shown, state.n);
    const t2 = performance.now();
    this.#write(t, sightings, changed);
    this.times = { input: t1 - t0, state: t2 - t1, write: performance.now() - t2 };
  }

  /** What has been loaded, for tests that count. */
  work() {
    return { events: this.model.fold.events.length, background: this.chatter.events.size };
  }

  /** The virtual time at the cursor. */
  time() {
    return timeAt(this.state, this.model);
  }

  /** @param {number} ms */
  #input(ms) {
    const commands = this.queue;
    this.queue = [];
    for (const c of commands) this.state = transition(this.state, c, this.model);
    if (ms > 0) this.#tick(ms);
  }

  /**
   * Plays on, as far as the next question.
   * @param {number} ms
   */
  #tick(ms) {
    const from = this.state.n;
    this.state = transition(this.state, { type: "tick", ms }, this.model);
    const asks = this.predict.stop(from, this.state.n);
    if (!asks) return;
    this.state = transition(this.state, { type: "event", n: asks.n }, this.model);
    this.asked = `Paused for a question: ${asks.ask?.question}`;
  }

  /**
   * @param {number} t
   * @param {ReturnType<Flights["at"]>} sightings
   * @param {Set<string> | null} changed
   */
  #write(t, sightings, changed) {
    const { state, model } = this;
    const i = chapterAt(model.chapters, state.n);
    const focus = model.chapters[i]?.focus ?? [];
    if (changed === null || changed.size) this.stage?.write(model.fold.at(state.n), changed);
    this.shown = state.n;
    if (i !== this.chapter) {
      this.chapter = i;
      this.stage?.focus(focus);
    }
    this.pills?.write(sightings, { still: this.still.matches, focus });
    this.rings?.write(t);
    this.timeline?.write(state, t);
    this.drawer.write();
    this.predict.write(state, model);
    this.panel.write(state, t, model);
    if (this.asked) {
      // After the chapter's title, which a listener would hear instead.
      this.panel.say(this.asked);
      this.asked = "";
    }
    if (this.options.addressed) this.#keepAddress();
  }

  /**
   * The address says where the reader paused. It waits a moment, because browsers
   * refuse it when it changes too often, and gives up where it may not change at all.
   */
  #keepAddress() {
    clearTimeout(this.addressTimer);
    const hash = formatLink(linkTo(this.state.n, this.model.chapters));
    this.address ??= hash;
    if (this.state.phase !== "paused" || this.pending || this.startAt !== null) return;
    if (hash === this.address) return;
    this.addressTimer = window.setTimeout(() => {
      try {
        history.replaceState(history.state, "", hash);
        this.address = hash;
      } catch {
        this.options.addressed = false;
      }
    }, 300);
  }

  /** @type {number | undefined} */ addressTimer;
  /** The last address written; to begin with, the moment that needs none. @type {string | undefined} */ address;
}

/**
 * @param {Element} target
 * @returns {import("./keys.js").Place}
 */
function placeOf(target) {
  if (target.closest("input, textarea, select, [contenteditable], dialog")) return "field";
  if (target.closest(".hw-side")) return "list";
  return target.closest("button, a, summary") ? "control" : "player";
}

/** @returns {{promise: Promise<void>, resolve: () => void, reject: (e: Error) => void}} */
function deferred() {
  let resolve = () => {};
  /** @type {(e: Error) => void} */
  let reject = () => {};
  const promise = /** @type {Promise<void>} */ (
    new Promise((yes, no) => {
      resolve = yes;
      reject = no;
    })
  );
  // Nobody may be waiting, and then a failure is shown on the page only.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
