"""Date phrases in English: what "last 2 weeks" or "between May and July 2024" means at a given instant.

What a person writes can often be read in more than one way, so here is the reading that counts:

* *Rolling or calendar.* A count ("last 2 weeks"), the word "past" ("past month") and the article ("in the last week")
  roll up to now; "last week", "this month", "next year" are whole units of the calendar. Weeks begin on Monday.
* *Ago.* "3 days ago" is that whole day; "2 weeks ago" the calendar week, "2 months ago" the calendar month, "5 hours
  ago" the clock hour that holds the instant. "A couple of days ago" reaches from 3 to 1 days back, "a few" and
  "several" from 5 to 2; in a window they count 2 and 5.
* *No year.* "May", "7 June", "Q3", "summer" and "Tuesday" are the most recent that has begun. "Last May" is the most
  recent that is over, "this May" that of the current year, "next May" the first still to begin. "Last Tuesday" is the
  most recent before today, "last weekend" that of the calendar week before. In a range the later end gives the year to
  the earlier one: "between November and February 2024" begins in 2023.
* *Before and after.* "The week before X" is the 7 days up to X, "2 weeks before X" the calendar week that holds that
  day. "Since X" begins with X, "after X" when X is over; "before X" ends where X begins, "until X" and "by X" with X.
* *Parts.* "Early", "mid" and "late" (and "beginning", "end") are thirds. Weeks of a month are counted from its first
  day: the second week of May is the 8th to 14th. A morning is 6 to 12, an afternoon 12 to 18, an evening 18 to 24, a
  night, and tonight, 18 to 6.
* *Figures.* "05/08/2023" can be two dates and is refused; "13/05/2023" can't; with dots the day comes first.

The calendar itself (months, seasons, changes of clocks) is explained in :mod:`memlab.spans`.
"""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memlab.errors import TimeError
from memlab.grammar import normalised, read
from memlab.named_dates import MONTH, SEASON, WEEKDAY
from memlab.spans import Clock
from memlab.times import Interval, utc, zone_of

__all__ = ["UNDERSTOOD", "Found", "find_phrases", "parse_phrase"]

UNDERSTOOD = (
    "today", "yesterday", "the day before yesterday", "last night", "this morning",
    "last week", "this month", "next year", "the week before last", "last weekend", "last Tuesday",
    "last 2 weeks", "past 7 days", "in the last 3 months", "past few days", "last 24 hours", "next 2 weeks",
    "3 days ago", "a couple of days ago", "a few weeks ago", "two weekends ago", "in 3 days",
    "2023-05-08", "8 May 2023", "May 8, 2023", "on 7 June", "13/05/2023", "1:56 pm on 8 May, 2023",
    "in May 2023", "May", "2023", "2023-05", "Q3 2024", "summer 2023", "last summer", "the 1990s",
    "early May 2023", "end of 2023", "the first weekend of June 2023", "second week of May",
    "since March", "after 8 May 2023", "before 2023", "until yesterday", "by June 2024",
    "between May and July 2024", "from 3 June to 5 June 2024", "8-12 May 2023", "2019-2021",
    "the week before 9 June 2023", "2 weeks before 9 June 2023", "the Sunday after 8 May 2023",
)  # fmt: skip

# No phrase that means one span needs more, and rules that read phrases inside phrases need a bound.
_MOST_WORDS = 20


def parse_phrase(text: str, now: datetime, zone: str | tzinfo = "UTC") -> Interval:
    """Read a date phrase.

    Parameters
    ----------
    text : str
        The phrase and nothing else, in any letter case; the examples are in `UNDERSTOOD`.
    now : datetime
        The instant the phrase is relative to; aware.
    zone : str or tzinfo, default "UTC"
        The zone whose calendar and midnights count.

    Returns
    -------
    Interval
        In UTC, the start within and the end outside; None on a side that the phrase leaves open.

    Raises
    ------
    TimeError
        The phrase isn't understood, the calendar has no such date, a range ends before it starts, or `now` isn't
        aware.

    Examples
    --------
    >>> now = utc("2024-06-12T10:00Z")
    >>> str(parse_phrase("last 2 weeks", now))
    '[2024-05-29T10:00:00+00:00, 2024-06-12T10:00:00+00:00)'
    >>> str(parse_phrase("since March", now))
    '[2024-03-01T00:00:00+00:00, …)'
    """
    if not isinstance(text, str):
        raise TimeError(f"a date phrase is of type {type(text).__name__}; give a str such as 'last 2 weeks'")
    clock = Clock(utc(now, what="now"), zone_of(zone))
    phrase = normalised(text)
    found = read(phrase, clock) if len(phrase.split()) <= _MOST_WORDS else None
    if found is None:
        shown = text if len(text) <= 80 else text[:79] + "…"
        known = ", ".join(f"'{example}'" for example in UNDERSTOOD)
        raise TimeError(f"date phrase {shown!r} isn't understood; write it like one of: {known}")
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """A date phrase inside a longer text.

    Parameters
    ----------
    start, end : int
        Where it stands: ``source[start:end]`` is `text`.
    text : str
        The phrase as written.
    interval : Interval
        What it means.
    """

    start: int
    end: int
    text: str
    interval: Interval


# The words that phrases are made of; a run of them is searched for the longest phrase that reads.
_WORD = (
    rf"{MONTH}|{WEEKDAY}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|{SEASON}|q[1-4]|h[12]"
    "|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|an?|couple|few|several"
    "|(?:minute|hour|day|week|weekend|fortnight|month|quarter|year|decade|half)s?"
    f"|(?:{WEEKDAY})s|today|yesterday|tomorrow|tonight|morning|afternoon|evening|night|noon|midnight|now|ago|back"
    "|last|past|previous|next|coming|current|this|final|first|second|third|fourth|fifth"
    "|early|mid|middle|late|beginning|start|end|the|of|in|on|at|and|to|for|since|ever|from|starting|after|following"
    "|before|prior|preceding|until|till|up|by|through|between|during|over|within|throughout|onwards?|[ap]m|utc|gmt"
)
_PIECE = (
    r"(?<![\w.])(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d+(?:[/.-]\d+)+|\d\d?:\d\d(?::\d\d)?(?:[ap]m)?|\d{1,4}(?:st|nd|rd|th|s|[ap]m)?"
    rf"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.(?= \d)|(?:{_WORD}))(?!\w)"
)
_GAP = re.compile(r",?\s+|,|\s*[-–—]\s*")
# A phrase of this many pieces says all it can; longer windows aren't tried.
_MOST_PIECES = 14
_NO_END = {"the", "of", "in", "on", "at", "and", "to", "for", "a", "an", "by", "from", "up"}
_PREPOSITION = "(?:in|during|for|throughout|since|from|until|till|before|after|by|between|starting)"
# These read as dates when they stand alone, but in a sentence they say too little.
_WEAK = (
    rf"(?:(?:on|at|for|over|within|through|the) )*(?:{MONTH}|{SEASON}|h[12])"
    rf"|(?:after|before|by|until|till|from|since) (?:the )?(?:fall|spring|h[12])"
    r"|(?:(?:on|at|over|within|through|the) )*\d{4}"
    r"|in (?:\d+|an?|(?:a )?few|(?:a )?couple(?: of)?|several) [a-z]+"
)
_VERBS = re.compile(r"\b(?:may|march)\b")
_SURE = rf"{_PREPOSITION} .*|(?:the )?(?:last|early|mid|middle|late|beginning|start|end) .*|.* of .*|.*\b\d{{4}}"


def _meant(written: str, phrase: str) -> bool:
    """Say whether words that can be a date are meant as one: not the verbs of "we may go" and "they march"."""
    if re.fullmatch(_WEAK, phrase) or (_VERBS.search(written) and not re.fullmatch(_SURE, phrase)):
        return False
    # A bare number is a year only in living memory.
    bare = re.fullmatch(rf"(?:{_PREPOSITION} )?(?:the )?(?:year )?[-\d ]+(?: ?(?:-|to|and|until) ?\d+)?", phrase)
    return not bare or all(1900 <= int(year) <= 2100 for year in re.findall(r"\d{4}", phrase))


def _runs(text: str) -> list[list[re.Match[str]]]:
    """Return the unbroken runs of words that phrases are made of."""
    runs: list[list[re.Match[str]]] = []
    for piece in re.finditer(_PIECE, text, re.IGNORECASE):
        if runs and _GAP.fullmatch(text, runs[-1][-1].end(), piece.start()):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def _longest(text: str, run: list[re.Match[str]], first: int, clock: Clock) -> tuple[int, Interval | None]:
    """Return where the longest phrase that begins with a piece of a run ends, and what it means, if anything."""
    passed = first
    for last in range(min(len(run), first + _MOST_PIECES) - 1, first - 1, -1):
        if run[last][0].lower() in _NO_END:
            continue
        written = text[run[first].start() : run[last].end()]
        phrase = normalised(written)
        try:
            interval = read(phrase, clock)
        except TimeError:
            # 31 June, or a day that could be a month: passed over whole, lest its "June" be taken.
            passed = last
            continue
        if interval is not None and _meant(written, phrase):
            return last, interval
    return passed, None


def find_phrases(text: str, now: datetime, zone: str | tzinfo = "UTC") -> list[Found]:
    """Find the date phrases in a text, such as a question.

    Parameters
    ----------
    text : str
        Any text.
    now : datetime
        The instant the phrases are relative to; aware.
    zone : str or tzinfo, default "UTC"
        The zone whose calendar and midnights count.

    Returns
    -------
    list of Found
        In the order of the text, not overlapping, each the longest that can be read from where it begins; empty if
        there is none. Prepositions belong to their phrase. Words that are dates only by the way ("we may go", "they
        march", "after the fall", a number alone, "in 2 weeks") and impossible dates are passed over.

    Raises
    ------
    TimeError
        `now` isn't aware, or `zone` is unknown.

    Examples
    --------
    >>> [found.text for found in find_phrases("What may Ana have done in May 2023?", utc("2024-06-12T10:00Z"))]
    ['in May 2023']
    """
    clock = Clock(utc(now, what="now"), zone_of(zone))
    found: list[Found] = []
    for run in _runs(text):
        first = 0
        while first < len(run):
            last, interval = _longest(text, run, first, clock)
            if interval is not None:
                start, end = run[first].start(), run[last].end()
                found.append(Found(start, end, text[start:end], interval))
            first = last + 1
    return found
