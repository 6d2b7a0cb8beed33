"""Dates and spans that have a name on the calendar: 8 May 2023, May, Q3 2024, summer, 2023-05-08, 2019.

One rule for each way of writing, tried in order; see :class:`Rulebook`. Without a year the most recent that has begun
is meant. A date in figures with the year last is refused if its day could be its month. A full date with a time of day
is left to the library dateparser, strictly: no part guessed, no word skipped.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from memlab.errors import TimeError
from memlab.spans import SEASONS, Clock, day_of, months, shift, unit_of
from memlab.times import Interval, utc

__all__ = ["DAYS", "MONTH", "NAMED", "SEASON", "WEEKDAY", "Rulebook"]

MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
SEASON = "(?:spring|summer|autumn|fall|winter)"
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SHORT_DAY = f"(?:{WEEKDAY}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_Rule = Callable[[re.Match[str], Clock], Interval | None]


class Rulebook:
    """Rules that read a phrase: each a regular expression over all of it, and what it then means.

    A rule may give None to leave the phrase to the next one.
    """

    def __init__(self) -> None:
        self._rules: list[tuple[str, _Rule]] = []
        self._compiled: list[tuple[re.Pattern[str], _Rule]] = []

    def rule(self, pattern: str) -> Callable[[_Rule], _Rule]:
        """Add the decorated function as the next rule.

        Parameters
        ----------
        pattern : str
            What the whole phrase must match.

        Returns
        -------
        callable
            The decorator, which gives the function back.
        """

        def register(function: _Rule) -> _Rule:
            self._rules.append((pattern, function))
            return function

        return register

    def read(self, phrase: str, clock: Clock) -> Interval | None:
        """Read a phrase by the first rule that fits.

        Parameters
        ----------
        phrase : str
            In lower case, with single blanks.
        clock : Clock
            The reference instant and the zone.

        Returns
        -------
        Interval or None
            None if no rule fits.

        Raises
        ------
        TimeError
            A rule fits, but the calendar has no such date.
        """
        if not self._compiled:
            # Not when imported: it takes a few hundredths of a second, and most programs read no phrase.
            self._compiled = [(re.compile(pattern), rule) for pattern, rule in self._rules]
        for pattern, rule in self._compiled:
            match = pattern.fullmatch(phrase)
            if match and (found := rule(match, clock)) is not None:
                return found
        return None


NAMED = Rulebook()


@NAMED.rule(r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?")
def _iso_time(match: re.Match[str], clock: Clock) -> Interval:
    moment = utc(match[0].upper(), clock.zone)
    return Interval(moment, moment + (timedelta(seconds=1) if match[1] else timedelta(minutes=1)))


@NAMED.rule(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
def _year_first(match: re.Match[str], clock: Clock) -> Interval:
    return unit_of(clock, day_of(*map(int, match.groups())), "day")


@NAMED.rule(r"(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4})")
def _in_figures(match: re.Match[str], clock: Clock) -> Interval:
    one, other, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] != "." and one != other and max(one, other) <= 12:
        raise TimeError(f"{match[0]!r} can be day and month or month and day; write the month's name, or {year}-MM-DD")
    # With dots the day comes first wherever dates are written so.
    day, month = (other, one) if match[2] != "." and other > 12 else (one, other)
    return unit_of(clock, day_of(year, month, day), "day")


def _month(name: str) -> int:
    return _MONTHS.index(name[:3]) + 1


@NAMED.rule(
    rf"(?:(?P<name>{_SHORT_DAY}) )?(?:the )?(?P<day>\d{{1,2}})(?:-| of | )(?P<month>{MONTH})(?:[- ](?P<year>\d{{4}}))?"
)
@NAMED.rule(rf"(?:(?P<name>{_SHORT_DAY}) )?(?P<month>{MONTH}) (?:the )?(?P<day>\d{{1,2}})(?: (?P<year>\d{{4}}))?")
def _date(match: re.Match[str], clock: Clock) -> Interval:
    month, number = _month(match["month"]), int(match["day"])
    if match["year"]:
        day = day_of(int(match["year"]), month, number)
    else:
        # Only 29 February needs to look back further than a year, and at most eight.
        years = [clock.today.year - back for back in range(9)]
        days = [date(year, month, number) for year in years if _exists(year, month, number)]
        day = next((day for day in days if day <= clock.today), None) or day_of(clock.today.year, month, number)
    if match["name"] and DAYS[day.weekday()] != match["name"][:3]:
        raise TimeError(f"{match[0]!r}: {day} isn't a {match['name']}; correct the weekday or leave it out")
    return unit_of(clock, day, "day")


def _exists(year: int, month: int, day: int) -> bool:
    return year > 0 and 0 < day <= (shift(date(year, month, 1), 1, "month") - timedelta(days=1)).day


@NAMED.rule(r"(?:the )?(?:year )?(\d{4})")
def _year(match: re.Match[str], clock: Clock) -> Interval:
    return months(clock, int(match[1]), 1, 12)


@NAMED.rule(r"(?:the )?(\d{3}0)'?s")
def _decade(match: re.Match[str], clock: Clock) -> Interval:
    return months(clock, int(match[1]), 1, 120)


@NAMED.rule(rf"(?:(?P<which>last|this|next) |the )?(?P<name>{MONTH}|{SEASON}|q[1-4]|h[12])")
@NAMED.rule(rf"(?:the )?(?P<name>{MONTH}|{SEASON}|q[1-4]|h[12])(?: of)? (?P<year>\d{{4}})")
@NAMED.rule(r"(?P<year>\d{4})(?: |-(?!\d\d\d))(?P<name>q[1-4]|h[12]|0[1-9]|1[0-2])")
def _named(match: re.Match[str], clock: Clock) -> Interval:
    name, groups = match["name"], match.groupdict()
    if name.isdigit():
        month, size = int(name), 1
    elif name in SEASONS:
        month, size = SEASONS[name], 3
    elif name[1:].isdigit():
        size = 3 if name[0] == "q" else 6
        month = (int(name[1:]) - 1) * size + 1
    else:
        month, size = _month(name), 1
    year = int(groups["year"]) if groups.get("year") else _nearest(clock, month, size, groups.get("which"))
    return months(clock, year, month, size)


def _nearest(clock: Clock, month: int, size: int, which: str | None) -> int:
    """Return the year in which a span that begins with a month is meant; none named: the last begun."""
    today = clock.today
    begun = today.year - (today.month < month)
    running = shift(day_of(begun, month, 1), size, "month") > today
    if which == "last":
        return begun - running
    if which == "next":
        return begun + 1
    # A winter that runs in January is this winter, though it began last year.
    return begun if which is None or running else today.year


@NAMED.rule(
    rf"(?=.*\b\d{{4}}\b)(?=.*(?:\b{MONTH}\b|-\d\d-))(?=.*(?:\d:\d|\d ?[ap]m\b|noon|midnight))"
    rf"(?:(?:{MONTH}|{_SHORT_DAY}|\d{{1,4}}|\d{{4}}-\d\d-\d\d|\d{{1,2}}:\d\d(?::\d\d)?(?:[ap]m)?|\d{{1,2}}[ap]m"
    r"|[ap]m|noon|midnight|at|on|of|the|utc|gmt|[+-]\d\d:?\d\d)(?: |$))+"
)
def _with_time(match: re.Match[str], clock: Clock) -> Interval | None:
    from dateparser.date import DateDataParser

    # The base is never used, as nothing is guessed, but without one the machine's clock would be read.
    base = clock.now.astimezone(clock.zone).replace(tzinfo=None)
    settings = {"STRICT_PARSING": True, "RETURN_TIME_AS_PERIOD": True, "RELATIVE_BASE": base}
    found = DateDataParser(languages=["en"], settings=settings).get_date_data(match[0])
    if found.date_obj is None or found.period != "time":
        return None
    moment = utc(found.date_obj, clock.zone)
    return Interval(moment, moment + timedelta(minutes=1))
