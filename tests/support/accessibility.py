"""What axe finds on a page: its structure once, its contrasts in every theme."""

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async (options) => (await axe.run(document, options)).violations
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`)"""
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL = {"runOnly": STANDARDS}
STRUCTURE = {**ALL, "rules": {"color-contrast": {"enabled": False}}}
CONTRAST = {"runOnly": ["color-contrast"]}
THEMES = ("dark", "light")  # a page that was just looked at in the dark is not drawn again
# A look is a text's tag, colour, size and weight on all the grounds that shine through beneath it.
MARK = """() => {
    const grounds = new Map();
    const ground = (element) => {
        if (!grounds.has(element)) {
            const css = getComputedStyle(element).backgroundColor;
            const clear = css === "rgba(0, 0, 0, 0)";
            const above = css.startsWith("rgba") && element.parentElement;
            grounds.set(element, (clear ? "" : css) + (above ? ground(above) : ""));
        }
        return grounds.get(element);
    };
    const says = (element) => [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const looks = new Set();
    for (const element of [...document.querySelectorAll(".bd-article *")].filter(says)) {
        const { color, fontSize, fontWeight } = getComputedStyle(element);
        const look = [element.localName, color, fontSize, fontWeight, ground(element)].join(" ");
        if (!looks.has(look)) element.dataset.look = "";
        looks.add(look);
    }
    return looks.size;
}"""
# Of a figure with a description axe reads nothing but that, of a formula the MathML.
SHORTEN = """() => {
    const drawn = ":is(svg, .katex-html)[aria-hidden=true], svg[role=img]";
    for (const drawing of document.querySelectorAll(drawn)) drawing.replaceChildren();
    for (const token of document.querySelectorAll(".highlight pre span:not([data-look])")) {
        token.replaceWith(...token.childNodes);
    }
}"""
PRUNE = """() => {
    for (const element of [...document.querySelectorAll(".bd-article *")].reverse()) {
        const stripe = element.matches("tr, td, th, li");  // where it stands gives it its ground
        const holds = element.querySelector("[data-look]") || "look" in element.dataset;
        if (!holds && !stripe) element.remove();
    }
}"""


def objections(page: Page) -> list[str]:
    """What axe objects to: the structure once, and in each theme one text of each look."""
    thin_out(page)
    return [*objections_to_structure(page), *objections_to_contrast(page)]


def thin_out(page: Page) -> None:
    """Mark one text of each look in either theme, and empty drawings and formulas.

    A page has thousands of texts and some sixty looks, and axe takes its time for each element.
    """
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(MARK) > 3, "no text is left to look at"
    page.evaluate(SHORTEN)


def objections_to_structure(page: Page) -> list[str]:
    """What axe objects to but for contrast."""
    # The theme makes what scrolls reachable a moment after the width has changed; in an editor the
    # text itself takes the focus.
    page.wait_for_function("""() => [
        ...document.querySelectorAll(":is(pre, div):not(.cm-scroller)[tabindex]")
    ].every((box) => box.scrollWidth <= box.clientWidth || box.tabIndex === 0)""")
    return violations(page, STRUCTURE)


def objections_to_contrast(page: Page) -> list[str]:
    """What axe objects to in the colours of the marked texts; the others are removed."""
    page.evaluate(PRUNE)
    objected = []
    for theme in THEMES:
        # Else a button fades from one theme's colours to the other's, and halfway is hard to read.
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        objected += [f"{theme}: {line}" for line in violations(page, CONTRAST)]
    page.emulate_media(reduced_motion="no-preference")
    return objected


def violations(page: Page, options: dict) -> list[str]:
    """What axe objects to under some of its options."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=AXE)
    return page.evaluate(RUN, options)
