"""The verdicts on many answers as HTML: in CPython and in the page's Python, to be compared.

    live_verdicts.py ROOT SHARE [NAME...]

ROOT is the folder of the checkout, SHARE how many misconceptions of every third task and, with two
more, how many right answers of each are tried (0: all of every task), and each NAME an exercise.
It prints one line of JSON:
{"6.2 right 0": [status, html], ...}. Of a task that needs torch, which a page lacks, one right
answer is tried.
"""

import ast
import json
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path.append(str(ROOT))  # behind the page's own copy of the course, if there is one

from book.live.page import driver  # noqa: E402
from book.live.page.gaps import Gap, NotInThePageError, package_of  # noqa: E402
from checks import grade_source, judge  # noqa: E402
from tests.support.attempts import known_once, load, stub  # noqa: E402
from tests.support.pages import cells  # noqa: E402


def answers(name):
    """The right answers by task; one that needs an absent package before it is called is None."""
    path = ROOT / "tests" / "answers" / f"{name}.py"
    namespace = {"__name__": "answers"}
    for statement in ast.parse(path.read_text("utf8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "RIGHT":
            return {
                ast.literal_eval(task): [
                    evaluated(item, namespace) for item in getattr(listed, "elts", ())
                ]
                or evaluated(listed, namespace)
                for task, listed in zip(statement.value.keys, statement.value.values, strict=True)
            }
        execute(statement, namespace, path)
    raise ValueError(f"{path} has no RIGHT")


def execute(statement, namespace, path):
    try:
        exec(compile(ast.Module([statement], []), path, "exec"), namespace)
    except NotInThePageError:
        pass
    except ImportError as error:
        for alias in statement.names:
            namespace[alias.asname or alias.name.partition(".")[0]] = Gap(package_of(error))


def evaluated(item, namespace):
    try:
        return eval(compile(ast.Expression(item), "<answers>", "eval"), namespace)
    except (NotInThePageError, NameError):
        return None


def verdicts(name, share):
    """Each answer's key, status and HTML."""
    exercise, right = load(name), answers(name)
    driver.reset()
    for tags, source in cells((ROOT / "exercises" / f"{name}.md").read_text("utf8")):
        if not tags & {"exercise", "check"}:
            driver.run_cell(source, "<cell 0>")
    for position, task in enumerate(exercise.tasks, int(exercise.chapter)):
        yield f"{task.id} stub", grade_source(task, stub(name, task), dict(driver.namespace))
        most = (share + 2 if share else None) if "numpy" in task.arrays else 1
        for n, answer in enumerate(right[task.id][:most]):
            if answer is not None:
                yield f"{task.id} right {n}", judge(task, answer)
        tried = share * (position % 3 == 0) if share else None
        for n, wrong in enumerate(task.wrong[:tried]):
            yield f"{task.id} wrong {n}", judge(task, wrong.answer)


with known_once():
    given = {
        key: [verdict.status, verdict._repr_html_()]
        for name in sys.argv[3:]
        for key, verdict in verdicts(name, int(sys.argv[2]))
    }
print(json.dumps(given))
