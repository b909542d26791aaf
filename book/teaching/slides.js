// Show a deck: keys, notes and numbers are reveal.js's; a slide that is too full is made smaller.

import Notes from "./reveal/plugin/notes.mjs";
import Reveal from "./reveal/reveal.mjs";

const WIDTH = 1280;
const HEIGHT = 720;

/** Make what is on a slide smaller, in steps of 4%, until it fits. */
export function fit(slide) {
  const parts = slide.querySelectorAll(".shown, .answer");
  const full = () => slide.scrollHeight > slide.clientHeight || slide.scrollWidth > slide.clientWidth;
  for (let zoom = 0.96; full() && zoom > 0.3; zoom -= 0.04)
    for (const part of parts) part.style.zoom = zoom;
}

/** Start the deck. */
export function show() {
  for (const event of ["ready", "slidechanged"]) Reveal.on(event, ({ currentSlide }) => fit(currentSlide));
  window.deck = Reveal; // for the console, and for tests
  return Reveal.initialize({
    width: WIDTH,
    height: HEIGHT,
    margin: 0.03,
    hash: true,
    slideNumber: true,
    transition: "none",
    center: false,
    plugins: [Notes],
  });
}
