// A chapter may ask what will happen. Playing pauses there; the answer that the run
// itself gives is shown beside the reader's, with its reason and the way to the proof.

import { button, make } from "./dom.js";
import { chapterAt } from "./player.js";

/** @import { Command, Model, State } from "./player.js" */
/** @import { Ask, Chapter } from "./types.js" */

const KEY = "highwater.ask";

/** Whether the reader wants to be asked, as the address says or else as they chose before. */
function wanted() {
  const asked = new URLSearchParams(location.search).get("ask");
  if (asked !== null) return asked !== "off";
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

/** @param {boolean} on */
function keep(on) {
  try {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, "off");
  } catch {
    // It holds as long as the page does.
  }
}

/**
 * The first chapter with an open question that playing from one event to another
 * comes to, or null.
 * @param {readonly Chapter[]} chapters
 * @param {number} from
 * @param {number} to
 * @param {ReadonlyMap<string, number>} answers
 * @returns {Chapter | null}
 */
export function questionBetween(chapters, from, to, answers) {
  return chapters.find((c) => c.ask && c.n > from && c.n <= to && !answers.has(c.id)) ?? null;
}

/**
 * What is said about an answer.
 * @param {Ask} ask
 * @param {number} answer
 */
export function verdictOf(ask, answer) {
  return answer === ask.answer ? "Right." : `Not this time. In this run: ${ask.options[ask.answer]}.`;
}

export class Predict {
  /**
   * @param {HTMLElement} root of the player
   * @param {{dispatch: (c: Command) => void, say: (text: string) => void}} host
   */
  constructor(root, host) {
    this.host = host;
    this.box = /** @type {HTMLElement | null} */ (root.querySelector(".hw-predict"));
    this.toggle = /** @type {HTMLElement | null} */ (root.querySelector('[data-cmd="ask"]'));
    this.on = wanted();
    /** What was answered, by chapter; -1 for passed over. @type {Map<string, number>} */
    this.answers = new Map();
    /** What the box shows: a chapter and its answer. */
    this.shown = "";
    /** @type {readonly Chapter[]} */ this.chapters = [];
    this.box?.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      this.#pass();
      root.focus({ preventScroll: true });
    });
  }

  /** @param {readonly Chapter[]} chapters */
  set(chapters) {
    this.chapters = chapters;
    const any = chapters.some((c) => c.ask);
    if (this.toggle) this.toggle.hidden = !any;
    this.#press();
  }

  /** Asks no more, or asks again. */
  switch() {
    this.on = !this.on;
    keep(this.on);
    if (this.on) for (const [id, answer] of this.answers) if (answer < 0) this.answers.delete(id);
    this.shown = "?";
    this.#press();
    this.host.say(this.on ? "Questions are asked." : "Questions are not asked.");
  }

  #press() {
    this.toggle?.setAttribute("aria-pressed", String(this.on));
  }

  /**
   * Where playing has to stop, because a chapter asks; null where it goes on.
   * @param {number} from the event of the last frame
   * @param {number} to
   */
  stop(from, to) {
    return this.on ? questionBetween(this.chapters, from, to, this.answers) : null;
  }

  /**
   * Shows the question of the chapter at the cursor, or what became of it.
   * @param {State} state
   * @param {Model} model
   */
  write(state, model) {
    if (!this.box) return;
    const i = chapterAt(model.chapters, state.n);
    const c = model.chapters[i];
    const answer = c && this.answers.get(c.id);
    const show = this.on && c?.ask && answer !== -1 && state.phase !== "playing" ? c : null;
    const key = show ? `${show.id} ${answer}` : "";
    if (key === this.shown) return;
    this.shown = key;
    this.box.hidden = !show;
    if (show) this.#draw(show, /** @type {Ask} */ (show.ask), model.chapters[i + 1], answer);
  }

  /**
   * @param {Chapter} c
   * @param {Ask} ask
   * @param {Chapter | undefined} next
   * @param {number | undefined} answer
   */
  #draw(c, ask, next, answer) {
    const held = this.box?.contains(document.activeElement);
    const title = make("h2", {
      id: "hw-predict-title",
      text: answer === undefined ? "What will happen?" : "Your prediction",
    });
    const question = make("p", { class: "hw-predict-question", text: ask.question });
    const options = make("div", { class: "hw-predict-options", role: "group", "aria-label": "Answers" });
    for (const [i, text] of ask.options.entries()) {
      const mark = answer === undefined ? "" : i === ask.answer ? "✓ " : i === answer ? "✕ " : "";
      options.append(
        button(mark + text, () => this.#answer(c, ask, i), {
          disabled: answer !== undefined,
          class: mark ? (i === ask.answer ? "right" : "wrong") : undefined,
        }),
      );
    }
    const actions = make("div", { class: "hw-tools" });
    if (answer === undefined) {
      actions.append(
        button("Just show me", () => this.#go()),
        button("Ask no more", () => this.switch()),
      );
      this.box?.replaceChildren(title, question, options, actions);
    } else {
      const why = make(
        "p",
        { class: "hw-predict-why" },
        make("strong", { text: verdictOf(ask, answer) }),
        ` ${ask.because}`,
      );
      actions.append(button("Play on and see", () => this.#go()));
      if (next) {
        actions.append(
          button(`Jump to “${next.title}”`, () => this.host.dispatch({ type: "event", n: next.n })),
        );
      }
      this.box?.replaceChildren(title, question, options, why, actions);
    }
    if (held) /** @type {HTMLElement | null} */ (this.box?.querySelector("button:not(:disabled)"))?.focus();
  }

  /**
   * @param {Chapter} c
   * @param {Ask} ask
   * @param {number} i
   */
  #answer(c, ask, i) {
    this.answers.set(c.id, i);
    this.host.say(`${verdictOf(ask, i)} ${ask.because}`);
    this.host.dispatch({ type: "pause" });
  }

  /** Goes on without an answer, or after one. */
  #go() {
    this.#pass();
    this.host.dispatch({ type: "play" });
  }

  #pass() {
    const id = this.shown.split(" ")[0];
    if (id && !this.answers.has(id)) this.answers.set(id, -1);
    this.host.dispatch({ type: "pause" });
  }
}
