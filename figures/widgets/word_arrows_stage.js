// The two pictures of the figure of words and arrows: the sentence, and the map of all heads.

import { fmt } from "./arithmetic.js";
import { h, svg } from "./kit.js";
import { LEAST, arc, arrows, called, pieces } from "./word_arrows_text.js";

/** The words as radio buttons in one tab stop, with the arrows between them in a picture. */
export function stage({ onQuery }) {
  const words = h("div", { class: "kit-said", role: "radiogroup", "aria-label": "the word that looks" });
  const picture = svg("svg", { width: 0, height: 0, class: "kit-arcs", "aria-hidden": "true" });
  const el = h("div", { class: "kit-stage kit-upright" }, picture, words); // Fits before it is measured.
  let [buttons, shown, width] = [[], null, 0];
  const step = (event) => {
    const at = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
    if (buttons[to]) onQuery(to);
  };
  words.addEventListener("keydown", step);
  function build(tokens) {
    buttons = tokens.map((token, i) => {
      const number = h("span", { class: "kit-number" });
      return h("button", { type: "button", class: "kit-spoken", role: "radio", onclick: () => onQuery(i) }, h("span", {}, token.trim() || "⏎"), number);
    });
    const grouped = pieces(tokens).map((group) =>
      h("span", { class: group.length > 1 ? "kit-joined" : "kit-joint" }, ...group.map((i) => buttons[i])),
    );
    words.replaceChildren(...grouped, h("span", { class: "kit-next", "aria-hidden": "true" }, "?"));
    width = 0;
  }
  /** In one line if it fits, else one word below the other. */
  function arrange() {
    if (!shown || el.clientWidth === width || !el.clientWidth) return;
    width = el.clientWidth;
    el.classList.remove("kit-upright");
    el.classList.toggle("kit-upright", words.scrollWidth > width);
    paint();
  }
  function paint() {
    const upright = el.classList.contains("kit-upright");
    const middle = ({ offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: tall }) => (upright ? y + tall / 2 : x + w / 2);
    const along = buttons.map(middle);
    const [wide, tall] = upright ? [width - words.offsetWidth - 8, words.offsetHeight] : [width, 116];
    const room = (upright ? Math.min(wide, 190) : tall) - 12;
    picture.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    picture.setAttribute("width", wide);
    picture.setAttribute("height", tall);
    const extent = along.at(-1) - along[0];
    picture.replaceChildren(...shown.arrows.map(({ from, to, weight }) => {
      const high = 14 + (room - 14) * Math.sqrt(Math.abs(along[from] - along[to]) / extent);
      const [tip, half] = [6 + 7 * weight, 4 + 5 * weight];
      const end = along[to];
      const corners = [[end - half, tip], [end + half, tip], [end, 0]];
      const points = corners.map(([a, up]) => (upright ? `${up},${a}` : `${a},${tall - up}`)).join(" ");
      const kind = `kit-arrow${to ? "" : " kit-sink"}${shown.out ? " kit-gone" : ""}`;
      return svg("g", { class: kind, "data-arrow": `${from},${to}` },
        svg("path", { d: arc(along[from], end, high, tall, upright, tip), "stroke-width": (1 + 8 * weight).toFixed(1) }),
        svg("polygon", { points }));
    }));
  }
  function set(tokens, table, state) {
    if (tokens !== shown?.tokens) build(tokens);
    shown = { tokens, out: state.out, arrows: arrows(table, state.query, state.every, state.every ? 0.15 : LEAST) };
    buttons.forEach((word, i) => {
      const weight = i <= state.query ? table[state.query][i] : null;
      word.lastChild.textContent = weight === null || (weight < 0.01 && i < state.query) ? "" : fmt(weight);
      word.classList.toggle("kit-later", weight === null);
      word.setAttribute("aria-checked", i === state.query);
      word.setAttribute("aria-label", `${called(tokens, i)}${weight === null ? "" : `, weight ${fmt(weight)}`}`);
      word.tabIndex = i === state.query ? 0 : -1;
    });
    if (width) paint();
    else arrange();
  }
  new ResizeObserver(arrange).observe(el);
  return { el, set };
}

/** All heads as squares, coloured by shares from -1 to 1, the chosen one with a ring. */
export function headMap({ layers, heads, onPick }) {
  const squares = Array.from({ length: layers * heads }, (_, head) =>
    svg("rect", { x: 10 * Math.floor(head / heads), y: 10 * (head % heads), width: 9, height: 9 }),
  );
  const ring = svg("rect", { class: "kit-ring", width: 11, height: 11 });
  const picture = svg("svg", { viewBox: `-2 -2 ${10 * layers + 3} ${10 * heads + 3}`, class: "kit-map", role: "img" }, ...squares, ring);
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const at = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
    onPick(at((event.clientX - box.left) / box.width, layers) * heads + at((event.clientY - box.top) / box.height, heads));
  });
  const set = (shares, head, label) => {
    picture.setAttribute("aria-label", label);
    squares.forEach((square, i) => {
      const share = Math.max(-1, Math.min(1, shares[i]));
      const step = Math.round(40 * Math.abs(share));
      square.style.fill = `var(--${share < 0 && step ? "n" : "w"}${step})`;
    });
    ring.setAttribute("x", 10 * Math.floor(head / heads) - 1);
    ring.setAttribute("y", 10 * (head % heads) - 1);
  };
  return { el: picture, set, squares };
}
