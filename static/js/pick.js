// What a click on the stage means: a message, a mark that follows a key, a
// record, or a thing of the cluster.

/** @import { Fold } from "./fold.js" */

/**
 * @typedef {{type: "event", n: number} | {type: "thing", id: string}} Picked
 */

/** Attributes that tie a mark to a key, the most telling first. */
const BINDINGS = ["data-slot", "data-text", "data-meter", "data-show"];

/**
 * @param {Element} target
 * @param {Fold} fold
 * @param {number} n the event that the stage shows
 * @returns {Picked | null}
 */
export function picked(target, fold, n) {
  const pill = target.closest("[data-send]");
  if (pill) return { type: "event", n: Number(pill.getAttribute("data-send")) };
  const cell = target.closest(".cell");
  const log = cell?.closest("[data-log]");
  if (cell && log) {
    const written = writtenAt(fold, n, log, Number(cell.getAttribute("data-i") ?? 0));
    if (written) return { type: "event", n: written };
  }
  const key = boundKey(target);
  const changed = key ? fold.changedAt(key, n) : 0;
  if (changed > 1) return { type: "event", n: changed };
  const thing = target.closest("[data-part], [data-node], [data-broker]");
  const id = thing && thingOf(thing);
  return id ? { type: "thing", id } : null;
}

/**
 * The key that a mark shows; where it stands within a group that follows one, the
 * group's.
 * @param {Element} target
 */
function boundKey(target) {
  for (const name of BINDINGS) {
    const el = target.closest(`[${name}]`);
    const key = el?.getAttribute(name);
    if (key && (el === target || name === "data-slot")) return key;
  }
  return null;
}

/** @param {Element} el */
function thingOf(el) {
  const node = el.getAttribute("data-node") ?? el.getAttribute("data-broker");
  const part = el.getAttribute("data-part");
  return part && node ? `${node}/${part}` : (part ?? node);
}

/**
 * The event that wrote the record of a cell, 0 where the cell is empty.
 * @param {Fold} fold
 * @param {number} n
 * @param {Element} log
 * @param {number} i
 */
function writtenAt(fold, n, log, i) {
  const view = fold.at(n);
  const base = log.getAttribute("data-base");
  const key = log.getAttribute("data-log") ?? "";
  const offset = (base ? Number(view.get(base) ?? 0) : view.log(key).start) + i;
  return view.log(key).entry(offset) ? fold.writtenAt(key, offset, n) : 0;
}
