"""What the learner types: `check = exercise("05_scaling")`, then `check("5.1")`."""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from textwrap import fill
from typing import Any

from checks import released
from checks.check import judge
from checks.feedback.sentences import cell_stopped, missing, syntax_error
from checks.feedback.verdict import Table, Verdict
from checks.progress import log, summary
from checks.task import Exercise, Task

EXERCISES = Path(__file__).resolve().parents[1] / "exercises"


def exercise(name: str) -> Check:
    """The checks of one exercise notebook, for example `exercise("05_scaling")`.

    A class has them as numbers, without the answers; at home they are computed.
    """
    released_file = EXERCISES / f"{name}.checks"
    if released_file.exists():
        loaded = released.load_exercise(released_file)
    else:
        loaded = importlib.import_module(f"exercises.{name}").EXERCISE
    return Check(loaded, sys._getframe(1).f_globals)


class AnswerError(AssertionError):
    """An answer that is not right yet; the message is its verdict."""

    def _render_traceback_(self) -> list[str]:
        # IPython would print the lines of the checks above the verdict.
        return [str(self)]


class Check:
    """Call it with the number of a task to have your answer checked."""

    def __init__(self, loaded: Exercise, namespace: dict[str, Any]) -> None:
        self.exercise = loaded
        self.namespace = namespace
        self.cells = Cells(namespace, [task.name for task in loaded.tasks])
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        self.live = shell is not None
        if self.live:
            self.cells.follow(shell)

    def __call__(self, task_id: str) -> Verdict:
        """Check one task."""
        task = self._task(task_id)
        verdict = self._check(task)
        if self.live:
            log.note(verdict, self.cells.texts.get(task.name, ""))
        return verdict

    def require(self, task_id: str) -> None:
        """Check one task in a cell whose error costs its points, as nbgrader and otter count.

        It prints nothing, returns nothing, and drops what the answer writes to stderr: nbgrader
        gives no point to a cell with anything there, and takes a number that it shows for a score.

        Raises: AnswerError, whose message is the verdict.
        """
        with redirect_stderr(io.StringIO()):
            verdict = self._check(self._task(task_id))
        if not verdict.passed:
            lines = str(verdict).splitlines()
            filled = (line if line.startswith(" ") else fill(line, 96) for line in lines)
            raise AnswerError("\n".join(filled))

    def _task(self, task_id: str) -> Task:
        try:
            return self.exercise[str(task_id)]
        except KeyError as unknown:
            raise ValueError(unknown.args[0]) from None

    def _check(self, task: Task) -> Verdict:
        failure = self.cells.failures.get(task.name)
        if failure is not None:
            source, error = failure
            if isinstance(error, SyntaxError):
                return syntax_error(task, error, source)
            return cell_stopped(task, error)
        if task.name not in self.namespace:
            return missing(task, self.namespace)
        source = self.cells.texts.get(task.name, "")
        return judge(task, self.namespace[task.name], source=source)

    def overview(self) -> Table:
        """The tasks of this page, with difficulty and importance out of five, and minutes."""
        tasks = self.exercise.tasks
        rows = [
            (task.id, task.title, *(f"{n} of 5" for n in (task.difficulty, task.importance)),
             task.minutes)
            for task in tasks
        ]  # fmt: skip
        total = sum(task.minutes for task in tasks)
        head = ("task", "what to do", "difficulty", "importance", "minutes")
        return Table(head, rows, f"{len(rows)} tasks, about {total} minutes.")

    def progress(self) -> Table:
        """Check every task again and say how each stands."""
        verdicts = [self._check(task) for task in self.exercise.tasks]
        rows = [(verdict.task, verdict.title, verdict.status.words) for verdict in verdicts]
        done = sum(verdict.passed for verdict in verdicts)
        return Table(("task", "what to do", "status"), rows, f"{done} of {len(rows)} passed.")

    def record(self) -> summary.ProgressSummary:
        """What was noted on this machine, over all pages and days, by skill."""
        return summary.read_progress()

    def forget(self) -> str:
        """Remove all that was noted on this machine."""
        return log.forget()

    def __repr__(self) -> str:
        first = self.exercise.tasks[0].id
        return f'Checks of exercise {self.exercise.chapter}: call check("{first}").'


class Cells:
    """Remembers cells that failed, so that an older definition is never checked in silence."""

    def __init__(self, namespace: dict[str, Any], names: Sequence[str]) -> None:
        self.namespace = namespace
        self.names = names
        self.failures: dict[str, tuple[str, BaseException]] = {}
        self.texts: dict[str, str] = {}
        self.before: dict[str, Any] = {}

    def follow(self, shell: Any) -> None:
        """Listen to the cells of a notebook, in the place of an earlier follower."""
        for event, own in (("pre_run_cell", self.about_to_run), ("post_run_cell", self.has_run)):
            for known in list(shell.events.callbacks.get(event, [])):
                if same_follower(known, self):
                    self.texts.update(known.__self__.texts)
                    shell.events.unregister(event, known)
            shell.events.register(event, own)

    def about_to_run(self, info: Any) -> None:
        """Note what each name stands for before a cell runs."""
        self.before = {name: self.namespace.get(name, self) for name in self.names}

    def has_run(self, result: Any) -> None:
        """Note the text that defines each name, and which names a failed cell should have."""
        source = getattr(result.info, "raw_cell", "") or ""
        error = result.error_before_exec or result.error_in_exec
        for name in self.names:
            if not defines(source, name):
                continue
            self.texts[name] = source
            fresh = self.namespace.get(name, self) is not self.before.get(name, self)
            if error is None or (fresh and result.error_before_exec is None):
                self.failures.pop(name, None)
            else:
                self.failures[name] = (source, error)


def same_follower(known: Any, follower: Cells) -> bool:
    """Whether a callback belongs to a follower of the same names in the same notebook."""
    owner = getattr(known, "__self__", None)
    return (
        isinstance(owner, Cells)
        and owner.namespace is follower.namespace
        and list(owner.names) == list(follower.names)
    )


def defines(source: str, name: str) -> bool:
    """Whether the text of a cell looks as if it defined a name."""
    # A blank that may be a line break would be tried again from each of a million empty lines.
    function = rf"(?:async[ \t]+)?(?:def|class)[ \t]+{name}\b"
    wanted = rf"^[ \t]*(?:{function}|{name}[ \t]*(?::[^=\n]+)?=(?!=))"
    return re.search(wanted, source, re.MULTILINE) is not None
