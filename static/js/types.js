// The shapes of what comes over the wire. Types only: nothing here exists at run time.

/**
 * One thing that happened. Events are numbered from 1; several may share a time.
 * @typedef {object} Ev
 * @property {number} n
 * @property {number} t virtual microseconds
 * @property {string} kind
 * @property {string} [node]
 * @property {string} [part]
 * @property {string} [group]
 * @property {number} [cause]
 * @property {number} [missing] what kept away what this timer waited for
 * @property {[number, number]} [via] where the chain of causes comes back to the main track (0: nowhere), and after how many background events
 * @property {number} [msg]
 * @property {string} [api]
 * @property {string} [from]
 * @property {string} [to]
 * @property {number} [corr] correlation id
 * @property {number} [arrive]
 * @property {boolean} [chatter]
 * @property {Record<string, unknown>} [f]
 * @property {[string, any][]} [ch]
 * @property {string} [say]
 * @property {Pill} [pill]
 */

/**
 * What a message looks like on its way.
 * @typedef {object} Pill
 * @property {string} text
 * @property {string} lane
 * @property {number} [more] further partitions it also speaks about
 * @property {string[]} [tags] ids of the records it carries
 * @property {boolean} [error] an answer that refuses
 */

/**
 * @typedef {object} Chapter
 * @property {string} id
 * @property {string} title
 * @property {number} n
 * @property {string} [say]
 * @property {string[]} [focus]
 * @property {Ask} [ask]
 */

/**
 * A question to answer before going on; the answer is that of this run.
 * @typedef {object} Ask
 * @property {string} question
 * @property {string[]} options
 * @property {number} answer
 * @property {string} because
 */

/** @typedef {{s0: number, s1: number, label: string}} FoldedSpan */

/**
 * @typedef {object} Run
 * @property {string} id
 * @property {string} title
 * @property {string} [summary]
 * @property {number} last
 * @property {number} [main]
 * @property {number} end
 * @property {Chapter[]} chapters
 * @property {[number, number, number][]} story
 * @property {FoldedSpan[]} [folds]
 * @property {import("./rings.js").Countdown[]} [countdowns]
 * @property {Group[]} [groups]
 * @property {[string, string, string | null, string][]} [records]
 * @property {Record<string, [string, string, string, string][]>} [settings] by thing: key, value, default, meaning
 * @property {Record<string, number>} [producers]
 * @property {string} [stage]
 */

/**
 * A group: who may read, and the partitions of its topics.
 * @typedef {object} Group
 * @property {string} id
 * @property {string[]} members
 * @property {string[]} parts
 */

/**
 * @typedef {object} Verdict
 * @property {boolean} ok
 * @property {{say: string, ok: boolean, n: number}[]} [expect]
 * @property {{name: string, ok: boolean, n: number}[]} [invariants]
 */

/** @typedef {{code?: string, message: string, line?: number, column?: number}} Failure */

/** The playhead: an event and a story time. @typedef {{n: number, s: number}} Cursor */

/**
 * @typedef {object} Boot
 * @property {string} [scenario]
 * @property {string} [text]
 * @property {string} [layout]
 * @property {Record<string, unknown>} [set]
 * @property {unknown[]} [actions]
 * @property {number} [seed]
 * @property {string} [ws]
 * @property {string} [words] "library", or nothing for Kafka's
 * @property {string[]} [show] what a small stage shows of a run
 * @property {{run: any, events: any, end: any} | null} [offline]
 */

export {};
