// Light, dark, or what the system says. Storage throws in a sandboxed frame, and
// the choice then lasts as long as the page.

const THEMES = ["system", "light", "dark"];
const KEY = "highwater.theme";

/** @returns {string} */
function stored() {
  try {
    return localStorage.getItem(KEY) ?? "system";
  } catch {
    return "system";
  }
}

/** @param {string} theme */
function store(theme) {
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Nothing is lost but the memory of it.
  }
}

/** @param {string} theme */
function apply(theme) {
  const root = document.documentElement;
  if (theme === "system") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme);
  for (const button of document.querySelectorAll('[data-cmd="theme"]')) {
    button.setAttribute("aria-label", `Theme: ${theme}`);
  }
}

/** A theme that the server or the address already set stands until the reader chooses. */
export function initTheme() {
  const given = document.documentElement.getAttribute("data-theme");
  const theme = stored();
  apply(theme === "system" && given ? given : theme);
}

export function nextTheme() {
  const now = document.documentElement.getAttribute("data-theme") ?? "system";
  const i = THEMES.indexOf(now);
  const theme = THEMES[(i + 1) % THEMES.length];
  store(theme);
  apply(theme);
  return theme;
}
