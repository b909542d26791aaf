"""A new secret for a round of submissions; the old one is kept, to grade its round again."""

from __future__ import annotations

from pathlib import Path

from classroom.grading.batch import read_secret
from classroom.grading.submission_grader import GradingPlan


def put_away_secret(path: Path) -> Path | None:
    """Rename the secret of the last round after its fingerprint, so that the next use makes one.

    The fingerprint stands in the table of the round, in the column seed.
    """
    if not path.exists():
        return None
    fingerprint = GradingPlan("", read_secret(path)).fingerprint
    kept = path.with_name(f"{path.name}.{fingerprint}")
    path.rename(kept)
    return kept
