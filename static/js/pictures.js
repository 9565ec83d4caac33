// Pictures of the stage on pages of text.

/** A picture outside the page does not see the theme that the reader chose on it. */
export function pictures() {
  const theme = document.documentElement.getAttribute("data-theme");
  if (!theme) return;
  const themed = (/** @type {string} */ address) => {
    const url = new URL(address, document.baseURI);
    url.searchParams.set("theme", theme);
    return url.href;
  };
  for (const img of document.querySelectorAll("img")) {
    if (new URL(img.src).searchParams.get("theme") !== theme) img.src = themed(img.src);
  }
  for (const source of document.querySelectorAll("source")) {
    if (!source.srcset.includes(`theme=${theme}`)) source.srcset = themed(source.srcset);
  }
}
