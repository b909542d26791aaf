"""Each notebook is its text, executed; making it again changes no byte."""

import ast
import json
import os
import re
from pathlib import Path

import nbval.kernel
import pytest

from book.build import notebooks as tool
from book.build import require_checkout
from figures import palette

PAGES = tool.pages()
CHECK = re.compile(r'^check\("[\d.]+"\)$', re.MULTILINE)
EXAMPLE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A page

```{code-cell} ipython3
import sys
from IPython.display import display
for word in ("one", "two"):
    print(word, flush=True)
display({"text/plain": "a", "application/vnd.jupyter.widget-view+json": {"model_id": str(id(sys))}},
        raw=True)
```

```{code-cell} ipython3
:tags: [raises-exception]
1 / 0
```

```{code-cell} ipython3
1 + 1
```

```{code-cell} ipython3
1 + 1
```
"""


def stored(page: Path) -> dict:
    return json.loads(page.with_suffix(".ipynb").read_text("utf8"))


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(EXAMPLE, "utf8")
    return page


def test_there_are_pages():
    assert len(PAGES) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_notebook_is_what_its_text_makes(page):
    assert tool.build(page, check=True) == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_notebook_shows_no_error_and_nothing_from_one_run_only(page):
    text = page.with_suffix(".ipynb").read_text("utf8")
    cells = json.loads(text)["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        kinds = {output["output_type"] for output in cell.get("outputs", [])}
        assert "error" not in kinds or "raises-exception" in cell["metadata"].get("tags", [])
        assert not any(output.get("name") == "stderr" for output in cell.get("outputs", []))
    assert "model_id" not in text
    assert str(tool.ROOT) not in text


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name == "exercises"], ids=lambda page: page.stem
)
def test_exercises_are_handed_out_unsolved(page):
    checks = [cell for cell in stored(page)["cells"] if CHECK.search("".join(cell["source"]))]
    assert len(checks) >= 5
    for cell in checks:
        assert "not attempted yet" in json.dumps(cell["outputs"]), "".join(cell["source"])


def test_making_a_notebook_twice_gives_the_same_bytes(page):
    notebook = page.with_suffix(".ipynb")
    assert "executed" in tool.build(page)
    first = notebook.read_bytes()
    assert "executed" in tool.build(page, force=True)
    assert notebook.read_bytes() == first
    assert "up to date" in tool.build(page)


def test_a_change_of_words_executes_nothing_and_a_change_of_code_does(page):
    tool.build(page)
    page.write_text(EXAMPLE.replace("A page", "Another page"), "utf8")
    assert "out of step" in tool.build(page, check=True)
    assert tool.build(page).endswith(": text")
    page.write_text(EXAMPLE.replace("1 + 1", "1 + 2", 1), "utf8")
    assert "other code" in tool.build(page, check=True)
    assert tool.build(page).endswith(": executed")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_stored_figure_has_the_colours_of_the_palette(page):
    text = page.with_suffix(".ipynb").read_text("utf8")
    light = re.findall(r"var\(--([\w-]+), *(#\w+)\)", text)
    dark = re.findall(r"--([\w-]+):(#\w+)[;}]", text)
    stale = {role for role, code in light if code != palette.light(role)}
    stale |= {role for role, code in dark if code != palette.VARIABLES[role].dark}
    assert not stale, f"{stale}; run: python book/build/notebooks.py --restyle"


def test_a_changed_palette_restyles_a_stored_figure_and_leaves_all_else(page, monkeypatch):
    notebook = page.with_suffix(".ipynb")
    figure = '#3440b0 {--query:%s;} <rect fill="var(--query,%s)"/> var(--accent,currentColor)'
    before = palette.VARIABLES["query"]
    notebook.write_text(figure % (before.dark, before.light), "utf8")
    assert tool.restyle(page) == "page.md: up to date"
    monkeypatch.setitem(palette.VARIABLES, "query", palette.Colour("#123456", "#abcdef"))
    assert tool.restyle(page) == "page.md: restyled"
    assert notebook.read_text("utf8") == figure % ("#abcdef", "#123456")


def test_a_lib_of_another_checkout_builds_nothing(tmp_path):
    assert require_checkout(tool.ROOT) is None
    with pytest.raises(SystemExit, match="Set PYTHONPATH"):
        require_checkout(tmp_path)


def private_names(source: str) -> set[str]:
    """The imports of a cell that begin with an underscore: `from lib.x import _rows`."""
    parsed = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
    names = {f"{node.module}.{alias.name}" for node in parsed for alias in node.names}
    return {name for name in names if "._" in name}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_page_imports_no_private_name(page):
    cells = [cell for cell in stored(page)["cells"] if cell["cell_type"] == "code"]
    assert set().union(*(private_names("".join(cell["source"])) for cell in cells)) == set()
    assert private_names("from lib.a import b, _c") == {"lib.a._c"}


def test_equal_cells_have_different_ids_and_an_edit_changes_only_its_own(page):
    before = [cell["id"] for cell in tool.read_page(page).cells]
    assert len(set(before)) == len(before)
    page.write_text(EXAMPLE.replace('"two"', '"three"'), "utf8")
    after = [cell["id"] for cell in tool.read_page(page).cells]
    assert [old == new for old, new in zip(before, after, strict=True)] == [1, 1, 0, 1, 1, 1]


def test_a_failing_cell_is_named_and_leaves_the_old_notebook(page):
    tool.build(page)
    old = page.with_suffix(".ipynb").read_bytes()
    page.write_text(EXAMPLE.replace("1 + 1", "undefined + 1", 1), "utf8")
    with pytest.raises(RuntimeError, match=r"code cell 3 of 4 failed(?s:.*)NameError.*undefined"):
        tool.build(page)
    assert page.with_suffix(".ipynb").read_bytes() == old


@pytest.mark.skipif(os.name == "nt", reason="ZeroMQ has no such sockets on Windows")
def test_the_kernels_that_nbval_starts_talk_through_files_of_their_own():
    first, second = (nbval.kernel.KernelManager(kernel_name="python3") for _ in range(2))
    assert first.transport == second.transport == "ipc"
    assert Path(first.ip).parent.is_dir()
    assert first.ip != second.ip
