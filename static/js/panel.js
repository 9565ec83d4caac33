// Texts and buttons around the stage.

import { chapterAt } from "./player.js";
import { formatClock, formatFactor, formatSpeed } from "./story.js";

/** @import { Model, State } from "./player.js" */
/** @import { Failure, Run, Verdict } from "./types.js" */

/** What stands instead of the factor while time is not told. */
/** @type {Record<string, string>} */
const STILL = { paused: "paused", ended: "ended" };

/**
 * The last event up to `at` that a chapter speaks of: on a partition or node of its
 * focus. The event itself where the chapter has had none yet.
 * @param {readonly {n: number, part?: string, node?: string}[]} events
 * @param {number} at
 * @param {{n: number, focus?: string[]} | undefined} chapter
 */
export function aboutFocus(events, at, chapter) {
  const focus = chapter?.focus ?? [];
  if (!chapter || !focus.length) return at;
  for (let i = at; i >= 0 && events[i].n >= chapter.n; i--) {
    const { part, node } = events[i];
    if (part ? focus.includes(part) : node && focus.includes(node)) return i;
  }
  return at;
}

/**
 * How time passes at the cursor.
 * @param {State} state
 * @param {Model["story"]} story
 */
function factorOf(state, story) {
  if (state.real) return formatFactor(state.rate);
  return story.fold(state.s)?.label ?? formatFactor(story.factor(state.s) * state.speed);
}

export class Panel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Map<string, string>} */ this.written = new Map();
    this.spoken = { chapter: -1, n: 0 };
    /** What stands in the caption before the first chapter. */
    this.title = "";
    this.summary = "";
  }

  /**
   * Writes a text where it differs from the last.
   * @param {string} selector
   * @param {string} text
   */
  text(selector, text) {
    if (this.written.get(selector) === text) return;
    this.written.set(selector, text);
    for (const el of this.root.querySelectorAll(selector)) el.textContent = text;
  }

  /**
   * @param {string} selector
   * @param {string} name
   * @param {string} value
   */
  #attribute(selector, name, value) {
    const key = `${selector} ${name}`;
    if (this.written.get(key) === value) return;
    this.written.set(key, value);
    for (const el of this.root.querySelectorAll(selector)) el.setAttribute(name, value);
  }

  /** @param {Run} run */
  introduce(run) {
    this.title = run.title;
    this.summary = run.summary ?? "";
    this.text(".hw-title", run.title);
  }

  /** @param {string} text */
  say(text) {
    this.text(".hw-status", text);
  }

  /**
   * @param {State} state
   * @param {number} t
   * @param {Model} model
   */
  write(state, t, model) {
    const { chapters, fold, story } = model;
    const i = chapterAt(chapters, state.n);
    const chapter = chapters[i];
    const at = fold.indexOf(state.n);
    // While it plays, the sentence stays with what the chapter is about.
    const event = fold.events[state.phase === "playing" ? aboutFocus(fold.events, at, chapter) : at];
    this.text(".hw-clock", formatClock(t));
    this.text(".hw-factor", STILL[state.phase] ?? factorOf(state, story));
    this.text(".hw-chapter", chapter ? `chapter ${i + 1} of ${chapters.length} · ${chapter.title}` : "");
    this.text(".hw-caption-title", chapter?.title ?? this.title);
    this.text(".hw-caption-text", chapter ? (chapter.say ?? "") : this.summary);
    this.text(".hw-say", event?.say ?? "");
    this.text(".hw-speed", formatSpeed(state.real ? state.rate : state.speed));
    this.#attribute('[data-cmd="clock"]', "aria-pressed", String(state.real));
    this.#attribute('[data-cmd="loop"]', "aria-pressed", String(state.loop !== null));
    const playing = state.phase === "playing" || (state.phase === "dragging" && state.resume);
    const phase = `${state.phase} ${playing}`;
    if (this.written.get("phase") !== phase) {
      this.written.set("phase", phase);
      this.root.dataset.phase = state.phase;
      this.root.classList.toggle("is-playing", playing);
    }
    const label = playing ? "Pause" : state.phase === "ended" ? "Play again" : "Play";
    this.#attribute('[data-cmd="play"]', "aria-label", label);
    this.#announce(state, i, chapter?.title ?? "", event?.say ?? "");
  }

  /**
   * A listener hears each chapter, and each event that they stepped to; the events
   * that pass while it plays would drown everything.
   * @param {State} state
   * @param {number} i
   * @param {string} title
   * @param {string} say
   */
  #announce(state, i, title, say) {
    const { spoken } = this;
    if (i !== spoken.chapter && title) this.say(`Chapter ${i + 1}: ${title}`);
    else if (state.phase === "paused" && state.n !== spoken.n && say) this.say(say);
    this.spoken = { chapter: i, n: state.n };
  }

  /** @param {Failure | null} failure */
  fail(failure) {
    const where = failure?.line
      ? `Line ${failure.line}${failure.column ? `, column ${failure.column}` : ""}: `
      : "";
    this.text(".hw-error", failure ? where + failure.message : "");
    for (const el of this.root.querySelectorAll(".hw-error")) {
      /** @type {HTMLElement} */ (el).hidden = !failure;
    }
  }

  /**
   * @param {Verdict} verdict
   * @param {(n: number) => void} seek
   */
  verdict(verdict, seek) {
    const box = this.root.querySelector(".hw-verdict");
    if (!box) return;
    const checks = [
      ...(verdict.expect ?? []).map((x) => ({ text: x.say, ok: x.ok, n: x.n })),
      ...(verdict.invariants ?? []).map((x) => ({ text: x.name, ok: x.ok, n: x.n })),
    ];
    const failed = checks.filter((c) => !c.ok);
    const all = document.createElement("details");
    const head = document.createElement("summary");
    if (!verdict.ok) head.className = "bad";
    head.textContent = verdict.ok
      ? `✓ ${checks.length} checks hold`
      : `✗ ${failed.length} of ${checks.length} checks failed`;
    const list = document.createElement("ul");
    for (const check of [...failed, ...checks.filter((c) => c.ok)]) {
      const item = document.createElement("li");
      if (!check.ok) item.className = "bad";
      const text = `${check.ok ? "✓" : "✗"} ${check.text}`;
      if (check.n > 0) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.addEventListener("click", () => seek(check.n));
        item.append(button);
      } else item.textContent = text;
      list.append(item);
    }
    all.append(head, list);
    box.replaceChildren(all);
    /** @type {HTMLElement} */ (box).hidden = false;
  }
}
