"""The secret of the hidden cases; the one of an old round is kept, to grade that round again."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from classroom.grading.submission_grader import GradingPlan


def read_secret(path: Path) -> bytes:
    """Read the secret of the hidden cases; the first use creates it, for its owner alone."""
    with suppress(FileExistsError):
        created = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(created, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    text = path.read_text("utf8").strip()
    if len(text) < 16:
        raise ValueError(
            f"{path} must hold a secret of at least 16 characters; got {len(text)}. "
            "Restore the file, or name another one with --secret"
        )
    return text.encode()


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
