// The panel "Inspect": one thing of the run with all that is known of it at the
// cursor and how each value came to be, or one message with all its fields.

import { button, family, make } from "./dom.js";
import { formatClock } from "./story.js";
import {
  copiesOf,
  copyState,
  fieldsOf,
  isNode,
  KINDS,
  kindOf,
  lifeOf,
  messageOf,
  messagesOn,
  shown,
  thingsOf,
  tiesOf,
} from "./things.js";

/** @import { Host, Pane } from "./drawer.js" */
/** @import { Field, Kind, Thing } from "./things.js" */
/** @import { Ev } from "./types.js" */

/** More of a long history than this is not in the page at once. */
const WINDOW = 30;

/** What a message's end is called. */
const FATES = /** @type {const} */ ({
  "request.receive": "received",
  "response.receive": "received",
  "message.lost": "lost",
  "message.held": "held up",
});

/** @typedef {{type: "thing", id: string} | {type: "message", n: number}} Subject */

/**
 * @param {HTMLElement} box
 * @param {Host} host
 * @returns {Pane}
 */
export function open(box, host) {
  return new Inspector(box, host);
}

class Inspector {
  /**
   * @param {HTMLElement} box
   * @param {Host} host
   */
  constructor(box, host) {
    this.host = host;
    /** @type {Map<Kind, string[]>} */ this.things = new Map();
    /** @type {Subject | null} */ this.subject = null;
    /** @type {Subject[]} */ this.trail = [];
    this.n = -1;
    /** @type {{field: Field, value: HTMLElement, box: HTMLDetailsElement, drawn: string}[]} */ this.rows =
      [];
    /** Brings what is not a plain value to the cursor. @type {(() => void)[]} */ this.live = [];
    this.search = make("input", {
      type: "search",
      list: "hw-things",
      "aria-label": "Inspect",
      placeholder: "b1, orders-0, b1/orders-0, r7 …",
      spellcheck: "false",
      autocomplete: "off",
    });
    this.names = make("datalist", { id: "hw-things" });
    this.search.addEventListener("change", () => this.#find(this.search.value.trim()));
    this.back = button("Back", () => this.#return(), { disabled: true });
    this.problem = make("p", { class: "hw-lag-note", role: "status" });
    this.body = make("div", { class: "hw-thing" });
    box.replaceChildren(
      make("div", { class: "hw-inspect-find" }, this.search, this.back),
      this.names,
      this.problem,
      this.body,
    );
    this.grow();
  }

  /** More events have come: there may be more things. */
  grow() {
    this.things = thingsOf(this.host.model().fold, this.host.run());
    const options = [...this.things].flatMap(([kind, ids]) =>
      ids.slice(0, 400).map((id) => make("option", { value: id, label: kind })),
    );
    this.names.replaceChildren(...options);
    if (this.subject) this.#show(this.subject);
    else this.#overview();
  }

  /** @param {import("./pick.js").Picked} picked */
  pick(picked) {
    if (picked.type === "event") this.#go({ type: "message", n: picked.n });
    else this.#find(picked.id);
  }

  /** @param {string} id */
  #find(id) {
    if (!id) return this.#go(null);
    if (!kindOf(id, this.things)) {
      this.problem.textContent = `Nothing in this run is called ${id}.`;
      return;
    }
    this.#go({ type: "thing", id });
  }

  /** @param {Subject | null} subject */
  #go(subject) {
    if (this.subject) this.trail.push(this.subject);
    this.#open(subject);
  }

  #return() {
    this.#open(this.trail.pop() ?? null);
  }

  /** @param {Subject | null} subject */
  #open(subject) {
    const within = this.body.contains(document.activeElement);
    this.subject = subject;
    this.problem.textContent = "";
    /** @type {HTMLButtonElement} */ (this.back).disabled = this.trail.length === 0 && !subject;
    if (subject) this.#show(subject);
    else this.#overview();
    // Whoever came by a button that is gone now goes on at the head of the new page.
    if (within) /** @type {HTMLElement | null} */ (this.body.querySelector("h2"))?.focus();
  }

  /** All things, to choose from. */
  #overview() {
    this.rows = [];
    this.live = [];
    this.search.value = "";
    const groups = KINDS.flatMap(([kind, title]) => {
      const ids = (this.things.get(kind) ?? []).filter((id) => !id.includes("__"));
      if (!ids.length) return [];
      return [make("h3", { text: title }), this.#choices(ids)];
    });
    this.body.replaceChildren(make("h2", { tabindex: "-1", text: "What is in this run" }), ...groups);
  }

  /** @param {readonly string[]} ids */
  #choices(ids) {
    const list = make("div", { class: "hw-ties" });
    for (const id of ids.slice(0, WINDOW)) list.append(button(id, () => this.#find(id)));
    if (ids.length > WINDOW)
      list.append(make("span", { text: `and ${ids.length - WINDOW} more: type a name` }));
    return list;
  }

  /** @param {Subject} subject */
  #show(subject) {
    this.rows = [];
    this.live = [];
    this.n = -1;
    if (subject.type === "message") this.#message(subject.n);
    else {
      const kind = kindOf(subject.id, this.things);
      if (kind) this.#thing({ id: subject.id, kind });
    }
    this.write();
  }

  /** @param {Thing} thing */
  #thing(thing) {
    const { id, kind } = thing;
    const { fold } = this.host.model();
    const run = this.host.run();
    this.search.value = id;
    const parts = /** @type {(HTMLElement | string)[]} */ ([
      make("p", { class: "hw-why-at", text: kind }),
      make("h2", { tabindex: "-1", text: id }),
    ]);
    if (kind === "record") parts.push(...this.#record(id));
    if (kind === "connection") parts.push(...this.#wire(id));
    const fields = fieldsOf(thing, fold, run);
    if (fields.length) {
      const list = make("div", { class: "hw-fields-list" });
      this.rows = fields.map((field) => this.#row(field));
      list.append(...this.rows.map((r) => r.box));
      parts.push(make("h3", { text: "State at the cursor; open a line for its history" }), list);
    }
    parts.push(...this.#settings(thing));
    const ties = make("div");
    let tied = "";
    this.live.push(() => {
      const ids = tiesOf(thing, fold.at(this.n), fold, run, this.things);
      if (ids.join() === tied) return;
      tied = ids.join();
      ties.replaceChildren(...(ids.length ? [make("h3", { text: "See also" }), this.#choices(ids)] : []));
    });
    this.body.replaceChildren(...parts, ties);
  }

  /** @param {Field} field */
  #row(field) {
    const value = make("span", { class: "hw-field-value" });
    const box = make(
      "details",
      { class: "hw-field" },
      make("summary", {}, make("span", { class: "hw-field-name", text: field.name }), value),
    );
    const row = { field, value, box, drawn: "" };
    box.addEventListener("toggle", () => this.#history(row));
    return row;
  }

  /**
   * The changes of a value, those about the cursor, each a jump.
   * @param {{field: Field, box: HTMLDetailsElement, drawn: string}} row
   */
  #history(row) {
    if (!row.box.open) return;
    const { fold } = this.host.model();
    const { key } = row.field;
    const { ns } = fold.history(key);
    const at = fold.place(key, this.n);
    const from = Math.max(0, Math.min(at - WINDOW / 2, ns.length - WINDOW));
    const to = Math.min(ns.length, from + WINDOW);
    const drawn = `${from} ${to} ${at} ${ns.length}`;
    if (drawn === row.drawn) return;
    row.drawn = drawn;
    const list = make("ol", { class: "hw-history", "aria-label": `History of ${row.field.name}` });
    if (from > 0) list.append(make("li", { text: `${from} earlier changes` }));
    for (let i = from; i < to; i++) {
      const e = fold.event(ns[i]);
      const text = shown(key, fold.history(key).values[i], formatClock);
      const jump = button("", () => this.host.dispatch({ type: "event", n: ns[i] }), {
        class: "hw-jump",
        title: e?.say,
      });
      jump.append(
        make("span", { text }),
        make("span", { class: "hw-jump-at hw-num", text: formatClock(e?.t ?? 0) }),
      );
      if (i === at) jump.setAttribute("aria-current", "true");
      list.append(make("li", {}, jump));
    }
    if (to < ns.length) list.append(make("li", { text: `${ns.length - to} later changes` }));
    const focused = row.box.querySelector("ol")?.contains(document.activeElement);
    row.box.querySelector("ol")?.remove();
    row.box.append(list);
    if (focused) /** @type {HTMLElement | null} */ (list.querySelector("[aria-current]"))?.focus();
  }

  /**
   * The settings that are not Kafka's defaults.
   * @param {Thing} thing
   */
  #settings({ id, kind }) {
    const run = this.host.run();
    const topic = id.replace(/-\d+$/, "");
    const who =
      kind === "partition"
        ? [topic]
        : kind === "replica"
          ? id.split("/").map((x, i) => (i ? x.replace(/-\d+$/, "") : x))
          : [id];
    if (isNode(who[0])) who.unshift("*");
    const list = who.flatMap((name) => (run?.settings?.[name] ?? []).map((s) => ({ name, s })));
    const hasConfig = kind !== "record" && kind !== "connection";
    if (!list.length)
      return hasConfig
        ? [
            make("h3", { text: "Settings" }),
            make("p", { class: "hw-lag-note", text: "All as Kafka has them by default." }),
          ]
        : [];
    const items = list.map(({ s: [key, value, preset, meaning] }) =>
      make(
        "div",
        { class: "hw-setting" },
        make("code", { text: `${key}=${value}` }),
        make("span", { class: "hw-jump-at", text: preset === "" ? "no default" : `default ${preset}` }),
        make("p", { text: meaning, "data-terms": true }),
      ),
    );
    return [make("h3", { text: "Settings that are not the default" }), ...items];
  }

  /** @param {string} id */
  #record(id) {
    const { fold } = this.host.model();
    const [, producer, key, value] = (this.host.run()?.records ?? []).find((r) => r[0] === id) ?? [];
    const about = pairs([
      ["Producer", producer ?? "–"],
      ["Key", key === null || key === undefined ? "none" : key],
      ["Value", value ?? "–"],
    ]);
    const copies = copiesOf(id, fold);
    const places = copies.map((copy) => {
      const state = make("dd");
      this.live.push(() => put(state, copyState(id, copy, fold.at(this.n))));
      return [
        make(
          "dt",
          {},
          button(copy.replica, () => this.#find(copy.replica)),
        ),
        state,
      ];
    });
    const where = make("dl", { class: "hw-fields" }, ...places.flat());
    const life = make("ol", { class: "hw-history", "aria-label": "What happened to it" });
    const events = lifeOf(id, fold.events);
    for (const e of events.slice(0, 200)) life.append(make("li", {}, this.#jump(e)));
    this.live.push(() => this.#mark(life));
    return [
      about,
      make("h3", { text: copies.length ? "Its copies at the cursor" : "It was never written" }),
      where,
      make("h3", {
        text: `What happened to it, ${events.length === 1 ? "1 event" : `${events.length} events`}`,
      }),
      life,
    ];
  }

  /** @param {string} id */
  #wire(id) {
    const { fold } = this.host.model();
    const list = make("ol", { class: "hw-history", "aria-label": "Messages, the newest first" });
    let drawn = "";
    this.live.push(() => {
      const sends = messagesOn(id, fold.events, this.n, 12);
      const key = sends.map((e) => e.n).join();
      if (key === drawn) return;
      drawn = key;
      list.replaceChildren(
        ...(sends.length
          ? sends.map((e) => make("li", {}, this.#packet(e)))
          : [make("li", { text: "None so far, background aside." })]),
      );
    });
    return [make("h3", { text: "Messages up to the cursor, the newest first" }), list];
  }

  /**
   * A way to a message.
   * @param {Ev} e its send
   */
  #packet(e) {
    const jump = button("", () => this.#go({ type: "message", n: e.n }), {
      class: `hw-jump ${family(e.kind)}`,
    });
    jump.append(
      make("span", { text: `${e.api} ${e.kind.split(".")[0]}, ${e.from} to ${e.to}` }),
      make("span", { class: "hw-jump-at hw-num", text: formatClock(e.t) }),
    );
    return jump;
  }

  /**
   * A request or a response with all its fields, and its partner.
   * @param {number} n an event of the message
   */
  #message(n) {
    const { fold } = this.host.model();
    const event = fold.event(n) ?? this.host.chatter.events.get(n);
    if (!event?.msg) {
      this.body.replaceChildren(
        make("h2", { tabindex: "-1", text: event?.say ?? "There is no such event" }),
        make("p", { text: "This event is not a message." }),
      );
      return;
    }
    const all = messageOf(event.msg, [...fold.events, ...this.host.chatter.events.values()]);
    const leg =
      event.kind.startsWith("response") ||
      (event.kind.startsWith("message") && all.some((e) => e.kind === "response.send" && e.n < n))
        ? "response"
        : "request";
    const send = all.find((e) => e.kind === `${leg}.send`);
    const answer = all.find((e) => e.kind === "response.send");
    const request = all.find((e) => e.kind === "request.send");
    const later = all.filter(
      (e) =>
        e.kind in FATES &&
        (leg === "response" ? e.n > (answer?.n ?? 0) : e.n < (answer?.n ?? Number.POSITIVE_INFINITY)),
    );
    const fates = later.map(
      (e) => `${FATES[/** @type {keyof typeof FATES} */ (e.kind)]} ${formatClock(e.t)}`,
    );
    const from = send?.from ?? event.from ?? "";
    const to = send?.to ?? event.to ?? "";
    const head = pairs([
      ["From", from],
      ["To", to],
      ["Correlation id", String(send?.corr ?? event.corr ?? "–")],
      ["Sent", send ? formatClock(send.t) : "before the run"],
      ["Then", fates.join(", ") || "still on its way when the run ends"],
    ]);
    const partner = leg === "request" ? answer : request;
    const tools = make("div", { class: "hw-tools" });
    if (send) tools.append(button("Go to its send", () => this.host.dispatch({ type: "event", n: send.n })));
    tools.append(button("Why?", () => this.host.pick({ type: "event", n })));
    if (partner)
      tools.append(
        button(leg === "request" ? "Open the response" : "Open the request", () =>
          this.#go({ type: "message", n: partner.n }),
        ),
      );
    tools.append(
      button(`Connection of ${from} and ${to}`, () =>
        this.#find([from, to].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).join(" – ")),
      ),
    );
    this.body.replaceChildren(
      make("p", { class: "hw-why-at", text: `message ${event.msg} · ${leg}` }),
      make("h2", { tabindex: "-1", text: `${event.api} ${leg === "request" ? "request" : "response"}` }),
      make("p", { text: send?.say ?? event.say ?? "" }),
      head,
      tools,
      ...(partner || leg === "response"
        ? []
        : [make("p", { class: "hw-lag-note", text: lonely(event.api ?? "", later) })]),
      make("h3", { text: "Fields" }),
      send?.f && Object.keys(send.f).length
        ? tree(send.f)
        : make("p", { class: "hw-lag-note", text: "It carries none that this simulation models." }),
    );
    this.search.value = "";
  }

  /** @param {Ev} e */
  #jump(e) {
    const jump = button("", () => this.host.dispatch({ type: "event", n: e.n }), {
      class: `hw-jump ${family(e.kind)}`,
      "data-n": String(e.n),
    });
    jump.append(
      make("span", { text: e.say ?? e.kind }),
      make("span", { class: "hw-jump-at hw-num", text: formatClock(e.t) }),
    );
    return jump;
  }

  /**
   * Marks the last of a list's events that has happened.
   * @param {HTMLElement} list
   */
  #mark(list) {
    const jumps = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[data-n]")]);
    const past = jumps.filter((j) => Number(j.dataset.n) <= this.n);
    for (const j of jumps) {
      if (j === past.at(-1)) j.setAttribute("aria-current", "true");
      else j.removeAttribute("aria-current");
    }
  }

  write() {
    const { n } = this.host.state();
    if (n === this.n) return;
    this.n = n;
    const { fold } = this.host.model();
    for (const row of this.rows) {
      const { key } = row.field;
      const i = fold.place(key, n);
      put(row.value, i < 0 ? "–" : shown(key, fold.history(key).values[i], formatClock));
      if (row.box.open) this.#history(row);
    }
    for (const f of this.live) f();
  }
}

/**
 * @param {HTMLElement} el
 * @param {string} text
 */
function put(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/** @param {[string, string][]} list */
function pairs(list) {
  return make(
    "dl",
    { class: "hw-fields" },
    ...list.flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })]),
  );
}

/**
 * Why a request has no answer.
 * @param {string} api
 * @param {readonly Ev[]} later
 */
function lonely(api, later) {
  if (later.some((e) => e.kind === "message.lost"))
    return "There is no response: the request was lost with its connection.";
  if (api === "Produce")
    return "There is no response: with acks=0 none is sent, or the connection ended first.";
  return "There is no response in this run: it was still waiting, or its connection ended first.";
}

/**
 * Fields with what they contain.
 * @param {Record<string, unknown>} fields
 * @returns {HTMLElement}
 */
function tree(fields) {
  const list = make("dl", { class: "hw-fields" });
  for (const [name, value] of Object.entries(fields)) {
    const dd = make("dd");
    if (Array.isArray(value) && value.some((x) => typeof x === "object" && x !== null)) {
      value.forEach((x, i) => {
        const inner = make(
          "details",
          { open: i < 3 },
          make("summary", { text: `${name}[${i}]${title(x)}` }),
          tree(x),
        );
        dd.append(inner);
      });
    } else if (typeof value === "object" && value !== null && !Array.isArray(value))
      dd.append(tree(/** @type {any} */ (value)));
    else
      dd.textContent = Array.isArray(value)
        ? value.join(", ") || "none"
        : value === null
          ? "null"
          : value === ""
            ? '""'
            : String(value);
    list.append(make("dt", { text: name }), dd);
  }
  return list;
}

/** The partition or name of an entry, for its line. @param {any} x */
function title(x) {
  const name = x?.part ?? x?.topic ?? x?.name ?? x?.memberId ?? "";
  return name === "" ? "" : ` ${name}`;
}
