"""Exercises that are solved in the page: the scripts, bundled by esbuild, and Python for them.

A page loads a few kilobytes; the editor and Python come when a reader presses. Every name changes
with its contents, so that a browser may keep the files forever.
"""

import json
import re
import shutil
import subprocess
from itertools import count, islice
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging

from book.catalogue.remember import asked_for, for_the_page
from book.live.build import CACHE, build_live
from book.live.cells import catalogue, is_current
from book.live.model import about_minilm, build_minilm
from book.live.others import write_others
from book.node import node
from lib.pretrained.smollm2_package import SHA256, installed_file

ROOT = Path(__file__).resolve().parents[2]
BROWSER = ROOT / "book" / "live" / "browser"
ESBUILD = ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"
HEADING = re.compile(r"^## ((\d+\.\d+) (.+))$", re.MULTILINE)
SECTION = re.compile("<section ")
MODEL = re.compile(r'<div class="live-language-model".*?</div>', re.DOTALL)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
ABOUT = (
    '<p class="live-about">You can solve the tasks here: press into an answer, write, and press '
    "<strong>Check</strong>. The first press loads Python, {megabytes} MB, once. Your work stays "
    "in this browser.</p>\n"
)
NO_MODEL = "SmolLM2 is not installed, so no page of this book runs it: `make book` says how."
ABOUT_CELLS = (
    '<p class="live-about live-about-cells">Cells with <strong>Run</strong> can be edited, and '
    "run here with those above them; the first run loads Python, {megabytes} MB. {model}Cells "
    'without Run need PyTorch, and run in <a class="live-notebook">the notebook</a>.</p>\n'
)
ABOUT_MODEL = "Some read with a real model: the page asks before it loads its {megabytes} MB. "
CELL = re.compile(r'<div class="cell ')
SCRIPTS_RUN = 'if (location.protocol !== "file:") document.documentElement.dataset.live = "";'


def chapters(folder):
    """The exercises in order, each with the number, the title and the anchor of its tasks."""
    every = []
    for path in sorted(folder.glob("[0-9]*.md")):
        text = path.read_text("utf8")
        tasks = [
            {"number": number, "title": title.replace("`", ""), "anchor": nodes.make_id(heading)}
            for heading, number, title in HEADING.findall(text)
        ]
        title = TITLE.search(text)[1]
        page = f"{folder.name}/{path.stem}.html"
        every.append({"number": path.stem[:2], "title": title, "page": page, "tasks": tasks})
    return every


def lay_in(app):
    """Make Python and the scripts, and lay them where the pages look for them."""
    if app.builder.format != "html":
        return
    if not ESBUILD.exists():
        raise ExtensionError("The front end is not installed: `make book` installs and builds.")
    folder = Path(app.outdir) / "_static" / "live"
    if app.fresh_env_used:  # else pages that are not written again name files of an earlier build
        shutil.rmtree(folder, ignore_errors=True)
    made = build_live()
    leave_out = shutil.ignore_patterns("manifest.json")
    shutil.copytree(made, folder / "python", ignore=leave_out, dirs_exist_ok=True)
    manifest = json.loads((made / "manifest.json").read_text("utf8"))
    app.live_model = lay_in_model(folder / "model")
    app.live_minilm = lay_in_minilm(folder / "model")
    app.live_script = bundle(
        folder, manifest, chapters(ROOT / "exercises"), app.live_model, app.live_minilm
    )
    app.live_about = ABOUT.format(megabytes=megabytes(manifest))
    app.live_megabytes = megabytes(manifest)
    app.live_cells = catalogue()
    shutil.copyfile(BROWSER / "offline.js", Path(app.outdir) / "offline.js")


def lay_in_model(folder):
    """Lay the installed file of SmolLM2 in, and return its name, size and digest; or say why."""
    try:
        source = installed_file()
    except FileNotFoundError as error:
        logging.getLogger(__name__).info("%s %s", NO_MODEL, error)
        return None
    place = folder / f"smollm2-{SHA256[:10]}.gguf"
    if not place.exists():
        folder.mkdir(exist_ok=True)
        try:
            place.hardlink_to(source)
        except OSError:  # a different disk
            shutil.copyfile(source, place)
    return {"file": place.name, "bytes": source.stat().st_size, "sha256": SHA256}


def lay_in_minilm(folder):
    """Lay MiniLM in, if it is installed, and return what the page must know of it."""
    packed = build_minilm(CACHE)
    if packed is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(packed, folder / packed.name)
    return about_minilm(packed)


def megabytes(about):
    """How much a reader loads."""
    return round(about["bytes"] / 1e6)


def bundle(folder, manifest, every, model=None, minilm=None):
    """Bundle the scripts into a folder, and return the name of the one that pages load."""
    counts = {chapter["number"]: len(chapter["tasks"]) for chapter in every}
    # As text, each stands only in the script that reads it; as objects, in one that all load.
    given = {
        "PYTHON": json.dumps(manifest),
        "PYTHON_MB": megabytes(manifest),
        "MODEL": json.dumps(model),
        "MINILM": json.dumps(minilm),
        "CHAPTERS": json.dumps(every),
        "TASK_COUNTS": json.dumps(counts),
        "ASKED_FOR": json.dumps(asked_for()),
        "OTHERS": json.dumps(write_others(folder)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    questions = folder / "questions.json"
    questions.write_text(json.dumps(for_the_page(), ensure_ascii=False), "utf8")
    metafile = folder / "about.json"
    command = [
        node(), ESBUILD, BROWSER / "live.js", "--bundle", "--splitting", "--minify",
        "--format=esm", "--target=es2022", "--log-level=warning", f"--outdir={folder}",
        "--entry-names=[name]-[hash]", "--chunk-names=[name]-[hash]", f"--metafile={metafile}",
        f"--alias:course-questions={questions}",
        *(f"--define:{name}={json.dumps(value)}" for name, value in given.items()),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    questions.unlink()
    if done.returncode:
        raise ExtensionError(f"The scripts of the exercises could not be bundled:\n{done.stderr}")
    outputs = json.loads(metafile.read_text("utf8"))["outputs"]
    metafile.unlink()
    entry = BROWSER.relative_to(ROOT).as_posix() + "/live.js"
    return next(
        Path(name).name for name, made in outputs.items() if made.get("entryPoint") == entry
    )


def choose_scripts(app, page, template, context, doctree):
    """Every page marks what was passed; pages with tasks or cells that run have their look."""
    app.add_js_file(f"live/{app.live_script}", type="module")
    body = context.get("body") or ""
    running = app.live_cells.get(page)
    if MODEL.search(body):
        if app.live_model:
            app.add_css_file("live.css")
        else:
            context["body"] = body = MODEL.sub("", body)
    if 'class="cell tag_exercise' in body:
        context["body"] = with_about(body, app.live_about)
    elif running and is_current(page, running):
        marked = mark_cells(body, page, running, bool(app.live_minilm))
        context["body"] = with_about(marked, about_cells(app, 'data-runs="minilm"' in marked))
    else:
        if page == "index":
            app.add_css_file("live.css")
        return
    app.add_js_file(None, body=SCRIPTS_RUN, priority=100)
    app.add_css_file("live.css")


def about_cells(app, has_model):
    """What a reader can do on a page of a chapter."""
    model = ABOUT_MODEL.format(megabytes=megabytes(app.live_minilm)) if has_model else ""
    return ABOUT_CELLS.format(megabytes=app.live_megabytes, model=model)


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
    app.connect("builder-inited", lay_in)
    app.connect("html-page-context", choose_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
