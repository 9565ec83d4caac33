// Making elements in one line.

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | boolean | undefined>} [attributes] `text` is the content; true is an attribute without value
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, attributes = {}, ...children) {
  const el = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key === "text") el.textContent = String(value);
    else el.setAttribute(key, value === true ? "" : value);
  }
  el.append(...children);
  return el;
}

/**
 * A button that says what it does.
 * @param {string} text
 * @param {() => void} act
 * @param {Record<string, string | boolean | undefined>} [attributes]
 */
export function button(text, act, attributes = {}) {
  const el = make("button", { type: "button", text, ...attributes });
  el.addEventListener("click", act);
  return el;
}

/**
 * The name of an event's kind as a class: "hw.advance" is "k-hw".
 * @param {string} kind
 */
export function family(kind) {
  return `k-${kind.split(".")[0]}`;
}

/**
 * A share of a length, as styles want it.
 * @param {number} p
 */
export function percent(p) {
  return `${(p * 100).toFixed(3)}%`;
}
