// The panel "Lag": how far each group has come on each partition, as bars. What
// nobody reads stands out.

import { make } from "./dom.js";

/** @import { Host, Pane } from "./drawer.js" */
/** @import { View } from "./fold.js" */
/** @import { Group } from "./types.js" */

/**
 * @typedef {object} Row
 * @property {string} part
 * @property {string} owner "" where nobody has a position
 * @property {number} end what may be read: the leader's high watermark
 * @property {number | null} position
 * @property {number | null} committed
 */

/**
 * @param {Group} group
 * @param {View} view
 * @returns {Row[]}
 */
export function rowsOf(group, view) {
  return group.parts.map((part) => {
    const leader = Number(view.get(`meta/${part}/leader`) ?? -1);
    const end = Number(view.get(`b${leader}/${part}/hw`) ?? 0);
    const readers = group.members.filter((m) => typeof view.get(`${m}/${part}/position`) === "number");
    const committed = view.get(`${group.id}/${part}/committed`);
    return {
      part,
      owner: readers.join(", "),
      end,
      position: readers.length
        ? Math.max(...readers.map((m) => Number(view.get(`${m}/${part}/position`))))
        : null,
      committed: typeof committed === "number" ? committed : null,
    };
  });
}

/** Records behind the position that may be read, 0 where nobody reads. @param {Row} row */
export function lagOf(row) {
  return row.position === null
    ? Math.max(row.end - (row.committed ?? row.end), 0)
    : Math.max(row.end - row.position, 0);
}

/**
 * How many records the members of a group have been handed.
 * @param {Group} group
 * @param {View} view
 */
export function handed(group, view) {
  let sum = 0;
  for (const m of group.members)
    for (const part of group.parts) sum += Number(view.get(`${m}/${part}/delivered`) ?? 0);
  return sum;
}

/**
 * @param {HTMLElement} box
 * @param {Host} host
 * @returns {Pane}
 */
export function open(box, host) {
  return new Lag(box, host);
}

class Lag {
  /**
   * @param {HTMLElement} box
   * @param {Host} host
   */
  constructor(box, host) {
    this.host = host;
    this.shown = -1;
    /** @type {Group[]} */
    this.groups = host.run()?.groups ?? [];
    if (!this.groups.length) {
      box.append(make("p", { text: "Nobody reads in this scenario." }));
      return;
    }
    box.append(
      make("p", {
        class: "hw-lag-note",
        text: "Bars are records: filled up to the position, then what may be read and is not (HW - position). A partition without a reader has a dashed frame.",
      }),
    );
    /** @type {{group: Group, head: HTMLElement, bar: HTMLElement, rows: {row: HTMLElement, owner: HTMLElement, done: HTMLElement, rest: HTMLElement, text: HTMLElement}[]}[]} */
    this.parts = this.groups.map((group) => {
      const head = make("span", { class: "hw-num" });
      const bar = make(
        "div",
        { class: "hw-lag-bar is-sum", "aria-hidden": "true" },
        make("i", { class: "done" }),
      );
      const table = make("table", { class: "hw-lag" });
      table.append(
        make("caption", {}, make("h3", { text: group.id }), head, bar),
        make(
          "tr",
          {},
          make("th", { scope: "col", text: "Partition" }),
          make("th", { scope: "col", text: "Reader" }),
          make("th", { scope: "col", text: "Read" }),
          make("th", { scope: "col", text: "Lag" }),
        ),
      );
      const rows = group.parts.map((part) => {
        const owner = make("td");
        const done = make("i", { class: "done" });
        const rest = make("i", { class: "rest" });
        const text = make("td", { class: "hw-num" });
        const row = make(
          "tr",
          {},
          make("th", { scope: "row", text: part }),
          owner,
          make("td", {}, make("div", { class: "hw-lag-bar", "aria-hidden": "true" }, done, rest)),
          text,
        );
        table.append(row);
        return { row, owner, done, rest, text };
      });
      box.append(table);
      return { group, head, bar: /** @type {HTMLElement} */ (bar.firstElementChild), rows };
    });
  }

  write() {
    const { n } = this.host.state();
    if (n === this.shown || !this.parts) return;
    this.shown = n;
    const view = this.host.model().fold.at(n);
    const all = this.parts.map((p) => ({ p, rows: rowsOf(p.group, view), sum: handed(p.group, view) }));
    const most = Math.max(1, ...all.map((x) => x.sum));
    for (const { p, rows, sum } of all) {
      const lag = rows.reduce((s, r) => s + lagOf(r), 0);
      const unread = rows.filter((r) => r.position === null && r.end > 0).length;
      put(p.head, `${sum} handed out, lag ${lag}${unread ? `, ${unread} unread` : ""}`);
      width(p.bar, sum / most);
      const longest = Math.max(1, ...rows.map((r) => r.end));
      for (const [i, r] of rows.entries()) {
        const x = p.rows[i];
        put(x.owner, r.owner || "nobody");
        put(x.text, r.position === null && r.committed === null ? `${r.end} unread` : String(lagOf(r)));
        x.row.classList.toggle("unread", r.position === null);
        const at = r.position ?? r.committed ?? 0;
        width(x.done, Math.min(at, r.end) / longest);
        width(x.rest, Math.max(r.end - at, 0) / longest);
      }
    }
  }
}

/**
 * @param {HTMLElement} el
 * @param {string} text
 */
function put(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/**
 * @param {HTMLElement} el
 * @param {number} share
 */
function width(el, share) {
  const w = `${(share * 100).toFixed(1)}%`;
  if (el.style.width !== w) el.style.width = w;
}
