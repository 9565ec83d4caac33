// Where the reader was: in the address of the way back to the menu, and in
// storage where a page may have one.

const KEY = "highwater.last";

/** @typedef {{href: string, title: string}} Place */

/**
 * The way back to the menu, which offers to go on there.
 * @param {string} scenario
 * @param {string} hash the moment, "#e412"
 */
export function wayBack(scenario, hash) {
  const q = new URLSearchParams({ at: scenario });
  if (hash.length > 1) q.set("moment", decodeURIComponent(hash.slice(1)));
  return `/?${q}`;
}

/** @param {Place} place */
export function remember(place) {
  try {
    localStorage.setItem(KEY, JSON.stringify(place));
  } catch {
    // Nothing is lost but the memory of it.
  }
}

/**
 * Only a page of a scenario is a place to go on at, whatever the storage says.
 * @returns {Place | null}
 */
export function recall() {
  try {
    const place = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return /^\/s\/[\w-]+/.test(place?.href) && typeof place.title === "string" ? place : null;
  } catch {
    return null;
  }
}
