// The panel "Text": the cluster at the cursor as tables.

import { tablesOf } from "./cluster.js";
import { make } from "./dom.js";

/** @import { Table } from "./cluster.js" */
/** @import { Host, Pane } from "./drawer.js" */

/**
 * @param {HTMLElement} box
 * @param {Host} host
 * @returns {Pane}
 */
export function open(box, host) {
  return new Text(box, host);
}

class Text {
  /**
   * @param {HTMLElement} box
   * @param {Host} host
   */
  constructor(box, host) {
    this.box = box;
    this.host = host;
    this.shown = "";
    /** What each table says now, so that only what changes is written. @type {string[]} */
    this.written = [];
    /** @type {HTMLElement[]} */ this.places = [];
  }

  write() {
    const { n, s, phase } = this.host.state();
    const key = phase === "playing" ? String(n) : `${n} ${s}`;
    if (key === this.shown) return;
    this.shown = key;
    const { fold } = this.host.model();
    const tables = tablesOf(fold.at(n), fold, this.host.run()?.groups ?? [], this.host.flights());
    if (!this.places.length) {
      this.places = tables.map(() => make("div"));
      this.box.replaceChildren(...this.places);
    }
    for (const [i, table] of tables.entries()) {
      const now = JSON.stringify(table.rows);
      if (now === this.written[i]) continue;
      this.written[i] = now;
      this.#draw(this.places[i], table);
    }
  }

  /**
   * Writes the cells that differ; draws the table anew where its rows do.
   * @param {HTMLElement} place
   * @param {Table} table
   */
  #draw(place, table) {
    const rows = /** @type {HTMLTableRowElement[]} */ ([...place.querySelectorAll("tbody tr")]);
    const same =
      rows.length > 0 &&
      rows.length === table.rows.length &&
      rows.every((r, i) => r.cells[0].textContent === table.rows[i][0]);
    if (!same) return place.replaceChildren(drawn(table));
    for (const [i, row] of rows.entries())
      for (const [k, text] of table.rows[i].entries())
        if (row.cells[k].textContent !== text) row.cells[k].textContent = text;
  }
}

/** @param {Table} table */
function drawn(table) {
  const heading = make("h3", { text: table.name });
  if (!table.rows.length) {
    const box = make("div", {}, heading, make("p", { class: "hw-lag-note", text: table.none }));
    return box;
  }
  const head = make("tr", {}, ...table.head.map((text) => make("th", { scope: "col", text })));
  const body = table.rows.map((cells) =>
    make(
      "tr",
      {},
      ...cells.map((text, i) => (i ? make("td", { text }) : make("th", { scope: "row", text }))),
    ),
  );
  return make(
    "table",
    { class: "hw-text" },
    make("caption", {}, heading),
    make("thead", {}, head),
    make("tbody", {}, ...body),
  );
}
