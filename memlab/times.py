"""Instants and spans of time: one clock, aware UTC inside.

Whatever names an instant becomes an aware :class:`datetime.datetime` in UTC, to the microsecond, at the door
(:func:`utc`). A time that doesn't say its zone is refused, or read in the one zone the caller names; it is never
taken for local time and never compared with an aware one. Storage uses whole microseconds since 1970
(:func:`to_micros`), so nothing passes through a float. Date phrases are read in :mod:`memlab.phrases`.
"""

import operator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import SupportsIndex
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from memlab.errors import TimeError

__all__ = ["Interval", "from_micros", "now", "to_micros", "utc", "zone_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> datetime:
    """Return the present instant.

    Returns
    -------
    datetime
        Aware, in UTC.
    """
    return datetime.now(UTC)


def zone_of(zone: str | tzinfo) -> tzinfo:
    """Return the time zone of a name.

    Parameters
    ----------
    zone : str or tzinfo
        An IANA name, such as ``"Europe/Oslo"``, or a zone, which is returned as it is.

    Returns
    -------
    tzinfo
        The zone.

    Raises
    ------
    TimeError
        No zone has this name.

    Examples
    --------
    >>> zone_of("Europe/Oslo")
    zoneinfo.ZoneInfo(key='Europe/Oslo')
    """
    if isinstance(zone, tzinfo):
        return zone
    if not isinstance(zone, str):
        raise TimeError(f"zone is of type {type(zone).__name__}; give a name such as 'Europe/Oslo', or a tzinfo")
    try:
        return ZoneInfo(zone)
    # A folder of the zone database ("Europe") is an OSError, a path ("../x") a ValueError.
    except (KeyError, ValueError, OSError) as problem:
        raise TimeError(f"zone {zone!r} is unknown; give an IANA name such as 'Europe/Oslo' or 'UTC'") from problem


def _parsed(value: object, what: str) -> datetime | date:
    """Return the datetime or date that `value` is or spells, aware or not."""
    if isinstance(value, str):
        text = value.strip()
        try:
            # A date alone has no time sign and at most ten characters: 2024-05-20, 20240520, 2024-W21-1.
            return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
        except ValueError as problem:
            raise TimeError(
                f"{what} {value!r} isn't an ISO 8601 time; write it like '2024-05-20T09:00+01:00'"
            ) from problem
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    if value is pd.NaT:
        raise TimeError(f"{what} is NaT, a missing time; give a datetime, or leave it out")
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime(warn=False)
    if isinstance(value, date):
        return value
    hint = "datetime.fromtimestamp(seconds, UTC)" if isinstance(value, int | float) else "an aware datetime"
    raise TimeError(f"{what} is of type {type(value).__name__}; give {hint}, or an ISO 8601 string with offset")


def utc(value: object, zone: str | tzinfo | None = None, what: str = "time") -> datetime:
    """Return an instant as an aware datetime in UTC.

    Parameters
    ----------
    value : datetime, pandas.Timestamp, numpy.datetime64, date or str
        The instant. A string is ISO 8601 with an offset or ``Z``. What lies below a microsecond is cut off.
    zone : str or tzinfo, optional
        The zone in which a time without one is read; a date alone is the midnight that begins it. A time that
        says its own zone keeps it.
    what : str, default "time"
        What the instant is, for the message.

    Returns
    -------
    datetime
        In UTC, a plain datetime.

    Raises
    ------
    TimeError
        No time (numbers and NaT too), not ISO 8601, without a zone where none is given, or outside the
        years 1 to 9999 in UTC.

    Notes
    -----
    Where clocks go back, an ambiguous local time is the first of the two, unless its ``fold`` is 1. Where clocks
    go forward, a local time that never was is read with the offset before the change: 02:30 becomes 03:30
    (PEP 495).

    Examples
    --------
    >>> utc("2024-05-20T09:00+01:00").isoformat()
    '2024-05-20T08:00:00+00:00'
    >>> utc("2024-05-20 09:00", zone="Europe/Oslo").isoformat()
    '2024-05-20T07:00:00+00:00'
    """
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    found = _parsed(value, what)
    moment = found if isinstance(found, datetime) else datetime.combine(found, time())
    if moment.utcoffset() is None:
        if zone is None:
            raise TimeError(
                f"{what} {str(value)!r} doesn't say its time zone; add one, as in "
                f"'{moment.isoformat()}+00:00' or datetime(..., tzinfo=UTC), or name it with zone='Europe/Oslo'"
            )
        moment = moment.replace(tzinfo=zone_of(zone))
    try:
        return moment.astimezone(UTC)
    except OverflowError as problem:
        raise TimeError(f"{what} {str(value)!r} leaves the years 1 to 9999 in UTC") from problem


def to_micros(moment: datetime) -> int:
    """Return the whole microseconds from 1970-01-01 UTC to an instant.

    Parameters
    ----------
    moment : datetime
        Aware.

    Returns
    -------
    int
        Exact; below zero before 1970. Fits a signed 64-bit integer.

    Raises
    ------
    TimeError
        `moment` isn't aware.

    Examples
    --------
    >>> to_micros(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (utc(moment) - _EPOCH) // _MICROSECOND


def from_micros(micros: SupportsIndex) -> datetime:
    """Return the instant that lies so many microseconds after 1970-01-01 UTC.

    Parameters
    ----------
    micros : int
        Whole microseconds; numpy integers too.

    Returns
    -------
    datetime
        Aware, in UTC. The inverse of :func:`to_micros`.

    Raises
    ------
    TimeError
        The instant is outside the years 1 to 9999.

    Examples
    --------
    >>> from_micros(86_400_000_000).isoformat()
    '1970-01-02T00:00:00+00:00'
    """
    try:
        return _EPOCH + timedelta(microseconds=operator.index(micros))
    except OverflowError as problem:
        raise TimeError(f"{micros} microseconds after 1970 leaves the years 1 to 9999") from problem


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time, its start within, its end outside.

    Parameters
    ----------
    start, end : datetime or None
        Aware. None leaves that side open.

    Raises
    ------
    TimeError
        An end isn't aware, or the start comes after the end.

    Examples
    --------
    >>> day = Interval(utc("2024-05-20T00:00Z"), utc("2024-05-21T00:00Z"))
    >>> utc("2024-05-20T12:00Z") in day, day.end in day
    (True, False)
    """

    start: datetime | None
    end: datetime | None

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            if (moment := getattr(self, name)) is not None:
                object.__setattr__(self, name, utc(moment, what=name))
        if self.start is not None and self.end is not None and self.start > self.end:
            raise TimeError(f"the interval starts at {self.start} but ends at {self.end}; swap them")

    def __contains__(self, moment: datetime) -> bool:
        """Say whether an aware instant lies within."""
        after = self.start is None or self.start <= moment
        return after and (self.end is None or moment < self.end)

    def __str__(self) -> str:
        start, end = ("…" if side is None else side.isoformat() for side in (self.start, self.end))
        return f"[{start}, {end})"
