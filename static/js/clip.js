// A moment of a scenario within a text: a small stage that plays from a chapter on
// for some seconds. Until it comes into view it is a still picture.

import { Flights } from "./flights.js";
import { Fold } from "./fold.js";
import { aboutFocus } from "./panel.js";
import { Pills } from "./pills.js";
import { IDLE, timeAt, transition } from "./player.js";
import { socketSource } from "./source.js";
import { Stage } from "./stage.js";
import { Story } from "./story.js";

/** @import { Command, Model } from "./player.js" */
/** @import { Run } from "./types.js" */

/** A column narrower than this shows one card in full, as a phone does. */
const WIDE = 700;
/** A tab that slept doesn't leap ahead when it wakes. */
const LONGEST_FRAME = 100;

/**
 * Where a clip begins and ends, in seconds of the story.
 * @param {number} chapter
 * @param {number} lead
 * @param {number} seconds
 * @param {Story} story
 */
export function span(chapter, lead, seconds, story) {
  const from = Math.max(story.start, chapter - lead);
  return { from, to: Math.min(story.end, from + seconds) };
}

export class Clip {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.state = IDLE;
    /** @type {Model} */
    this.model = { fold: new Fold(), story: new Story([]), chapters: [], complete: false };
    this.flights = new Flights();
    /** @type {Map<string, number>} */ this.colours = new Map();
    /** @type {Stage | null} */ this.stage = null;
    /** @type {Pills | null} */ this.pills = null;
    /** @type {import("./source.js").Source | null} */ this.source = null;
    this.show = (root.dataset.show ?? "").split(",").filter(Boolean);
    /** The event that is shown first. */ this.begun = 0;
    this.from = 0;
    this.to = 0;
    this.shown = -1;
    this.wanted = false;
    /** @type {SVGSVGElement | null} */ this.drawn = null;
    this.scheduled = false;
    /** @type {number | null} */ this.before = null;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    for (const b of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-clip]"))) {
      b.hidden = false;
      b.addEventListener("click", () => this.press(b.dataset.clip ?? ""));
    }
  }

  get ready() {
    return this.state.phase !== "idle";
  }

  /** Opens the run, once. */
  load() {
    if (this.source) return;
    const { scenario } = this.root.dataset;
    const layout = this.root.clientWidth >= WIDE ? "clip" : "narrow";
    const where = () => ({ layout, from: this.model.fold.last });
    const boot = { scenario, ws: "/ws", show: this.show };
    this.source = socketSource(
      boot,
      {
        run: (run) => this.#onRun(run),
        stage: (svg) => this.#onStage(svg),
        events: (events) => this.#onEvents(events),
        end: () => {
          this.model.complete = true;
          this.#begin();
        },
        chatter: () => {},
        error: ({ message }) => this.#say(message),
        waiting: () => {},
      },
      where,
    );
    this.source.open();
  }

  /** @param {string} name */
  press(name) {
    this.load();
    this.wanted = name === "play" && !this.ready;
    if (!this.ready) return;
    if (name === "play" && this.state.phase !== "playing" && this.state.s >= this.to - 1e-6)
      this.#do({ type: "seek", s: this.from });
    if (name === "play") this.#do({ type: "toggle" });
    else this.#do({ type: "step", by: name === "back" ? -1 : 1 });
  }

  /** @param {Command} command */
  #do(command) {
    this.state = transition(this.state, command, this.model);
    this.frame(0);
    this.#request();
  }

  /** @param {Run} run */
  #onRun(run) {
    for (const [id, producer] of run.records ?? []) {
      if (run.producers && producer in run.producers) this.colours.set(id, run.producers[producer]);
    }
    this.model = { ...this.model, story: new Story(run.story, run.folds), chapters: run.chapters };
  }

  /** @param {string} svg */
  #onStage(svg) {
    const box = this.root.querySelector(".clip-stage");
    const template = document.createElement("template");
    template.innerHTML = svg;
    const drawn = /** @type {SVGSVGElement | null} */ (template.content.querySelector("svg"));
    if (!box || !drawn) return;
    // A small stage opens nothing.
    for (const card of drawn.querySelectorAll("[data-open]")) {
      card.removeAttribute("data-open");
      card.querySelector(".opener")?.remove();
    }
    // Until there is something to show, the still stays.
    this.drawn = drawn;
  }

  /** @param {import("./types.js").Ev[]} events */
  #onEvents(events) {
    this.flights.feed(this.model.fold.feed(events.filter((e) => !e.chatter)));
    this.#begin();
  }

  /** Shows the first moment as soon as everything up to the last has come. */
  #begin() {
    const { fold, story, chapters, complete } = this.model;
    if (this.ready || !this.drawn) return;
    const { chapter, lead, seconds } = this.root.dataset;
    const begun = chapters.find((c) => c.id === chapter);
    const at = begun && fold.events[fold.indexOf(begun.n)];
    const last = fold.events[fold.events.length - 1];
    if (!at || at.n !== begun.n || !last) return;
    const { from, to } = span(story.s(at.n, at.t), Number(lead), Number(seconds), story);
    if (!complete && story.s(last.n, last.t) <= to) return;
    this.source?.close();
    this.from = from;
    this.to = to;
    const colourOf = (/** @type {string} */ id) => this.colours.get(id);
    this.stage = new Stage(this.drawn, colourOf);
    this.root.querySelector(".clip-stage")?.replaceChildren(this.drawn);
    this.pills = new Pills(this.drawn, colourOf);
    this.state = transition(this.state, { type: "loaded" }, this.model);
    this.root.classList.add("is-live");
    this.#do({ type: "seek", s: from });
    this.begun = this.state.n;
    if (this.wanted) this.#do({ type: "play" });
  }

  #request() {
    if (this.scheduled || this.state.phase !== "playing") return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      const ms = this.before === null ? 0 : Math.min(LONGEST_FRAME, now - this.before);
      this.frame(ms);
      this.before = this.state.phase === "playing" ? now : null;
      this.#request();
    });
  }

  /** @param {number} ms */
  frame(ms) {
    if (ms > 0) this.state = transition(this.state, { type: "tick", ms }, this.model);
    if (this.state.phase === "playing" && this.state.s >= this.to) {
      this.state = transition(this.state, { type: "seek", s: this.to }, this.model);
      this.state = transition(this.state, { type: "pause" }, this.model);
    }
    const { state, model } = this;
    const sightings = this.flights.at(state.n, timeAt(state, model));
    const changed = this.shown < 0 ? null : model.fold.changed(this.shown, state.n);
    if (changed === null || changed.size) this.stage?.write(model.fold.at(state.n), changed);
    this.shown = state.n;
    this.pills?.write(sightings, { still: this.still.matches, focus: [] });
    // The sentence stays with what is drawn, as pills do.
    const { events } = model.fold;
    const begun = { n: events[model.fold.indexOf(this.begun)]?.n ?? 0, focus: this.show };
    this.#say(events[aboutFocus(events, model.fold.indexOf(state.n), begun)]?.say ?? "");
    const playing = state.phase === "playing";
    const over = !playing && state.s >= this.to - 1e-6;
    const button = this.root.querySelector('[data-clip="play"]');
    const label = playing ? "Pause" : over ? "Play again" : "Play";
    if (button && button.textContent !== label) button.textContent = label;
  }

  /** @param {string} text */
  #say(text) {
    const line = this.root.querySelector(".clip-say");
    if (line && line.textContent !== text) line.textContent = text;
  }
}
