// Where a run comes from: a server over a WebSocket, or the page itself. Both
// have one surface, so the player doesn't know which it has.

/** @import { ChatterMessage } from "./chatter.js" */
/** @import { Boot, Ev, Failure, Run, Verdict } from "./types.js" */

/**
 * @typedef {object} Sink
 * @property {(run: Run) => void} run
 * @property {(events: Ev[]) => void} events of the main track
 * @property {(message: ChatterMessage) => void} chatter a batch of the background track
 * @property {(verdict: Verdict) => void} end
 * @property {(svg: string) => void} stage
 * @property {(failure: Failure) => void} error
 * @property {(waiting: boolean) => void} waiting whether the connection is broken and tried again
 */

/**
 * @typedef {object} Source
 * @property {() => void} open
 * @property {(layout: string, open: string[]) => boolean} layout asks for another layout; false where there is none to ask
 * @property {(from: number, to: number) => boolean} chatter asks for a range of the background track
 * @property {() => void} close
 */

const PROTOCOL = "highwater.v1";
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

/**
 * How long to wait before the i-th attempt after a break.
 * @param {number} i from 0
 */
export function backoff(i) {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** i);
}

/**
 * Passes a message on to the sink; returns its op.
 * @param {any} message
 * @param {Sink} sink
 * @returns {string}
 */
export function deliver(message, sink) {
  switch (message?.op) {
    case "run":
      sink.run(message);
      if (message.stage) sink.stage(message.stage);
      break;
    case "stage":
      if (message.stage) sink.stage(message.stage);
      break;
    case "events":
      if (message.track === "chatter")
        sink.chatter({ done: false, ...message, events: message.events ?? [] });
      else sink.events(message.events ?? []);
      break;
    case "end":
      sink.end(message.verdict ?? { ok: true });
      break;
    case "error":
      sink.error(message);
      break;
  }
  return message?.op ?? "";
}

/**
 * The open message of a page.
 * @param {Boot} boot
 * @param {string} layout
 * @param {number} from the last event that has come
 */
export function openMessage(boot, layout, from) {
  const subject = boot.text === undefined ? { scenario: boot.scenario ?? "" } : { text: boot.text };
  return {
    op: "open",
    ...subject,
    set: boot.set ?? {},
    actions: boot.actions ?? [],
    seed: boot.seed ?? 0,
    layout,
    ...(boot.words && { words: boot.words }),
    ...(boot.show && { show: boot.show }),
    from,
  };
}

/**
 * After a break the page asks to go on from the last event it has; the fold
 * leaves out what comes twice.
 * @param {Boot} boot
 * @param {Sink} sink
 * @param {() => {layout: string, from: number}} where
 * @returns {Source}
 */
export function socketSource(boot, sink, where) {
  /** @type {WebSocket | null} */ let socket = null;
  let attempts = 0;
  let settled = false;
  let closed = false;
  /** What waits for the connection to be opened again. @type {object[]} */
  let queue = [];

  const send = (/** @type {object} */ message) => {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  };

  const sendSoon = (/** @type {object} */ message) => {
    if (send(message) || closed) return !closed;
    queue.push(message);
    // One that is being opened sends it as soon as it is.
    if (settled && socket?.readyState !== WebSocket.CONNECTING) connect();
    return true;
  };

  const connect = () => {
    const url = new URL(boot.ws ?? "/ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    try {
      socket = new WebSocket(url, PROTOCOL);
    } catch {
      sink.error({ message: "This page may not connect to its server." });
      return;
    }
    socket.addEventListener("open", () => {
      const { layout, from } = where();
      send(openMessage(boot, layout, from));
      for (const message of queue) send(message);
      queue = [];
    });
    socket.addEventListener("message", ({ data }) => {
      attempts = 0;
      sink.waiting(false);
      const op = deliver(JSON.parse(data), sink);
      if (op === "end" || op === "error") settled = true;
    });
    // A run that has come whole needs no connection, until a layout or chatter is asked for.
    socket.addEventListener("close", () => {
      if (closed || settled) return;
      sink.waiting(true);
      setTimeout(connect, backoff(attempts++));
    });
  };

  return {
    open: connect,
    layout: (layout, open) => send({ op: "stage", layout, open }),
    chatter: (from, to) => sendSoon({ op: "events", track: "chatter", from, to }),
    close: () => {
      closed = true;
      socket?.close();
    },
  };
}

/**
 * A run that came with the page.
 * @param {Boot} boot
 * @param {Sink} sink
 * @returns {Source}
 */
export function offlineSource(boot, sink) {
  const { run, events, end } = /** @type {{run: any, events: any, end: any}} */ (boot.offline);
  return {
    open: () => {
      sink.run(run);
      if (run.stage) sink.stage(run.stage);
      const batches = Array.isArray(events) && events[0]?.op ? events : [events];
      for (const batch of batches) sink.events(Array.isArray(batch) ? batch : (batch?.events ?? []));
      sink.end(end?.verdict ?? end ?? { ok: true });
    },
    layout: () => false,
    chatter: () => false,
    close: () => {},
  };
}
