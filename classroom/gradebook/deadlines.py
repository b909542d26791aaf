"""Deadlines: dates of any time zone, extensions and grace by student, and what being late costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from classroom.gradebook.names import find_student
from classroom.gradebook.tables import PLATFORM_COLUMNS, read_table

DOTTED = "%d.%m.%Y"
FORMATS = (
    DOTTED, "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
    "%A, %d %B %Y, %I:%M %p",  # Moodle
    "%b %d, %Y at %I:%M%p",  # Canvas
)  # fmt: skip
DAY = 86_400


@dataclass(frozen=True)
class Extension:
    """What holds for one student: a deadline of their own, and a grace of their own."""

    due: datetime | None = None
    grace: timedelta | None = None


@dataclass(frozen=True)
class LatePolicy:
    """The share of its points that a late submission loses for each day that has begun.

    Within the grace nothing is lost; after it, days are counted from the deadline. No more than
    `most` is lost.
    """

    due: datetime
    share: float
    dates: Mapping[str, datetime]
    grace: timedelta = timedelta(0)
    most: float = 1.0
    extensions: Mapping[str, Extension] = field(default_factory=dict)

    def factor(self, student: str, file: str = "") -> float:
        """The factor of a student's points; without a date for the file or student it is 1."""
        handed_in = self.dates.get(file) or self.dates.get(find_student(student, self.dates) or "")
        own = self.extensions.get(student, Extension())
        due = self.due if own.due is None else own.due
        grace = self.grace if own.grace is None else own.grace
        if handed_in is None or handed_in <= due + grace:
            return 1.0
        days = -(-(handed_in - due).total_seconds() // DAY)
        return max(0.0, 1.0 - min(self.most, self.share * days))

    def unclear(self, students: Iterable[str]) -> list[str]:
        """Whom the dates leave out, and whom they name in vain."""
        students = list(students)
        dated = {find_student(name, students): name for name in self.dates}
        without = [student for student in students if student not in dated]
        lines = []
        if without and not any("." in name for name in self.dates):
            lines.append(f"without a date, and in time: {names_in_short(without)}")
        if strangers := [name for name in self.dates if not find_student(name, students)]:
            lines.append(f"the dates name {names_in_short(strangers)}, who handed in nothing")
        return lines

    @classmethod
    def from_csv(
        cls, path: Path, due: str, share: float, zone: tzinfo | None = None, **more: object
    ) -> LatePolicy:
        """Read dates from a CSV with the columns student and date, or file and date."""
        table = read_table(path).renamed(PLATFORM_COLUMNS)
        key = "file" if "file" in table.columns else "student"
        table.require(key, "date")
        if not table.rows:
            raise ValueError(f"{path} must have a row for each student; it has none. Add them")
        dates: dict[str, datetime] = {}
        for row in table.rows:
            if row["date"].strip(" -"):
                moment = parse_date(row["date"], zone, f"the date of {row[key]} in {path}")
                # Of several dates of a student the last counts, as of several submissions.
                dates[row[key]] = max(moment, dates.get(row[key], moment))
        return cls(parse_due(due, zone), share, dates, **more)


def names_in_short(names: list[str]) -> str:
    """List a few names, and count the others."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def parse_date(text: str, zone: tzinfo | None, where: str) -> datetime:
    """Read a date in ISO's form, with dots, or as Moodle and Canvas write it; return it in UTC.

    Without a zone of its own it belongs to `zone`, or to that of this machine.
    """
    plain = " ".join(text.strip().lstrip("'").split())
    moment = None
    with suppress(ValueError):
        moment = datetime.fromisoformat(plain)
    for form in FORMATS:
        with suppress(ValueError):
            moment = moment or datetime.strptime(plain, form)
    if moment is None:
        raise ValueError(
            f"{where} must be a date such as 2026-12-01T23:59 or 2026-12-01T23:59+01:00; "
            f"got {text!r}. Write it in this form"
        )
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
    return moment.astimezone(UTC)


def parse_due(text: str, zone: tzinfo | None, where: str = "the deadline") -> datetime:
    """Read a deadline; a day without a time ends at midnight, however it is written."""
    day = text.strip().lstrip("'").strip()
    for read_day in (date.fromisoformat, read_dotted_day):
        with suppress(ValueError):
            end = datetime.combine(read_day(day), time(23, 59, 59))
            return parse_date(end.isoformat(), zone, where)
    return parse_date(text, zone, where)


def read_dotted_day(text: str) -> date:
    """Read a day such as 01.12.2026."""
    return datetime.strptime(text, DOTTED).date()


def parse_grace(text: str, where: str = "the grace") -> timedelta:
    """Read hours and minutes, such as 0:15 or 24:00."""
    hours, colon, minutes = text.strip().partition(":")
    if not (colon and hours.isdigit() and minutes.isdigit() and int(minutes) < 60):
        raise ValueError(
            f"{where} must be hours and minutes, such as 0:15 for 15 minutes; got {text!r}"
        )
    return timedelta(hours=int(hours), minutes=int(minutes))


def zone_named(name: str) -> tzinfo | None:
    """Return a time zone by its name; none is that of this machine."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"the zone must be a name such as Europe/Berlin or UTC; got {name!r}"
        ) from None
