// One token at a time: what a step computes, keeps and reads, with and without a KV cache.

import { button, choice, column, frame, grid, h, readout, row, slider, toggle } from "./kit.js";

const whole = (x) => Math.round(x).toLocaleString("en-US");
const size = (bytes) =>
  bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : bytes >= 1e3 ? `${(bytes / 1e3).toFixed(1)} kB` : `${bytes} bytes`;

/** The tokens and scores that this step computes, and the bytes that it keeps and reads. */
export function counts({ sizes, step, cached, kv_heads, window }) {
  const seen = Array.from({ length: step }, (_, i) => Math.min(i + 1, window || i + 1));
  const perToken = 2 * sizes.layers * kv_heads * sizes.d_k * sizes.bytes;
  const saved = 2 * sizes.layers * sizes.d_model * (sizes.kv_heads - kv_heads) * sizes.d_k;
  const kept = cached ? seen.at(-1) * perToken : 0;
  const pairs = cached ? seen.at(-1) : seen.reduce((a, b) => a + b, 0);
  return {
    tokens: cached ? 1 : step,
    scores: pairs * sizes.layers * sizes.heads,
    kept,
    read: (sizes.parameters - saved) * sizes.bytes + kept,
  };
}

/** Of each score: "now", "before" (computed in an earlier step), "" (not yet), or "hidden". */
export function cells({ tokens, step, cached, window }) {
  return tokens.map((_, i) =>
    tokens.map((_, j) => {
      if (j > i || (window && j <= i - window)) return "hidden";
      if (i >= step) return "";
      return i === step - 1 || !cached ? "now" : "before";
    }),
  );
}

/** The sentences beside the picture. */
export function report(state) {
  const now = counts(state);
  const held = Math.min(state.step, state.window || state.step);
  const word = state.tokens[state.step - 1];
  return {
    computed: `queries, keys and values of ${now.tokens === 1 ? `one token, ${word}` : `all ${now.tokens} tokens`}; ${whole(now.scores)} scores`,
    kept: state.cached ? `keys and values of ${held} ${held === 1 ? "token" : "tokens"}: ${size(now.kept)}` : "nothing",
    read: `${size(now.read - now.kept)} of parameters${now.kept ? ` and ${size(now.kept)} of cache` : ""}`,
    full: size(counts({ ...state, step: 8192 }).kept),
  };
}

function render({ model, el }) {
  const keys = ["tokens", "sizes", "step", "cached", "kv_heads", "window"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const put = (key, value) => {
    model.set(key, value);
    model.save_changes();
  };
  const tokens = model.get("tokens");
  const pick = (key, label, options) =>
    choice({ label, options, value: `${model.get(key)}`, onChange: (x) => put(key, Number(x)) });
  const controls = {
    step: slider({ label: "tokens read", min: 1, max: tokens.length, step: 1, value: model.get("step"), show: (x) => `${x}`, onInput: (x) => put("step", x) }),
    cached: toggle({ label: "KV cache", value: model.get("cached"), onChange: (on) => put("cached", on) }),
    kv_heads: pick("kv_heads", "KV heads for 9 query heads", [["9", "9 (multi-head)"], ["3", "3 (grouped)"], ["1", "1 (multi-query)"]]),
    window: pick("window", "window", [["0", "none"], ["4", "the last 4"]]),
  };
  const next = button("Next token", () => put("step", (model.get("step") % tokens.length) + 1));
  const labels = { computed: "Computed now:", kept: "Kept for later:", read: "Loaded from memory:", full: "Cache after 8,192 tokens:" };
  const texts = Object.fromEntries(
    Object.entries(labels).map(([name, label]) => [name, readout({ label, live: name === "kept", name })]),
  );
  const cache = grid({ label: "KV cache: ● kept", rows: ["K", "V"], columns: tokens, write: (x) => (x ? "●" : "") });
  const scores = grid({ label: "scores: ● computed now, · earlier", rows: tokens, columns: tokens, write: (x) => (x > 0.5 ? "●" : x ? "·" : "") });

  function draw() {
    const state = read();
    const kinds = cells(state);
    const held = (j) => state.cached && j < state.step && (!state.window || j >= state.step - state.window);
    cache.set(["K", "V"].map(() => tokens.map((_, j) => (held(j) ? (j === state.step - 1 ? 0.9 : 0.4) : 0))), {
      high: 1,
      selected: (i, j) => state.cached && j === state.step - 1,
    });
    const mark = { now: 0.9, before: 0.1, "": 0, hidden: 0 };
    scores.set(kinds.map((line) => line.map((kind) => mark[kind])), {
      high: 1,
      mask: kinds.map((line) => line.map((kind) => kind !== "hidden")),
    });
    const said = report(state);
    for (const name of Object.keys(labels)) texts[name].set(said[name]);
  }

  frame(
    el,
    "One token at a time",
    row(controls.step.el, next),
    row(controls.cached.el, controls.window.el, controls.kv_heads.el),
    column(...Object.values(texts).map(({ el: line }) => line)),
    h("div", { class: "kit-column kit-dense kit-narrow" }, cache.el, scores.el),
  );
  for (const key of ["step", "cached", "kv_heads", "window"])
    model.on(`change:${key}`, () => {
      const value = model.get(key);
      controls[key].set(key === "kv_heads" || key === "window" ? `${value}` : value);
      draw();
    });
  draw();
}

export default { render };
