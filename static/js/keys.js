// Which command a key press means. Nothing is done here, so that the table can be tested.

/** @import { Command } from "./player.js" */

/**
 * @typedef {{type: "panel", name: string} | {type: "press", name: string} | {type: "zoom", by: -1 | 0 | 1}
 *   | {type: "loop-end", end: "from" | "to"} | Command} KeyCommand
 */

/**
 * What is asked of a key press: the browser's event will do.
 * @typedef {object} Press
 * @property {string} key
 * @property {boolean} [shiftKey]
 * @property {boolean} [ctrlKey]
 * @property {boolean} [altKey]
 * @property {boolean} [metaKey]
 */

/**
 * Where the focus is: in a field, on a control that Space presses, in a list
 * that scrolls, or elsewhere in the player.
 * @typedef {"field" | "control" | "list" | "player"} Place
 */

/**
 * @param {Press} press
 * @param {Place} place
 * @returns {KeyCommand | null}
 */
export function commandFor(press, place) {
  if (place === "field" || press.ctrlKey || press.altKey || press.metaKey) return null;
  const { key } = press;
  if (key === " ") return place === "player" ? { type: "toggle" } : null;
  if (place === "list" && /^(Page|Home|End)/.test(key)) return null;
  if (/^[0-9]$/.test(key)) return { type: "tenth", i: Number(key) };
  switch (key) {
    case "k":
    case "K":
      return { type: "toggle" };
    case "ArrowLeft":
      return press.shiftKey ? { type: "skip", by: -5 } : { type: "step", by: -1 };
    case "ArrowRight":
      return press.shiftKey ? { type: "skip", by: 5 } : { type: "step", by: 1 };
    case "[":
    case "PageUp":
      return { type: "chapter", by: -1 };
    case "]":
    case "PageDown":
      return { type: "chapter", by: 1 };
    case "Home":
      return { type: "seek", s: 0 };
    case "End":
      return { type: "tenth", i: 10 };
    case "<":
      return { type: "speed", by: -1 };
    case ">":
      return { type: "speed", by: 1 };
    case "e":
    case "E":
    case "l":
    case "L":
      return { type: "panel", name: "events" };
    case "w":
    case "W":
      return { type: "panel", name: "why" };
    case "i":
    case "I":
      return { type: "panel", name: "inspect" };
    case "g":
    case "G":
      return { type: "panel", name: "lag" };
    case "c":
    case "C":
      return { type: "panel", name: "checks" };
    case "x":
    case "X":
      return { type: "panel", name: "table" };
    case "f":
    case "F":
      return { type: "press", name: "fullscreen" };
    case "t":
    case "T":
      return { type: "press", name: "theme" };
    case "q":
    case "Q":
      return { type: "press", name: "ask" };
    case "m":
    case "M":
      return { type: "press", name: "map" };
    case "r":
    case "R":
      return { type: "press", name: "clock" };
    case "o":
    case "O":
      return { type: "press", name: "loop" };
    case "(":
      return { type: "loop-end", end: "from" };
    case ")":
      return { type: "loop-end", end: "to" };
    case ",":
      return { type: "frame", by: -1 };
    case ".":
      return { type: "frame", by: 1 };
    case "+":
    case "=":
      return { type: "zoom", by: 1 };
    case "-":
      return { type: "zoom", by: -1 };
    case "z":
    case "Z":
      return { type: "zoom", by: 0 };
    case "?":
      return { type: "press", name: "help" };
    default:
      return null;
  }
}
