// Kafka's words or the library's: the choice stands in the address, and in storage
// where a page may have one. The other words are another page of the same run, so
// the switch opens it at the same moment.

const KEY = "highwater.words";
/** Set while the switch loads the page anew, so that the focus can go back to it. */
const SWITCHED = "highwater.switched";

/** @returns {string} */
function stored() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} words */
function store(words) {
  try {
    if (words === "library") localStorage.setItem(KEY, words);
    else localStorage.removeItem(KEY);
    sessionStorage.setItem(SWITCHED, "1");
  } catch {
    // The address has it.
  }
}

/**
 * The address of this page in the words that the reader chose before, "" where the
 * address says which or there is no other choice.
 * @param {string} address
 * @param {string} choice
 */
export function chosen(address, choice) {
  const url = new URL(address);
  if (choice !== "library" || url.searchParams.has("words")) return "";
  url.searchParams.set("words", choice);
  return url.href;
}

/**
 * Whether the page goes away to come back in the chosen words. A frame has those
 * that its address says.
 * @param {HTMLElement | null} root
 */
export function followChoice(root) {
  if (!root?.querySelector(".hw-words-switch") || root.dataset.embed === "true") return false;
  const address = chosen(location.href, stored());
  if (address) location.replace(address);
  return address !== "";
}

/**
 * @param {HTMLElement} root
 * @param {() => string} moment the hash of the moment that is shown
 */
export function initWords(root, moment) {
  const link = /** @type {HTMLAnchorElement | null} */ (root.querySelector(".hw-words-switch"));
  if (!link) return;
  const limits = root.querySelector(".hw-limits");
  root.querySelector(".hw-words-limits")?.addEventListener("click", (e) => {
    const { metaKey, ctrlKey, shiftKey } = /** @type {MouseEvent} */ (e);
    if (!(limits instanceof HTMLDialogElement) || metaKey || ctrlKey || shiftKey) return;
    e.preventDefault();
    limits.showModal();
    limits.querySelector("h2")?.focus(); // from its top, not from the button at its end
  });
  link.addEventListener("click", (e) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey) return;
    e.preventDefault();
    const url = new URL(link.href);
    store(url.searchParams.get("words") ?? "");
    url.hash = moment();
    location.replace(url);
  });
  try {
    if (!sessionStorage.getItem(SWITCHED)) return;
    sessionStorage.removeItem(SWITCHED);
    link.focus({ preventScroll: true });
  } catch {
    // The focus begins at the player, as on any page.
  }
}
