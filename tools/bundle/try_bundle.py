"""Prove a bundle as its users meet it: `make bundle-check`. Linux, bubblewrap, Chromium.

It is unpacked under a path with spaces, behind walls without a route to anywhere: the home is
empty, pip has no settings, and this repository cannot be seen. There it is installed, notebooks
are run and compared, answers are marked, a live figure is moved, and JupyterLab is asked for pages.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ["chapters/07_self_attention.ipynb", "chapters/12_gpt2.ipynb",
             "exercises/07_self_attention.ipynb", "exercises/12_gpt2.ipynb"]  # fmt: skip
PAGE = "chapters/06_softmax.html"
NOWHERE = ("192.0.2.1", 80)  # an address of RFC 5737, which belongs to nobody
INSIDE = "--inside"


def walls(home: Path) -> list[str]:
    """A command before which others have neither a network nor anything of this machine's user."""
    python = Path(sys.base_prefix) / "bin"
    known = {"HOME": home, "PATH": f"{python}:/usr/bin:/bin", "LANG": "C.UTF-8", "BROWSER": "true",
             "CHROMIUM": os.environ.get("CHROMIUM") or shutil.which("chromium")
             or shutil.which("google-chrome") or ""}  # fmt: skip
    settings = [part for name, value in known.items() for part in ("--setenv", name, str(value))]
    return ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(ROOT), "--unshare-net", "--unshare-pid",
            "--die-with-parent", "--clearenv", *settings]  # fmt: skip


def prove(archive: Path) -> None:
    """Unpack the archive, and take every step; the first that fails ends the proof."""
    with TemporaryDirectory(prefix="a folder with spaces ") as scratch:
        place, home = Path(scratch), Path(scratch) / "home"
        home.mkdir()
        with ZipFile(archive) as packed:
            timed("unpacking", lambda: packed.extractall(place))
        folder, me = place / archive.stem, shutil.copy(__file__, place)
        python = folder / "course" / ".venv" / "bin" / "python"
        steps = {
            "installing": ["sh", "start", "install"],
            "checking": ["sh", "start", "check", *NOTEBOOKS],
            "looking": [python, me, INSIDE],
        }
        for name, command in steps.items():
            whole = [*walls(home), "--chdir", folder, *command]
            timed(name, lambda whole=whole: subprocess.run(whole).returncode)
        taken = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        stated = json.loads((folder / "bundle.json").read_text("utf8"))["bytes"]
        sizes = [f"{size / 1e6:,.0f} MB" for size in (archive.stat().st_size, taken, stated)]
        print("Archive {}; unpacked and installed {}, of which {} were foretold.".format(*sizes))


def timed(name: str, step) -> None:
    """Take one step, and say how long it took; end the proof if it gives an exit code."""
    began, before = time.monotonic(), sum(os.times()[:4])
    if step():
        sys.exit(f"Not proved: {name} failed.")
    busy = sum(os.times()[:4]) - before
    print(f"== {name}: {time.monotonic() - began:.0f} s, {busy:.0f} of a processor", flush=True)


@contextmanager
def started(*command: str, folder: Path | str = ".") -> Iterator[str]:
    """The first address that a command of the bundle in a folder prints, while it runs."""
    began = time.monotonic()
    running = subprocess.Popen(
        ["sh", "start", *command], cwd=folder, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    lines = []
    for line in running.stdout:
        lines.append(line)
        if "http://127.0.0.1:" in line:
            break
    else:
        sys.exit(f"start {' '.join(command)} ended without an address:\n{''.join(lines)}")
    print(f"   start {command[0]}: {time.monotonic() - began:.1f} s", flush=True)
    try:
        yield "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split()[0]
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        try:
            running.communicate(timeout=30)
        except subprocess.TimeoutExpired:  # now and then JupyterLab waits for a kernel for ever
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()


def has_no_route() -> None:
    """Make sure that nothing can be reached from here."""
    try:
        socket.create_connection(NOWHERE, timeout=3).close()
    except TimeoutError:
        pass  # it went out, and found nobody
    except OSError:
        print("   no route out of here", flush=True)
        return
    sys.exit("There is a route out of here, so nothing would be proved.")


def move_a_figure(address: str) -> None:
    """A live figure starts, and changes when its slider is moved; nothing else is asked for."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = {"executable_path": os.environ["CHROMIUM"], "args": ["--no-sandbox"]}
        page = playwright.chromium.launch(**chromium).new_page()
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address + PAGE)
        figure = page.locator(".course-widget[data-mounted=true]").first
        slider = figure.locator("input[type=range]").first
        slider.focus()
        before = figure.inner_text()
        for _ in range(5):
            slider.press("ArrowRight")
        if figure.inner_text() == before:
            wrong.append("the figure does not move")
        wrong += [url for url in asked if not url.startswith((address, "data:", "blob:"))]
        page.context.browser.close()
    if wrong:
        sys.exit(f"{PAGE}: {wrong}")
    print(f"   {PAGE}: {len(asked)} requests, all to this machine; its figure moves")


def ask_lab(address: str) -> None:
    """JupyterLab lists the exercises."""
    base, _, token = address.partition("/lab?token=")
    request = urllib.request.Request(
        f"{base}/api/contents/exercises", headers={"Authorization": f"token {token}"}
    )
    names = [entry["name"] for entry in json.loads(answered(request))["content"]]
    assert "07_self_attention.ipynb" in names, names
    print(f"   JupyterLab lists {sum(name.endswith('.ipynb') for name in names)} exercises")


def answered(request: urllib.request.Request, tries: int = 60) -> bytes:
    """What a server says that tells its address before it listens."""
    for _ in range(tries):
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.read()
        except urllib.error.URLError:
            time.sleep(1)
    sys.exit(f"Nobody answers at {request.full_url}.")


def main(arguments: list[str]) -> None:
    """Behind the walls, look; before them, prove the archive that is named or the newest."""
    if arguments == [INSIDE]:
        has_no_route()
        with started("book") as address:
            move_a_figure(address)
        with started("lab", "--no-browser", "--allow-root") as address:
            ask_lab(address)
        return
    made = sorted((ROOT / "_build").glob("*.zip"), key=lambda path: path.stat().st_mtime)
    if not arguments and not made:
        sys.exit("There is no archive in _build. Run: make bundle")
    if not (shutil.which("bwrap") and sys.platform == "linux"):
        sys.exit("The walls are bubblewrap's, on Linux: install bubblewrap (bwrap).")
    prove(Path(arguments[0]).resolve() if arguments else made[-1])


if __name__ == "__main__":
    main(sys.argv[1:])
