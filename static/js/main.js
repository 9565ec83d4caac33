// Starts every player of the page.

import { App } from "./app.js";
import { formatLink, linkTo, parseLink } from "./links.js";
import { remember, wayBack } from "./resume.js";
import { initTerms } from "./terms.js";
import { initTheme } from "./theme.js";
import { followChoice, initWords } from "./words.js";

/** @import { Boot } from "./types.js" */

/**
 * What a player starts with: the page's boot data, overridden by its own attributes.
 * @param {HTMLElement} root
 * @returns {Boot}
 */
function bootOf(root) {
  const script = root.querySelector("script.hw-boot") ?? document.getElementById("hw-boot");
  /** @type {Boot} */
  const boot = script?.textContent ? JSON.parse(script.textContent) : {};
  const { scenario, layout } = root.dataset;
  return { ...boot, ...(scenario && { scenario }), ...(layout && { layout }) };
}

/** @returns {App[]} */
function start() {
  initTheme();
  const params = new URLSearchParams(location.search);
  const roots = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".hw-player"));
  const t = params.get("t");
  return [...roots].map((root, i) => {
    const link = i === 0 ? parseLink(location.hash) : null;
    const app = new App(root, bootOf(root), {
      manual: params.get("clock") === "manual",
      // A reader who follows a link to a moment wants to see that moment.
      paused: params.has("pause") || link !== null,
      link,
      start: t !== null && Number.isFinite(Number(t)) ? Number(t) : null,
      addressed: i === 0,
    });
    app.start();
    return app;
  });
}

/**
 * What tests and embedding pages may call. `seek` takes story seconds, `tick` milliseconds.
 * @param {App} app
 */
function handle(app) {
  const act = (/** @type {import("./player.js").Command} */ command) => {
    app.dispatch(command);
    app.frame(0);
  };
  return {
    ready: app.ready.promise,
    seek: (/** @type {number} */ s) => act({ type: "seek", s }),
    seekEvent: (/** @type {number} */ n) => act({ type: "event", n }),
    step: (/** @type {number} */ by) => act({ type: "step", by }),
    play: () => act({ type: "play" }),
    pause: () => act({ type: "pause" }),
    tick: (/** @type {number} */ ms) => app.frame(ms),
    times: () => app.times,
    events: () => app.model.fold.events,
    work: () => app.work(),
    state: () => ({
      n: app.state.n,
      s: app.state.s,
      t: app.time(),
      phase: app.state.phase,
      playing: app.state.phase === "playing",
      last: app.run?.last ?? 0,
      loaded: app.model.fold.last,
      complete: app.model.complete,
    }),
  };
}

const gone = followChoice(document.querySelector(".hw-player"));
const apps = gone ? [] : start();
// A run that was saved as a file has no server behind it to explain more.
initTerms({ page: apps[0]?.boot.offline ? "" : "/concepts", outside: window.parent !== window });
if (apps[0]) Object.assign(window, { highwater: handle(apps[0]) });

// On leaving: the moment is kept, and the way back to the menu names it.
const [first] = apps;
if (first) initWords(first.root, () => formatLink(linkTo(first.state.n, first.model.chapters)));
if (first?.boot.scenario && !first.boot.offline && first.root.dataset.embed !== "true") {
  const { scenario } = first.boot;
  const moment = () => formatLink(linkTo(first.state.n, first.model.chapters));
  const home = /** @type {HTMLAnchorElement | null} */ (first.root.querySelector("a.home"));
  const keep = () => {
    if (home) home.href = wayBack(scenario, moment());
  };
  home?.addEventListener("pointerdown", keep);
  home?.addEventListener("focus", keep);
  home?.addEventListener("click", keep);
  addEventListener("pagehide", () => {
    const { pathname, search } = location;
    if (first.state.n > 1) remember({ href: pathname + search + moment(), title: document.title });
  });
}
