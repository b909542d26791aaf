"""Exercises that are solved in the page, and cells that run there: what a page says and loads.

A page loads a few kilobytes; the editor and Python come when a reader presses. Every name changes
with its contents, so that a browser may keep the files forever.
"""

import json
import re
import shutil
import subprocess
import sys
from itertools import count, islice
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

from sphinx.errors import ExtensionError

from book.live.cells import catalogue, is_current
from book.live.front_end import BROWSER, ROOT, megabytes

SECTION = re.compile("<section ")
MODEL = re.compile(r'<div class="live-language-model".*?</div>', re.DOTALL)
ABOUT = (
    '<p class="live-about">You can solve the tasks here: press into an answer, write, and press '
    "<strong>Check</strong>. The first press loads Python, {megabytes} MB, once. Your work stays "
    "in this browser.</p>\n"
)
ABOUT_CELLS = (
    '<p class="live-about live-about-cells">Cells with <strong>Run</strong> can be edited, and '
    "run here with those above them; the first run loads Python, {megabytes} MB. {model}Cells "
    'without Run need PyTorch, and run in <a class="live-notebook">the notebook</a>.</p>\n'
)
ABOUT_MODEL = "Some read with a real model: the page asks before it loads its {megabytes} MB. "
CELL = re.compile(r'<div class="cell ')
SCRIPTS_RUN = 'if (location.protocol !== "file:") document.documentElement.dataset.live = "";'


def begin(app):
    """Begin to lay in what pages load, in a process beside the one that reads them."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "live"
    if app.fresh_env_used:  # else pages that are not written again name files of an earlier build
        shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "book.live.front_end", folder]
    app.live_at_work = subprocess.Popen(command, cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True)


def wait(app, _environment):
    """Wait until it is there, before the first page is written."""
    if app.builder.format != "html":
        return
    printed, problem = app.live_at_work.communicate()
    if app.live_at_work.returncode:
        raise ExtensionError(problem.strip())
    app.live = SimpleNamespace(**json.loads(printed))
    app.live_cells = catalogue()
    shutil.copyfile(BROWSER / "offline.js", Path(app.outdir) / "offline.js")


def choose_scripts(app, page, template, context, doctree):
    """Every page marks what was passed; pages with tasks or cells that run have their look."""
    app.add_js_file(f"live/{app.live.script}", type="module")
    body = context.get("body") or ""
    running = app.live_cells.get(page)
    if MODEL.search(body):
        if app.live.model:
            app.add_css_file("live.css")
        else:
            context["body"] = body = MODEL.sub("", body)
    if 'class="cell tag_exercise' in body:
        context["body"] = with_about(body, ABOUT.format(megabytes=app.live.megabytes))
    elif running and is_current(page, running):
        marked = mark_cells(body, page, running, bool(app.live.minilm))
        context["body"] = with_about(marked, about_cells(app, 'data-runs="minilm"' in marked))
    else:
        if page == "index":
            app.add_css_file("live.css")
        return
    app.add_js_file(None, body=SCRIPTS_RUN, priority=100)
    app.add_css_file("live.css")


def about_cells(app, has_model):
    """What a reader can do on a page of a chapter."""
    model = ABOUT_MODEL.format(megabytes=megabytes(app.live.minilm)) if has_model else ""
    return ABOUT_CELLS.format(megabytes=app.live.megabytes, model=model)


def with_about(body, about):
    """The page with a paragraph before its second section: what a reader can do here."""
    _, first = (match.start() for match in islice(SECTION.finditer(body), 2))
    return body[:first] + about + body[first:]


def mark_cells(body, page, running, has_minilm):
    """Say of each cell that runs what it needs for that."""
    offered = ("numpy", "minilm") if has_minilm else ("numpy",)
    needs = {number: need for need in offered for number in running.get(need, ())}
    cells = CELL.findall(body)
    if len(cells) != running["cells"]:
        raise ExtensionError(f"{page} shows {len(cells)} cells, and not {running['cells']}.")
    numbers = count(1)

    def marked(match):
        need = needs.get(next(numbers))
        return f'<div data-runs="{need}" class="cell ' if need else match[0]

    return CELL.sub(marked, body)


def setup(app):
    app.connect("builder-inited", begin)
    app.connect("env-updated", wait)
    app.connect("html-page-context", choose_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
