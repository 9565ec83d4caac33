// Addresses of moments: #e412 an event, #v12.4s a virtual time, else a chapter.

/** @import { Chapter } from "./types.js" */

/**
 * @typedef {{kind: "event", n: number} | {kind: "time", t: number} | {kind: "chapter", id: string}} Link
 */

/**
 * @param {string} hash
 * @returns {Link | null}
 */
export function parseLink(hash) {
  const text = decode(hash.replace(/^#/, ""));
  if (!text) return null;
  const event = /^e(\d{1,9})$/.exec(text);
  if (event) return { kind: "event", n: Number(event[1]) };
  const time = /^v(\d+(?:\.\d+)?)s$/.exec(text);
  if (time) return { kind: "time", t: Math.round(Number(time[1]) * 1e6) };
  return { kind: "chapter", id: text };
}

/** @param {Link} link */
export function formatLink(link) {
  if (link.kind === "event") return `#e${link.n}`;
  if (link.kind === "time") return `#v${link.t / 1e6}s`;
  return `#${encodeURIComponent(link.id)}`;
}

/**
 * The shortest name of a moment: the chapter where one begins, else the event.
 * @param {number} n
 * @param {readonly Chapter[]} chapters
 * @returns {Link}
 */
export function linkTo(n, chapters) {
  const chapter = chapters.find((c) => c.n === n && !/^(e\d+|v[\d.]+s)$/.test(c.id));
  return chapter ? { kind: "chapter", id: chapter.id } : { kind: "event", n };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
