"""The rules by which a date phrase in English becomes a span of time.

The first rule that fits wins, and a rule may read a smaller phrase inside its own: "since X", "the week before X".
What the rules mean stands in :mod:`memlab.phrases`; what has a name on the calendar is read in
:mod:`memlab.named_dates`.
"""

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import cast

from memlab.errors import TimeError
from memlab.named_dates import DAYS, MONTH, NAMED, SEASON, WEEKDAY, Rulebook
from memlab.spans import Clock, Unit, begin, shift, thirds, unit_of
from memlab.times import Interval, utc

__all__ = ["normalised", "read"]

_UNIT = "(?:day|week|fortnight|month|quarter|year|decade)"
_COUNT = r"(?:[1-9]\d{0,3}|an?|(?:a )?couple(?: of)?|(?:a )?few|several)"
# Prepositions that add nothing to their phrase; two in a row belong to a longer sentence.
_WITHIN = "(?:in|on|during|over|within|throughout|for|at) "
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "final": -1}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_OF = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_HOURS = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}

RELATIVE = Rulebook()


def normalised(phrase: str) -> str:
    """Return a phrase as the rules expect it.

    Parameters
    ----------
    phrase : str
        As a person wrote it.

    Returns
    -------
    str
        In lower case, one blank between words, without commas, dots of abbreviations and ordinal endings, with
        plain hyphens and with figures for the numbers one to twelve.
    """
    text = re.sub("[‐‑‒–—−]", "-", phrase.lower()).replace("’", "'").replace(",", " ").strip(" \t\r\n.?!;")
    text = re.sub(r"(?<=[a-z])\.|(?<=\d)(?:st|nd|rd|th)\b|'s$", "", text)
    text = re.sub(r"\bmid-", "mid ", text)
    return " ".join(_NUMBER_OF.get(word, word) for word in text.split())


def read(phrase: str, clock: Clock) -> Interval | None:
    """Read a phrase by the first rule that fits.

    Parameters
    ----------
    phrase : str
        As :func:`normalised` gives it.
    clock : Clock
        The reference instant and the zone.

    Returns
    -------
    Interval or None
        None if no rule fits.

    Raises
    ------
    TimeError
        A rule fits but the calendar has no such date, or a range ends before it starts.
    """
    found = NAMED.read(phrase, clock)
    return RELATIVE.read(phrase, clock) if found is None else found


# Near today


@RELATIVE.rule("today|yesterday|tomorrow|(?:the )?day before yesterday|(?:the )?day after tomorrow")
def _near(match: re.Match[str], clock: Clock) -> Interval:
    days = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(match[0], 2 if "after" in match[0] else -2)
    return unit_of(clock, shift(clock.today, days, "day"), "day")


@RELATIVE.rule("(this|yesterday|tomorrow|last) (morning|afternoon|evening|night)|to(night)")
def _part_of_day(match: re.Match[str], clock: Clock) -> Interval:
    day = shift(clock.today, {"yesterday": -1, "last": -1, "tomorrow": 1}.get(match[1], 0), "day")
    first, after = _HOURS[match[2] or match[3]]
    days, hour = divmod(after, 24)
    return Interval(clock.at(day, first), clock.at(shift(day, days, "day"), hour))


def _counts(words: str) -> tuple[int, int]:
    """Return the fewest and the most units that a count names."""
    if "couple" in words:
        return 1, 3
    if "few" in words or "several" in words:
        return 2, 5
    return (1, 1) if words in {"a", "an"} else (int(words), int(words))


def _unit(word: str, count: int = 1) -> tuple[Unit, int]:
    """Return a unit, and how many of it are meant: a fortnight is two weeks."""
    return ("week", 2 * count) if word == "fortnight" else (cast("Unit", word), count)


@RELATIVE.rule(rf"(?:the )?(last|past|previous|next|coming) ({_COUNT}) (minute|hour|{_UNIT})s?")
@RELATIVE.rule(rf"(?:the |this )?(past|coming)( )(minute|hour|{_UNIT})|the (last)( )(minute|hour|{_UNIT})")
@RELATIVE.rule("(?:the )?(last|next)( )(hour|fortnight)")
def _rolling(match: re.Match[str], clock: Clock) -> Interval:
    which, words, word = [group for group in match.groups() if group]
    count = 2 if "couple" in words else _counts(words.strip() or "a")[1]
    sign = -1 if which in {"next", "coming"} else 1
    if word in {"minute", "hour"}:
        edge = clock.elapsed(sign * count * (60 if word == "hour" else 1))
    else:
        unit, size = _unit(word, count)
        edge = clock.back(sign * size, unit)
    return Interval(*sorted((edge, clock.now)))


def _weekend(clock: Clock, day: date) -> Interval:
    """Return Saturday and Sunday of the week that holds a date."""
    monday = begin(day, "week")
    return clock.days(shift(monday, 5, "day"), shift(monday, 7, "day"))


_STEPS = {"before last": -2, "last": -1, "previous": -1, "next": 1, "after next": 2}


@RELATIVE.rule(
    "(?:the )?(?P<which>last|previous|this|current|next) (?P<unit>day|week|month|quarter|year|decade|weekend)"
)
@RELATIVE.rule("(?:the )?(?P<unit>week|month|quarter|year|decade|weekend) (?P<which>before last|after next)")
def _calendar(match: re.Match[str], clock: Clock) -> Interval:
    step = _STEPS.get(match["which"], 0)
    if match["unit"] == "weekend":
        return _weekend(clock, shift(clock.today, step, "week"))
    unit, _ = _unit(match["unit"])
    return unit_of(clock, shift(clock.today, step, unit), unit)


@RELATIVE.rule("(?:the|(?:the |this )?past) weekend")
def _begun_weekend(match: re.Match[str], clock: Clock) -> Interval:
    return _weekend(clock, shift(clock.today, -5, "day"))


@RELATIVE.rule(rf"([1-9]\d?) (weekend|{WEEKDAY})s ago")
def _named_days_ago(match: re.Match[str], clock: Clock) -> Interval:
    count = int(match[1])
    if match[2] == "weekend":
        return _weekend(clock, shift(clock.today, -count, "week"))
    back = (clock.today.weekday() - DAYS.index(match[2][:3])) % 7 or 7
    return unit_of(clock, shift(clock.today, -back - 7 * (count - 1), "day"), "day")


@RELATIVE.rule(rf"({_COUNT}) (minute|hour|{_UNIT})s? (?:ago|back)")
@RELATIVE.rule(rf"in ({_COUNT}) (minute|hour|{_UNIT})s?|({_COUNT}) (minute|hour|{_UNIT})s? from (?:now|today)")
def _ago(match: re.Match[str], clock: Clock) -> Interval:
    words, word = [group for group in match.groups() if group]
    sign = 1 if match[0].endswith(("ago", "back")) else -1
    near, far = (sign * count for count in _counts(words))
    if word not in {"minute", "hour"}:
        unit, size = _unit(word)
        return _around(clock, clock.today, (-near * size, -far * size), unit)
    length = 60 if word == "hour" else 1
    edges = []
    for count in sorted((near, far), reverse=True):
        local = clock.elapsed(count * length).astimezone(clock.zone)
        edges.append(utc(local.replace(minute=0 if length == 60 else local.minute, second=0, microsecond=0)))
    return Interval(edges[0], edges[1] + timedelta(minutes=length))


def _around(clock: Clock, day: date, steps: tuple[int, int], unit: Unit) -> Interval:
    """Return the calendar units from one number of steps away from a date to another."""
    first, last = (unit_of(clock, shift(day, step, unit), unit) for step in sorted(steps))
    return Interval(first.start, last.end)


@RELATIVE.rule(f"(?:(last|past|this|next) )?({WEEKDAY})")
def _weekday(match: re.Match[str], clock: Clock) -> Interval:
    ahead = (DAYS.index(match[2][:3]) - clock.today.weekday()) % 7
    if match[1] == "this":
        step = DAYS.index(match[2][:3]) - clock.today.weekday()
    elif match[1] == "next":
        step = ahead or 7
    else:
        step = ahead - 7 if ahead or match[1] else 0
    return unit_of(clock, shift(clock.today, step, "day"), "day")


# Beside and inside another phrase


def _edges(phrase: str, clock: Clock) -> tuple[date, date] | None:
    """Return the first local date of a phrase and the one after its last, if it is closed."""
    span = read(phrase, clock)
    if span is None or span.start is None or span.end is None:
        return None
    # The end is outside: what ends within a day reaches into that day.
    return clock.date_of(span.start), shift(clock.date_of(span.end - timedelta(microseconds=1)), 1, "day")


@RELATIVE.rule(
    rf"(?P<the>the )?(?:(?P<count>{_COUNT}) )?(?P<unit>{_UNIT}|weekend|{WEEKDAY})(?P<plural>s)? "
    "(?P<side>before|preceding|after|following|of) (?P<x>.+)"
)
def _beside(match: re.Match[str], clock: Clock) -> Interval | None:
    edges = _edges(match["x"], clock)
    if edges is None or (match["side"] == "of" and (match["count"] or match["unit"] == "day")):
        return None
    if match["plural"] and not match["count"]:
        return None
    first, after = edges
    sign = -1 if match["side"] in {"before", "preceding"} else 1
    word = match["unit"]
    if word == "weekend" or re.fullmatch(WEEKDAY, word):
        return None if match["count"] else _named_day(clock, edges, word, match["side"])
    low, high = _counts(match["count"] or "a")
    unit, size = _unit(word)
    if match["side"] == "of":
        return unit_of(clock, first, unit)
    if match["count"] and not match["the"]:
        day = first if sign < 0 else shift(after, -1, "day")
        return _around(clock, day, (sign * low * size, sign * high * size), unit)
    edge = first if sign < 0 else after
    return clock.days(*sorted((edge, shift(edge, sign * high * size, unit))))


def _named_day(clock: Clock, edges: tuple[date, date], word: str, side: str) -> Interval:
    """Return the weekend or the weekday nearest to a span of dates, outside it unless `side` is "of"."""
    first, after = edges
    target = 5 if word == "weekend" else DAYS.index(word[:3])
    if side in {"before", "preceding"}:
        # A weekend is over before the span begins, so its Saturday is two days before at least.
        last = shift(first, -2 if word == "weekend" else -1, "day")
        day = shift(last, -((last.weekday() - target) % 7), "day")
    elif side == "of" and word == "weekend":
        return _weekend(clock, first)
    else:
        start = first if side == "of" else after
        day = shift(start, (target - start.weekday()) % 7, "day")
    return clock.days(day, shift(day, 2 if word == "weekend" else 1, "day"))


@RELATIVE.rule(
    rf"(?:the )?(first|second|third|fourth|fifth|last|final) (?:(?P<count>[1-9]\d?) )?"
    rf"(half|{_UNIT}|weekend|{WEEKDAY})s? (?:of|in) (?P<x>.+)"
)
def _ordinal(match: re.Match[str], clock: Clock) -> Interval | None:
    edges = _edges(match["x"], clock)
    if edges is None:
        return None
    first, after = edges
    place, word = _ORDINALS[match[1]], match[3]
    if word == "half":
        return _half(clock, edges, place)
    if word == "weekend" or re.fullmatch(WEEKDAY, word):
        target, size = (5, 2) if word == "weekend" else (DAYS.index(word[:3]), 1)
        start = first if place >= 0 else shift(after, -7, "day")
        day = shift(start, (target - start.weekday()) % 7 + 7 * max(place, 0), "day")
        begins, ends = day, shift(day, size, "day")
    else:
        unit, size = _unit(word, int(match["count"] or 1))
        begins = shift(first, place * size, unit) if place >= 0 else shift(after, -size, unit)
        ends = min(shift(begins, size, unit), after)
    if not first <= begins < after:
        raise TimeError(f"{match['x']!r} has no {match[1]} {word}; name one that it has")
    return clock.days(begins, ends)


def _half(clock: Clock, edges: tuple[date, date], place: int) -> Interval:
    """Return the first or the second half of a span: whole months if they divide, else days."""
    first, after = edges
    if place not in {0, 1, -1}:
        raise TimeError("a half is the first, the second or the last")
    size = (after.year - first.year) * 12 + after.month - first.month
    whole = first.day == after.day == 1 and size % 2 == 0
    middle = shift(first, size // 2, "month") if whole else shift(first, (after - first).days // 2, "day")
    return clock.days(*((first, middle) if place == 0 else (middle, after)))


@RELATIVE.rule(r"(?:the )?(beginning|start|middle|end) (?:in|of) (?:the )?(?P<x>.+)")
@RELATIVE.rule(r"(?:the )?(early|mid|late)(?: in| of)?(?: the)? (?P<x>.+)")
def _third(match: re.Match[str], clock: Clock) -> Interval | None:
    span = read(match["x"], clock)
    if span is None or span.start is None or span.end is None:
        return None
    return thirds(clock, span, {"early": 0, "beginning": 0, "start": 0, "late": 2, "end": 2}.get(match[1], 1))


# Ranges


@RELATIVE.rule(rf"(?:from |between )?({MONTH}) (\d{{1,2}}) ?(?:-|to|until|and) ?(\d{{1,2}})( \d{{4}})?")
def _days_of_a_month(match: re.Match[str], clock: Clock) -> Interval | None:
    month, first, last, year = match[1], match[2], match[3], match[4] or ""
    return _range(f"{first} {month}{year}", f"{last} {month}{year}", clock)


@RELATIVE.rule("(?:between )(?P<x>.+?) and (?P<y>.+)")
@RELATIVE.rule("(?:from )?(?P<x>.+?) (?:to|until|till|through) (?P<y>.+)")
@RELATIVE.rule(r"(?:from )?(?P<x>[^-]+?) ?- ?(?P<y>[^-]+)")
def _between(match: re.Match[str], clock: Clock) -> Interval | None:
    return _range(match["x"], match["y"], clock)


_NO_YEAR = rf"(?:the )?(?:{MONTH}|{SEASON}|q[1-4]|h[12]|{WEEKDAY}|\d{{1,2}}(?: of)? {MONTH}|{MONTH} \d{{1,2}})"


def _range(one: str, other: str, clock: Clock) -> Interval | None:
    """Return the span from the start of one phrase to the end of another, which gives it what it leaves out."""
    last = Interval(None, clock.now) if other in {"now", "the present"} else read(other, clock)
    if last is None or last.end is None:
        return None
    if one.isdigit() and len(one) <= 2 and (rest := re.fullmatch(rf"\d{{1,2}}( .*|-{MONTH}.*)", other)):
        one += rest[1]
    anchor = clock
    if re.fullmatch(_NO_YEAR, one):
        anchor = replace(clock, now=last.end - timedelta(microseconds=1))
    first = read(one, anchor)
    if first is None or first.start is None:
        return None
    if first.start >= last.end:
        raise TimeError(f"the range from {one!r} to {other!r} ends before it starts; swap them")
    return Interval(first.start, last.end)


@RELATIVE.rule("(?P<side>since|ever since|from|starting from|starting in|starting) (?P<x>.+?)(?: onwards?| on)?")
@RELATIVE.rule("(?P<side>after|following|before|prior to|until|till|up to|up until|by|through) (?P<x>.+)")
def _open(match: re.Match[str], clock: Clock) -> Interval | None:
    side = match["side"]
    if match["x"] == "now" and side.startswith(("until", "till", "up")):
        return Interval(None, clock.now)
    span = None if re.match(_WITHIN, match["x"]) else read(match["x"], clock)
    if span is None or (span.start is None or span.end is None):
        return None
    if side in {"before", "prior to"}:
        return Interval(None, span.start)
    if side in {"after", "following"}:
        return Interval(span.end, None)
    return (
        Interval(span.start, None) if side.startswith(("since", "ever", "from", "start")) else Interval(None, span.end)
    )


@RELATIVE.rule(f"{_WITHIN}(?!{_WITHIN})(?P<x>.+)")
def _within(match: re.Match[str], clock: Clock) -> Interval | None:
    found = read(match["x"], clock)
    return found if found and found.start and found.end else None
