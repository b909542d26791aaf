// A colour is a point with three named coordinates: mix one, and see which named colours are near.

import { cosine, fmt, norm, subtract } from "./arithmetic.js";
import { button, column, frame, h, readout, row, slider } from "./kit.js";

const CHANNELS = ["red", "green", "blue"];

/** The names that come nearest by distance and by cosine; several if they tie. */
export function neighbours(mix, colours) {
  const names = Object.keys(colours);
  const distances = names.map((name) => norm(subtract(mix, colours[name])));
  const low = Math.min(...distances);
  const near = names.filter((_, i) => distances[i] <= low + 1e-9);
  if (norm(mix) === 0) return { distance: low, near, cosine: null, alike: [] };
  const cosines = names.map((name) => (norm(colours[name]) ? cosine(mix, colours[name]) : -1));
  const high = Math.max(...cosines);
  return { distance: low, near, cosine: high, alike: names.filter((_, i) => cosines[i] >= high - 1e-9) };
}

function render({ model, el }) {
  const first = model.get("mix");
  const change = (mix) => {
    model.set("mix", mix);
    model.save_changes();
  };
  const parts = CHANNELS.map((name, i) =>
    slider({
      label: name, min: 0, max: 255, step: 1, value: first[i], show: (x) => `${x}`,
      onInput: (x) => change(model.get("mix").map((old, j) => (i === j ? x : old))),
    }),
  );
  const swatch = h("div", { role: "img", style: "width:9rem;height:7rem;border:1px solid var(--muted);border-radius:.4rem" });
  const near = readout({ label: "nearest by distance", name: "near", live: true });
  const alike = readout({ label: "nearest by cosine", name: "alike" });
  const half = button("Halve", () => change(model.get("mix").map((x) => Math.floor(x / 2))));
  const again = button("Start again", () => change(first));

  function draw() {
    const mix = model.get("mix");
    const seen = neighbours(mix, model.get("colours"));
    parts.forEach(({ set }, i) => set(mix[i]));
    swatch.style.background = `rgb(${mix.join(" ")})`;
    swatch.setAttribute("aria-label", `the colour (${mix.join(", ")})`);
    near.set(`${seen.near.join(", ")} (${fmt(seen.distance, 0)})`);
    const none = "none: black has no direction";
    alike.set(seen.cosine === null ? none : `${seen.alike.join(", ")} (${fmt(seen.cosine, 3)})`);
  }

  const controls = column(...parts.map((one) => one.el), row(half, again), near.el, alike.el);
  frame(el, "Mix a colour", row(swatch, controls));
  model.on("change:mix", draw);
  draw();
}

export default { render };
