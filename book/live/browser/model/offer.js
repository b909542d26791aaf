// The offer to run a language model in the page, or why this device gets none. The rest comes with
// the press.

import { h } from "../../../../figures/widgets/kit.js";
import * as work from "../work.js";

const WIDTH = 700; // pixels that 30 columns of heads take
const MEMORY = 4; // gigabytes, of which the model takes 0.8

/** What the model's file is called and how large it is; null if the book was built without it. */
export const model = () => JSON.parse(MODEL);

/** Why a device cannot run the model, as the end of a sentence; null if it can. */
export function refusal({ width, memory, agent, touches }) {
  if (/iPhone|iPad|iPod/.test(agent) || (/Macintosh/.test(agent) && touches > 1))
    return "phones and tablets of this kind end a page that takes 800 MB of memory";
  if (memory && memory < MEMORY) return `this device has ${memory} GB of memory, and a page with the model needs ${MEMORY}`;
  if (width < WIDTH) return "this screen is too narrow for its 270 heads";
  return null;
}

/** What a browser says of its device. */
function device() {
  const { deviceMemory, userAgent, maxTouchPoints } = navigator;
  return { width: innerWidth, memory: deviceMemory, agent: userAgent, touches: maxTouchPoints };
}

export function offerModel(place) {
  if (location.protocol === "file:" || !model()) return;
  const why = refusal(device());
  if (why) {
    const recorded = "The figure with the arrows shows recorded numbers of the same model.";
    place.append(h("p", { class: "live-status" }, `Not on this device: ${why}. ${recorded}`));
    return;
  }
  const size = Math.round(model().bytes / 1e6) + Number(PYTHON_MB);
  const isKept = work.fact("model") === model().file;
  const label = isKept ? "Start SmolLM2" : `Load SmolLM2 (${size} MB, once)`;
  const cost = `It ${isKept ? "is in this browser already" : "stays in this browser"}, and takes 0.8 GB of memory.`;
  const status = h("p", { class: "live-status", role: "status" }, cost);
  const press = async () => {
    start.disabled = true;
    try {
      await (await import("./panel.js")).openModel(place, status);
    } catch (error) {
      status.textContent = error.message;
      start.disabled = false;
    }
  };
  const start = h("button", { type: "button", class: "live-check", onclick: press }, label);
  place.append(h("div", { class: "live-tools" }, start), status);
}
