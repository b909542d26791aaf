// In JupyterLab: what is folded in a page shows that it opens, and its formulas.
//
// jupyterlab-myst 2.7.0 writes formulas inside <details> as bare TeX, and its style sheet takes
// the triangle from <summary>. This sets the formulas with the MathJax that JupyterLab has.

const RENDERMIME = "@jupyterlab/rendermime";
const FORMULAS = "details .math-inline, details .math-display";
const FOLD = ".jp-Notebook .jp-RenderedHTMLCommon";
const STYLE = `
  ${FOLD} summary { cursor: pointer; list-style: disclosure-closed inside; }
  ${FOLD} details[open] > summary { list-style-type: disclosure-open; }
  ${FOLD} details { margin: 0.4em 0; }
  ${FOLD} details > :not(summary) { margin-left: 1.1em; }`;

function typesetFolds(typesetter) {
  for (const formula of document.querySelectorAll(FORMULAS)) {
    const display = formula.classList.contains("math-display");
    const [open, close] = display ? ["\\[", "\\]"] : ["\\(", "\\)"];
    formula.className = ""; // It is set once, and may be found again.
    formula.textContent = `${open}${formula.textContent}${close}`;
    typesetter.typeset(formula);
  }
}

function plugin(token) {
  return {
    id: "attention-course:folds",
    autoStart: true,
    requires: [token],
    activate(app, typesetter) {
      const style = document.createElement("style");
      style.textContent = STYLE;
      document.head.append(style);
      const observer = new MutationObserver(() => typesetFolds(typesetter));
      observer.observe(document.body, { childList: true, subtree: true });
    },
  };
}

// The form in which JupyterLab loads an extension that was built elsewhere.
let shared;
(window._JUPYTERLAB ??= {})["attention-course"] = {
  init: (scope) => {
    shared = scope;
  },
  get: async () => {
    const [rendermime] = Object.values(shared[RENDERMIME]);
    const { ILatexTypesetter } = (await rendermime.get())();
    return () => plugin(ILatexTypesetter);
  },
};
