"""A plugin of pytest for `make quick`: leave out what is late, and count it in the last line."""

import os
import time

import pytest

QUICK = "ATTENTION_QUICK"  # in the environment: until when a test may start, and the seconds
LATE = "attention_late"
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave out a test that has not started when the time is over."""
    if time.time() <= float(os.environ.get(QUICK, "inf").split()[0]):
        return None
    counts = item.config.workeroutput
    counts[LATE] = counts.get(LATE, 0) + 1
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Add what a worker left out to what the others did."""
    counts = vars(node.config)
    counts[LATE] = counts.get(LATE, 0) + getattr(node, "workeroutput", {}).get(LATE, 0)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say at the very end how many of the selected tests passed, and how many did not start."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker
        return
    ran = {outcome: len(reporter.stats.get(outcome, ())) for outcome in OUTCOMES}
    late, seconds = vars(config).get(LATE, 0), os.environ[QUICK].split()[1]
    left = f"; {late} did not start within {seconds} s: run make test" if late else ""
    print(f"passed {ran['passed']} of {sum(ran.values()) + late} selected{left}")
