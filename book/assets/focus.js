// Escape closes a dialog wherever the focus is, and the focus returns to the button that opened
// it. The theme closes its search only from within, and loses the focus of whoever leaves.

let opener = null;

addEventListener(
  "click",
  ({ target }) => {
    if (target.closest("dialog a")) opener = null; // Whoever follows a link has gone on.
    else if (!target.closest("dialog")) opener = target.closest("button");
  },
  true,
);

addEventListener(
  "keydown",
  (event) => {
    const open = document.querySelector("dialog[open]");
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    open.close();
  },
  true,
);

for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("close", () => setTimeout(() => opener?.focus({ preventScroll: true })));
}
