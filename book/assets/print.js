// Paper is white: whatever the theme on the screen, a page is printed in the light one.

const page = document.documentElement;
let theme;
addEventListener("beforeprint", () => {
  theme ??= page.dataset.theme; // some browsers say it twice
  page.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  page.dataset.theme = theme;
  theme = undefined;
});
