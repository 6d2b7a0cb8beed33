"""Spans of the calendar in a time zone: days, weeks, months, quarters, seasons, years.

A span is made of local dates and turned into an :class:`memlab.times.Interval` at the midnights that begin them, so
a day on which clocks change has 23 or 25 hours, and a month is a calendar month. Weeks run from Monday to Sunday.
Seasons are the meteorological ones of the northern hemisphere, three whole months each; a winter is named by the
year of its December.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from memlab.errors import TimeError
from memlab.times import Interval, utc

__all__ = ["SEASONS", "Clock", "Unit", "begin", "day_of", "months", "shift", "thirds", "unit_of"]

Unit = Literal["day", "week", "month", "quarter", "year", "decade"]
_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS: dict[Unit, int] = {"day": 1, "week": 7}

# The month each season begins in.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Clock:
    """The reference instant, and the zone whose calendar counts.

    Parameters
    ----------
    now : datetime
        Aware.
    zone : tzinfo
        The zone.
    """

    now: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        """The local date of the reference instant."""
        return self.date_of(self.now)

    def date_of(self, moment: datetime) -> date:
        """Return the local date of an instant.

        Parameters
        ----------
        moment : datetime
            Aware.

        Returns
        -------
        date
            The date on the zone's calendar.
        """
        return moment.astimezone(self.zone).date()

    def at(self, day: date, hour: int = 0) -> datetime:
        """Return the instant of a full hour on a local date.

        Parameters
        ----------
        day : date
            The local date.
        hour : int, default 0
            From 0 to 23.

        Returns
        -------
        datetime
            In UTC. An hour that a change of clocks leaves out is the first instant after the gap.
        """
        return utc(datetime.combine(day, time(hour)), self.zone)

    def days(self, first: date, after: date) -> Interval:
        """Return the span from one local date up to, not including, another.

        Parameters
        ----------
        first, after : date
            The first date, and the one after the last.

        Returns
        -------
        Interval
            From midnight to midnight.
        """
        return Interval(self.at(first), self.at(after))

    def back(self, count: int, unit: Unit) -> datetime:
        """Return the instant so many calendar units before the reference instant.

        Parameters
        ----------
        count : int
            How many; below zero for later instants.
        unit : {"day", "week", "month", "quarter", "year", "decade"}
            The unit.

        Returns
        -------
        datetime
            In UTC, at the same local time of day.
        """
        local = self.now.astimezone(self.zone)
        return utc(datetime.combine(shift(local.date(), -count, unit), local.time()), self.zone)

    def elapsed(self, minutes: int) -> datetime:
        """Return the instant so many minutes before the reference instant.

        Parameters
        ----------
        minutes : int
            Minutes of elapsed time, whatever clocks do; below zero for later instants.

        Returns
        -------
        datetime
            In UTC.
        """
        try:
            return (self.now - timedelta(minutes=minutes)).astimezone(UTC)
        except OverflowError as problem:
            raise TimeError(f"{minutes} minutes before {self.now} leaves the years 1 to 9999") from problem


def day_of(year: int, month: int, day: int) -> date:
    """Return a date.

    Parameters
    ----------
    year, month, day : int
        As written.

    Returns
    -------
    date
        The date.

    Raises
    ------
    TimeError
        The calendar has no such date.
    """
    try:
        return date(year, month, day)
    except ValueError as problem:
        raise TimeError(f"there is no date {year:04}-{month:02}-{day:02}: {problem}; correct it") from problem


def shift(day: date, count: int, unit: Unit) -> date:
    """Return the date so many units later.

    Parameters
    ----------
    day : date
        From here.
    count : int
        How many; below zero for earlier dates.
    unit : {"day", "week", "month", "quarter", "year", "decade"}
        The unit. If a month lacks the day, its last day is given: a month after 31 January is 28 or 29
        February.

    Returns
    -------
    date
        The date.

    Raises
    ------
    TimeError
        It is outside the years 1 to 9999.

    Examples
    --------
    >>> shift(date(2024, 3, 31), -1, "month")
    datetime.date(2024, 2, 29)
    """
    try:
        if unit in _DAYS:
            return day + timedelta(days=count * _DAYS[unit])
        year, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS[unit], 12)
        first = date(year, month + 1, 1)
        after = first.replace(day=28) + timedelta(days=4)
        return first.replace(day=min(day.day, (after - timedelta(days=after.day)).day))
    except (OverflowError, ValueError) as problem:
        raise TimeError(f"{count} {unit}s from {day} leaves the years 1 to 9999") from problem


def begin(day: date, unit: Unit) -> date:
    """Return the first date of the calendar unit that holds a date.

    Parameters
    ----------
    day : date
        The date.
    unit : {"day", "week", "month", "quarter", "year", "decade"}
        The unit.

    Returns
    -------
    date
        A Monday for a week, 1 January of a year that ends in 0 for a decade.
    """
    if unit == "day":
        return day
    if unit == "week":
        return shift(day, -day.weekday(), "day")
    size = _MONTHS[unit]
    whole = (day.year * 12 + day.month - 1) // size * size
    return day_of(whole // 12, whole % 12 + 1, 1)


def unit_of(clock: Clock, day: date, unit: Unit) -> Interval:
    """Return the calendar unit that holds a date.

    Parameters
    ----------
    clock : Clock
        Gives the zone.
    day : date
        The date.
    unit : {"day", "week", "month", "quarter", "year", "decade"}
        The unit.

    Returns
    -------
    Interval
        The whole unit.

    Examples
    --------
    >>> str(unit_of(Clock(datetime(2024, 1, 1, tzinfo=UTC), UTC), date(2024, 2, 29), "month"))
    '[2024-02-01T00:00:00+00:00, 2024-03-01T00:00:00+00:00)'
    """
    first = begin(day, unit)
    return clock.days(first, shift(first, 1, unit))


def months(clock: Clock, year: int, month: int, count: int = 1) -> Interval:
    """Return whole months.

    Parameters
    ----------
    clock : Clock
        Gives the zone.
    year, month : int
        The first month.
    count : int, default 1
        How many.

    Returns
    -------
    Interval
        From the first of the month.
    """
    first = day_of(year, month, 1)
    return clock.days(first, shift(first, count, "month"))


def thirds(clock: Clock, span: Interval, which: int) -> Interval:
    """Return the early, middle or late third of a span of whole days.

    Parameters
    ----------
    clock : Clock
        Gives the zone.
    span : Interval
        Closed on both sides.
    which : {0, 1, 2}
        Early, middle, late.

    Returns
    -------
    Interval
        Whole months if these divide by three (a year, a quarter, a season), else whole days: of a month of 31 days,
        the 1st to 10th, the 11th to 20th, the 21st to 31st.

    Raises
    ------
    TimeError
        The span is open, or shorter than three days.
    """
    if span.start is None or span.end is None:
        raise TimeError(f"the open interval {span} has no third; name a month or a year")
    first, after = clock.date_of(span.start), clock.date_of(span.end)
    if (after - first).days < 3:
        raise TimeError(f"{span} is too short for an early, middle and late part; name a week, a month or a year")
    size = (after.year - first.year) * 12 + after.month - first.month
    if first.day == after.day == 1 and size % 3 == 0:
        edges = [shift(first, size // 3 * part, "month") for part in (which, which + 1)]
    else:
        edges = [shift(first, (after - first).days * part // 3, "day") for part in (which, which + 1)]
    return clock.days(*edges)
