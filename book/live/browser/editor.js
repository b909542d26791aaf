// The editor of an answer: CodeMirror with Python, in the colours of the page's other code.

import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";

import { h } from "../../../figures/widgets/kit.js";

// The classes that Pygments writes, so that both follow the same style sheet, light and dark.
const COLOURS = tagHighlighter([
  { tag: tags.keyword, class: "k" },
  { tag: tags.moduleKeyword, class: "kn" },
  { tag: tags.operatorKeyword, class: "ow" },
  { tag: [tags.bool, tags.null], class: "kc" },
  { tag: tags.self, class: "bp" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
  { tag: tags.meta, class: "nd" },
  { tag: [tags.string, tags.special(tags.string)], class: "s2" },
  { tag: tags.number, class: "mi" },
  { tag: tags.comment, class: "c1" },
  { tag: tags.operator, class: "o" },
]);

/** Colour Python that a cell has quoted, as the page's other code is. */
export function colour(element) {
  const text = element.textContent;
  const parts = [];
  const put = (part, kinds) => parts.push(kinds ? h("span", { class: kinds }, part) : part);
  highlightCode(text, pythonLanguage.parser.parse(text), COLOURS, put, () => parts.push("\n"));
  element.replaceChildren(...parts);
}

const LOOK = EditorView.theme({
  "&": { color: "var(--ink)", background: "var(--surface)", fontSize: "inherit" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "0.85rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1rem 0 0.5rem" },
  ".cm-gutters": { background: "none", border: "0", color: "var(--muted)" },
  "&.cm-focused .cm-matchingBracket": { background: "none", outline: "1px solid var(--accent)" },
});

/** Put an editor into an element. */
export function mountEditor(parent, { text, label, describedBy, onChange, onPress, onCheck, onLeave }) {
  const act = (does) => () => {
    does();
    return true;
  };
  const keys = [
    { key: "Shift-Enter", run: act(onCheck) },
    { key: "Mod-Enter", run: act(onCheck) },
    { key: "Escape", run: act(onLeave) },
  ];
  const attributes = { "aria-label": label, "aria-describedby": describedBy, tabindex: "0", autocapitalize: "off", spellcheck: "false" };
  // The page's own keys, such as / for the search, would take them from what is written.
  parent.addEventListener("keydown", (event) => event.stopPropagation());
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([...keys, indentWithTab, ...historyKeymap, ...defaultKeymap]),
        lineNumbers(), history(), indentOnInput(), indentUnit.of("    "), EditorState.tabSize.of(4),
        bracketMatching(), pythonLanguage, syntaxHighlighting(COLOURS), LOOK,
        EditorView.contentAttributes.of(attributes),
        EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
        EditorView.domEventHandlers({ pointerdown: () => void onPress() }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    set: (words) =>
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: words },
        annotations: isolateHistory.of("full"), // one step back undoes this and nothing else
      }),
    focus: (at) => {
      if (at !== null) view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } });
      view.focus();
    },
  };
}
