// What the search page shows, and in which order: Sphinx would show every page that has the word,
// chapter 10 before chapter 2, begin each excerpt with the table of contents, and give the term
// of a glossary entry without its meaning.

const MOST = 12; // Each result fetches its whole page for an excerpt.
Documentation.addTranslations({
  locale: "en",
  plural_expr: "n != 1",
  messages: {
    "Search finished, found ${resultCount} page(s) matching the search query.":
      `The best results, at most ${MOST}:`,
  },
});
const all = Search._performSearch;
Search._performSearch = (...asked) => all(...asked).slice(-MOST); // The best come last.

const PLACES = [
  [/^appendix\/(glossary|notation)$/, 0.9],
  [/^chapters\//, 0.8],
  [/^exercises\//, 0.4],
  [/^appendix\/reference\//, 0.3],
];

Scorer.score = ([page, , , , score]) => {
  const place = PLACES.find(([where]) => where.test(page))?.[1] ?? 0.6;
  const number = Number(page.match(/\/(\d\d)_/)?.[1] ?? 0);
  return Math.round(score) + place - number / 1000;
};

const written = (element) => element.textContent.replace(/\\[()[\]]/g, "").trim();

Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  page.querySelectorAll(
    ".headerlink, .prev-next-area, script, style, .katex-html, semantics > :not(annotation)",
  ).forEach((e) => e.remove()); // a formula stands there three times: its TeX is left
  const found = page.getElementById(decodeURIComponent(anchor.slice(1)));
  if (found?.matches("tr")) return [...found.cells].map(written).join(" · ");
  if (found?.matches("dt")) {
    let meaning = found;
    while (meaning.matches("dt")) meaning = meaning.nextElementSibling;
    return `${written(found)}: ${written(meaning)}`;
  }
  return written(found ?? page.querySelector("article"));
};
