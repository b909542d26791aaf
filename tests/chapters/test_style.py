"""The words of the rewritten pages are the field's; codespell catches single words everywhere.

A rewritten page is a core page that has a deeper page, the deeper page, and their exercises.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("chapters/{}.md", "chapters/{}_deeper.md", "exercises/{}.md")
STEMS = sorted(path.stem[:-7] for path in (ROOT / "chapters").glob("*_deeper.md"))
PAGES = [
    ROOT / place.format(stem)
    for stem in STEMS
    for place in PLACES
    if (ROOT / place.format(stem)).exists()
]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf8") for path in PAGES}

INSTEAD = {  # a private word or a translated construction: what to write
    r"\blikeness(es)?\b": "similarity",
    r"\bfeed-forward maps?\b": "feed-forward network",
    r"\btables? of (scores|weights)\b": "score matrix, attention matrix",
    r"\btables? of (words|positions)\b": "token embedding, position embedding",
    r"\bheads? of (queries|keys)\b": "query heads, KV heads",
    r"\bcache of keys and values\b": "KV cache",
    r"(?<!residual )(?<!residual-)\bstream\b(?! of)": "residual stream",
    r"\b(number|place) of the (word|token)\b": "position, index",
    r"\bblind guess\b": "uniform baseline",
    r"\bidle words\b": "stop words",
    r"\beven weights\b": "uniform attention",
    r"\bhand-ins?\b": "submission",
    r"\bwrong ideas?\b": "misconception, mistake",
    r"\bfor ever\b": "forever",
    r"\bgraphics cards?\b": "GPU",
    r"\bway (there|back)\b": "forward pass, backward pass",
    r"\b(the|a) bends?\b": "nonlinearity, activation function",
    r"\bless the\b": "minus the",
    r"(?<![\w.])Who (forgets|leaves|reads|guesses|wants|takes|knows|counts)\b": "If you ...",
    r"\bBeside (it|them|this) stands?\b": "name the thing first",
    r"(?:^|[\s(=])[-\N{MINUS SIGN}]?\.\d": "0.47, with the leading zero",
    r"\d %": "24%, without a space",
}
PICTURES: set[tuple[str, str]] = set()  # (page, phrase) that introduces the picture behind a term
NOT_PROSE = re.compile(
    r"\A---.*?^---$|^```.*?^```$|^\$\$.*?\$\$[^\n]*$|\$[^$\n]+\$|`[^`\n]*`|\]\([^)]*\)"
    r"|</?[a-z][^>\n]*>",
    re.DOTALL | re.MULTILINE,
)


def names(text: str) -> list[str]:
    """The names in a text between semicolons."""
    return [" ".join(name.split()) for name in text.split(";")]


NAMES = names("""nonlinearity; activation function; backpropagation; forward pass; backward pass;
positional encoding; position embedding; token embedding; sequence length; context length;
attention matrix; attention pattern; scaled dot-product attention; residual stream;
residual connection; skip connection; hidden state; logits; cross-entropy;
negative log-likelihood; perplexity; autoregressive; causal; decoder-only; encoder;
language modelling; pre-training; fine-tuning; hyperparameter; epoch; minibatch; learning rate;
warm-up; optimizer state; gradient clipping; dropout; unigram; bigram; KV cache; prefill; decode;
special token; subword; padding; LM head; weight tying; activation patching; ablation; logit lens;
projection; concatenate; broadcast""")
# In bold in no chapter yet: take out what is introduced, and never add any.
STILL_MISSING = names("epoch; logit lens; minibatch")


@pytest.mark.parametrize("name", TEXTS)
def test_a_rewritten_page_uses_the_words_of_the_field(name):
    prose = NOT_PROSE.sub(lambda match: "\n" * match[0].count("\n"), TEXTS[name])
    slips = [
        f"{name}:{number}: {match[0].strip()!r}: write {better}"
        for pattern, better in INSTEAD.items()
        for number, line in enumerate(prose.split("\n"), 1)
        for match in re.finditer(pattern, line)
        if (name, match[0].strip()) not in PICTURES
    ]
    assert not slips, "\n".join(slips)


@pytest.mark.parametrize("term", NAMES)
def test_a_standard_term_is_in_the_glossary(term):
    glossary = (ROOT / "appendix/glossary.md").read_text("utf8")
    assert re.search(rf"(?<![\w-]){re.escape(term)}", glossary, re.IGNORECASE)


def test_every_standard_term_is_introduced_in_bold_on_one_of_the_chapters():
    chapters = "\n".join(path.read_text("utf8") for path in (ROOT / "chapters").glob("*.md"))
    bold = "\n".join(re.findall(r"\*\*([^*\n]+)\*\*", chapters)).lower()
    forms = {term: rf"(?<![\w-]){term.lower()}(s|es|d|ed)?(?!\w)" for term in NAMES}
    missing = {term for term, form in forms.items() if not re.search(form, bold)}
    new = sorted(missing - set(STILL_MISSING))
    assert not new, f"introduce these in bold: {new}"


def nameless_headers(text: str) -> list[str]:
    """Heads of tables with a column that has no words, which a screen reader cannot announce."""
    heads = re.findall(r"^\|(.*)\|\n\|[-:| ]+\|$", text, re.MULTILINE)
    without_formulas = {head: re.sub(r"\$.*?\$", "", head) for head in heads}
    return [head for head in heads if not all(map(str.strip, without_formulas[head].split("|")))]


@pytest.mark.parametrize(
    "page",
    sorted(
        p for folder in ("chapters", "appendix", "exercises") for p in (ROOT / folder).rglob("*.md")
    ),
    ids=lambda page: page.stem,
)
def test_every_column_of_a_table_has_a_name(page):
    assert nameless_headers(page.read_text("utf8")) == []


@pytest.mark.parametrize("page", TEXTS)
def test_a_link_has_words(page):
    assert re.findall(r"\[\$[^]$]*\$\]\(", TEXTS[page]) == [], "a formula alone is not announced"


@pytest.mark.parametrize("head", ["| | loss |", "| a | $d_k$ |", "|a||"])
def test_a_column_without_a_name_is_seen(head):
    assert nameless_headers(f"{head}\n|---|---|\n| 1 | 2 |\n")
    assert not nameless_headers("| model | of $d_k$ |\n|---|---|\n| | 2 |\n")


@pytest.mark.parametrize("page", TEXTS)
def test_an_equation_of_another_page_is_named_with_its_page(page):
    """Each page counts its own equations from 1."""
    own = re.findall(r"^\$\$ \((eq-[\w-]+)\)", TEXTS[page], re.MULTILINE)
    for label, after in re.findall(r"\{eq\}`([\w-]+)`(.{12})", TEXTS[page]):
        assert label in own or after == " of the core", f"say which page has {label}"
