"""Date phrases against intervals worked out by hand on a calendar; the rules are in grammar and named_dates."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memlab.errors import TimeError
from memlab.phrases import UNDERSTOOD, find_phrases, parse_phrase
from memlab.times import Interval, utc

NOW = utc("2024-06-12T10:30Z")  # a Wednesday

# phrase -> start and end in UTC; "-" is an open side.
TABLE = {
    "today": "2024-06-12 2024-06-13",
    "Yesterday": "2024-06-11 2024-06-12",
    "tomorrow": "2024-06-13 2024-06-14",
    "the day before yesterday": "2024-06-10 2024-06-11",
    "last night": "2024-06-11T18:00 2024-06-12T06:00",
    "this morning": "2024-06-12T06:00 2024-06-12T12:00",
    "yesterday evening": "2024-06-11T18:00 2024-06-12",
    "last week": "2024-06-03 2024-06-10",
    "this week": "2024-06-10 2024-06-17",
    "next week": "2024-06-17 2024-06-24",
    "the week before last": "2024-05-27 2024-06-03",
    "last month": "2024-05-01 2024-06-01",
    "next month": "2024-07-01 2024-08-01",
    "this quarter": "2024-04-01 2024-07-01",
    "last quarter": "2024-01-01 2024-04-01",
    "this year": "2024-01-01 2025-01-01",
    "last year": "2023-01-01 2024-01-01",
    "last weekend": "2024-06-08 2024-06-10",
    "over the weekend": "2024-06-08 2024-06-10",
    "this weekend": "2024-06-15 2024-06-17",
    "two weekends ago": "2024-06-01 2024-06-03",
    # Rolling
    "last 2 weeks": "2024-05-29T10:30 2024-06-12T10:30",
    "past 7 days": "2024-06-05T10:30 2024-06-12T10:30",
    "the last seven days": "2024-06-05T10:30 2024-06-12T10:30",
    "in the last 3 months": "2024-03-12T10:30 2024-06-12T10:30",
    "past month": "2024-05-12T10:30 2024-06-12T10:30",
    "in the last week": "2024-06-05T10:30 2024-06-12T10:30",
    "the past year": "2023-06-12T10:30 2024-06-12T10:30",
    "past few days": "2024-06-07T10:30 2024-06-12T10:30",
    "last couple of weeks": "2024-05-29T10:30 2024-06-12T10:30",
    "last 36 hours": "2024-06-10T22:30 2024-06-12T10:30",
    "next 2 weeks": "2024-06-12T10:30 2024-06-26T10:30",
    # Ago
    "3 days ago": "2024-06-09 2024-06-10",
    "a week ago": "2024-06-03 2024-06-10",
    "two months ago": "2024-04-01 2024-05-01",
    "a year ago": "2023-01-01 2024-01-01",
    "a fortnight ago": "2024-05-27 2024-06-03",
    "a couple of days ago": "2024-06-09 2024-06-12",
    "a few days ago": "2024-06-07 2024-06-11",
    "several weeks ago": "2024-05-06 2024-06-03",
    "2 hours ago": "2024-06-12T08:00 2024-06-12T09:00",
    "in 3 days": "2024-06-15 2024-06-16",
    # Weekdays
    "Wednesday": "2024-06-12 2024-06-13",
    "last Wednesday": "2024-06-05 2024-06-06",
    "last Tuesday": "2024-06-11 2024-06-12",
    "on Friday": "2024-06-07 2024-06-08",
    "this Friday": "2024-06-14 2024-06-15",
    "next Wednesday": "2024-06-19 2024-06-20",
    "2 Fridays ago": "2024-05-31 2024-06-01",
    # Dates
    "2023-05-08": "2023-05-08 2023-05-09",
    "8 May 2023": "2023-05-08 2023-05-09",
    "8 May, 2023": "2023-05-08 2023-05-09",
    "the 8th of May 2023": "2023-05-08 2023-05-09",
    "May 8th, 2023": "2023-05-08 2023-05-09",
    "8-May-2023": "2023-05-08 2023-05-09",
    "Mon 8 May 2023": "2023-05-08 2023-05-09",
    "Sept. 5, 2023": "2023-09-05 2023-09-06",
    "13/05/2023": "2023-05-13 2023-05-14",
    "5/13/2023": "2023-05-13 2023-05-14",
    "8/8/2023": "2023-08-08 2023-08-09",
    "05.08.2023": "2023-08-05 2023-08-06",
    "on 7 June": "2024-06-07 2024-06-08",
    "13 June": "2023-06-13 2023-06-14",
    "29 February": "2024-02-29 2024-03-01",
    "2023-05-08T09:00+02:00": "2023-05-08T07:00 2023-05-08T07:01",
    "1:56 pm on 8 May, 2023": "2023-05-08T13:56 2023-05-08T13:57",
    "8 May 2023 at 9pm": "2023-05-08T21:00 2023-05-08T21:01",
    # Months and longer
    "in May 2023": "2023-05-01 2023-06-01",
    "May": "2024-05-01 2024-06-01",
    "June": "2024-06-01 2024-07-01",
    "july": "2023-07-01 2023-08-01",
    "last May": "2024-05-01 2024-06-01",
    "last June": "2023-06-01 2023-07-01",
    "next May": "2025-05-01 2025-06-01",
    "2023-05": "2023-05-01 2023-06-01",
    "2023": "2023-01-01 2024-01-01",
    "Q3 2024": "2024-07-01 2024-10-01",
    "Q3": "2023-07-01 2023-10-01",
    "2023 Q1": "2023-01-01 2023-04-01",
    "H2 2023": "2023-07-01 2024-01-01",
    "the 1990s": "1990-01-01 2000-01-01",
    "spring 2023": "2023-03-01 2023-06-01",
    "the summer of 2023": "2023-06-01 2023-09-01",
    "fall 2023": "2023-09-01 2023-12-01",
    "autumn": "2023-09-01 2023-12-01",
    "winter 2023": "2023-12-01 2024-03-01",
    "last summer": "2023-06-01 2023-09-01",
    # Parts
    "early May 2023": "2023-05-01 2023-05-11",
    "mid-May 2023": "2023-05-11 2023-05-21",
    "late May 2023": "2023-05-21 2023-06-01",
    "the end of last year": "2023-09-01 2024-01-01",
    "the first weekend of June 2023": "2023-06-03 2023-06-05",
    "the last Sunday of March 2024": "2024-03-31 2024-04-01",
    "second week of May": "2024-05-08 2024-05-15",
    "last week of May": "2024-05-25 2024-06-01",
    "the last day of February 2024": "2024-02-29 2024-03-01",
    "first two weeks in May": "2024-05-01 2024-05-15",
    "second half of 2023": "2023-07-01 2024-01-01",
    "third quarter of 2023": "2023-07-01 2023-10-01",
    # Beside
    "the week before 9 June 2023": "2023-06-02 2023-06-09",
    "the two weeks before 9 June 2023": "2023-05-26 2023-06-09",
    "2 weeks before 9 June 2023": "2023-05-22 2023-05-29",
    "3 days after 9 June 2023": "2023-06-12 2023-06-13",
    "the month after May 2023": "2023-06-01 2023-07-01",
    "the weekend before 9 June 2023": "2023-06-03 2023-06-05",
    "the weekend before 11 June 2023": "2023-06-03 2023-06-05",
    "the Sunday after 8 May 2023": "2023-05-14 2023-05-15",
    "the Monday before 8 May 2023": "2023-05-01 2023-05-02",
    "the week of 9 June 2023": "2023-06-05 2023-06-12",
    # Ranges
    "since March": "2024-03-01 -",
    "since last March": "2024-03-01 -",
    "since 3 days ago": "2024-06-09 -",
    "from March onwards": "2024-03-01 -",
    "after 8 May 2023": "2023-05-09 -",
    "before 2023": "- 2023-01-01",
    "until yesterday": "- 2024-06-12",
    "by June 2024": "- 2024-07-01",
    "until now": "- 2024-06-12T10:30",
    "between May and July 2024": "2024-05-01 2024-08-01",
    "between November and February 2024": "2023-11-01 2024-03-01",
    "between 3 and 5 June 2024": "2024-06-03 2024-06-06",
    "from 3 June to 5 June 2024": "2024-06-03 2024-06-06",
    "from May to now": "2024-05-01 2024-06-12T10:30",
    "May–July 2024": "2024-05-01 2024-08-01",
    "8-12 May 2023": "2023-05-08 2023-05-13",
    "May 8-12, 2023": "2023-05-08 2023-05-13",
    "2019-2021": "2019-01-01 2022-01-01",
    "2023-05-08 to 2023-05-10": "2023-05-08 2023-05-11",
}


def span(sides: str) -> Interval:
    start, end = (None if side == "-" else utc(side, "UTC") for side in sides.split())
    return Interval(start, end)


@pytest.mark.parametrize("phrase", TABLE)
def test_a_phrase_means_the_interval_worked_out_by_hand(phrase: str) -> None:
    assert parse_phrase(phrase, NOW) == span(TABLE[phrase])


AT_THE_YEAR_S_BORDER = {
    ("yesterday", "2024-01-01T00:30Z"): "2023-12-31 2024-01-01",
    ("last month", "2024-01-15T00:00Z"): "2023-12-01 2024-01-01",
    ("last quarter", "2024-02-15T00:00Z"): "2023-10-01 2024-01-01",
    ("last week", "2024-01-03T00:00Z"): "2023-12-25 2024-01-01",
    ("since November", "2024-01-03T00:00Z"): "2023-11-01 -",
    ("31 December", "2024-01-01T00:00Z"): "2023-12-31 2024-01-01",
    ("this winter", "2024-01-15T00:00Z"): "2023-12-01 2024-03-01",
    ("this winter", "2024-11-15T00:00Z"): "2024-12-01 2025-03-01",
    ("winter", "2024-01-15T00:00Z"): "2023-12-01 2024-03-01",
    ("last winter", "2024-01-15T00:00Z"): "2022-12-01 2023-03-01",
    ("last 3 months", "2024-05-31T08:00Z"): "2024-02-29T08:00 2024-05-31T08:00",
    ("a year ago", "2024-02-29T08:00Z"): "2023-01-01 2024-01-01",
    ("past year", "2024-02-29T08:00Z"): "2023-02-28T08:00 2024-02-29T08:00",
    ("29 February", "2023-02-28T08:00Z"): "2020-02-29 2020-03-01",
    ("28 February", "2023-02-28T08:00Z"): "2023-02-28 2023-03-01",
    ("from Friday to Monday", "2024-06-12T08:00Z"): "2024-06-07 2024-06-11",
}


@pytest.mark.parametrize(("phrase", "now"), AT_THE_YEAR_S_BORDER)
def test_borders_of_years_and_leap_days(phrase: str, now: str) -> None:
    assert parse_phrase(phrase, utc(now)) == span(AT_THE_YEAR_S_BORDER[phrase, now])


def test_midnights_are_those_of_the_named_zone() -> None:
    # 22:30 UTC on the 11th is already the 12th in Oslo, still the 11th in New York.
    now = utc("2024-06-11T22:30Z")
    assert parse_phrase("today", now, "Europe/Oslo") == span("2024-06-11T22:00 2024-06-12T22:00")
    assert parse_phrase("today", now, "America/New_York") == span("2024-06-11T04:00 2024-06-12T04:00")
    assert parse_phrase("8 May 2023 at 9am", now, "Europe/Oslo") == span("2023-05-08T07:00 2023-05-08T07:01")
    assert parse_phrase("8 May 2023 at 9am UTC", now, "Europe/Oslo") == span("2023-05-08T09:00 2023-05-08T09:01")


def test_changes_of_clocks_make_days_longer_and_hours_no_different() -> None:
    now = utc("2024-03-31T10:00Z")  # Oslo's clocks went forward at 01:00 UTC
    assert parse_phrase("today", now, "Europe/Oslo") == span("2024-03-30T23:00 2024-03-31T22:00")
    assert parse_phrase("last 24 hours", now, "Europe/Oslo") == span("2024-03-30T10:00 2024-03-31T10:00")
    assert parse_phrase("last 1 days", now, "Europe/Oslo") == span("2024-03-30T11:00 2024-03-31T10:00")
    assert parse_phrase("past hour", utc("2024-03-31T01:10Z"), "Europe/Oslo") == span(
        "2024-03-31T00:10 2024-03-31T01:10"
    )
    assert parse_phrase("an hour ago", utc("2024-10-27T01:30Z"), "Europe/Oslo") == span(
        "2024-10-27T00:00 2024-10-27T01:00"
    )


@pytest.mark.parametrize("phrase", UNDERSTOOD)
def test_every_example_that_is_listed_is_understood(phrase: str) -> None:
    assert parse_phrase(phrase, NOW) == parse_phrase(f"  {phrase.upper()}. ", NOW)


UNKNOWN = """
We may go|second|recently|now|after lunch|for 3 days|between 2 and 5|0 weeks ago|last 0 days|5|the|since|in|32|2024-13
since since March|in since March|in on 3 May|from in May|start 2023
march on|8 May 2023 with Ana|next|weeks before 9 June 2023|летом|2023年
"""


@pytest.mark.parametrize("phrase", ["", " ", "in " * 500, "by to " * 9, *UNKNOWN.strip().replace("\n", "|").split("|")])
def test_an_unknown_phrase_is_an_error_that_lists_what_is_understood(phrase: str) -> None:
    with pytest.raises(TimeError) as caught:
        parse_phrase(phrase, NOW)
    message = str(caught.value)
    assert "isn't understood" in message
    assert all(f"'{example}'" in message for example in UNDERSTOOD)
    assert len(message) < 2_000


@pytest.mark.parametrize(
    ("phrase", "message"),
    [
        ("31 June 2023", "there is no date 2023-06-31"),
        ("31 June", "there is no date 2024-06-31"),
        ("29 February 2023", "there is no date 2023-02-29"),
        ("2023-02-30", "there is no date 2023-02-30"),
        ("0 May", "there is no date"),
        ("05/08/2023", "can be day and month or month and day; write the month's name, or 2023-MM-DD"),
        ("Tuesday 8 May 2023", "2023-05-08 isn't a tuesday; correct the weekday"),
        ("fifth Monday of February 2023", "has no fifth monday"),
        ("from 5 June 2024 to 3 June 2024", "ends before it starts; swap them"),
        ("between 2023 and 2022", "ends before it starts; swap them"),
        ("9999 years ago", "leaves the years 1 to 9999"),
        ("early yesterday", "too short"),
        ("9999", "leaves the years 1 to 9999"),
    ],
)
def test_what_the_calendar_has_not_is_refused_with_the_reason(phrase: str, message: str) -> None:
    with pytest.raises(TimeError, match=message):
        parse_phrase(phrase, NOW)


def test_the_reference_must_be_aware_and_the_zone_known() -> None:
    for function in (parse_phrase, find_phrases):
        with pytest.raises(TimeError, match="now '2024-06-12 00:00:00' doesn't say its time zone"):
            function("today", datetime(2024, 6, 12))
        with pytest.raises(TimeError, match="zone 'Mars' is unknown"):
            function("today", NOW, "Mars")
    with pytest.raises(TimeError, match="of type int; give a str"):
        parse_phrase(2023, NOW)  # type: ignore[arg-type]


FOUND = {
    "What did Ana do in May 2023?": ["in May 2023"],
    "When did we move since last March": ["since last March"],
    "What happened between May and July 2024, and in June 2023?": ["between May and July 2024", "in June 2023"],
    "Which paper did Bo read the week before 9 June 2023?": ["the week before 9 June 2023"],
    "Where was Bo last week, and on 8 June?": ["last week", "on 8 June"],
    "yesterday's meeting": ["yesterday"],
    "meeting at 1:56 pm on 8 May, 2023 with Bo": ["at 1:56 pm on 8 May, 2023"],
    "What has Ana said since March on the boat?": ["since March"],
    "tell me about the last Tuesday of May 2023": ["the last Tuesday of May 2023"],
    "budget for 2023, since 2022": ["for 2023", "since 2022"],
    "the fall of 2008": ["the fall of 2008"],
    "May I ask? May 2023": ["May 2023"],
    "She sat. Last week. May be.": ["Last week"],
    "Sept. 5, 2023 was sunny": ["Sept. 5, 2023"],
    "A fall in March": ["in March"],
    "in march we left": ["in march"],
    "昨日 May 2023 に": ["May 2023"],
    "How many weeks before 9 June 2023 did we go?": ["before 9 June 2023"],
    "Where was he at on July 12, 2022?": ["on July 12, 2022"],
    "What was the plan from in August 2023?": ["in August 2023"],
    "What did he start one year ago?": ["one year ago"],
    "We may go": [],
    "They march on.": [],
    "this may be so": [],
    "Who may 5 people call?": [],
    "Did May like the spring roll?": [],
    "Wait a second": [],
    "How long ago was it?": [],
    "Mr. Sun sat down": [],
    "EXP-1042, v2.3.1, 2023, 3.14": [],
    "finish in 2 weeks, in 1500 steps": [],
    "after the fall": [],
    "from one to three, between 2 and 5": [],
    "on 31 June 2023": [],
    "about 05/08/2023": [],
    "second half of the day": [],
    "": [],
}


@pytest.mark.parametrize("question", FOUND)
def test_phrases_are_found_in_a_question_and_nothing_else_is(question: str) -> None:
    found = find_phrases(question, NOW)
    assert [each.text for each in found] == FOUND[question]
    for each in found:
        assert question[each.start : each.end] == each.text
        assert each.interval == parse_phrase(each.text, NOW)


@given(st.text(max_size=80) | st.lists(st.sampled_from([*TABLE, "may", "and", "(", "x", "10"])).map(" ".join))
@settings(max_examples=60, deadline=None)
def test_no_text_makes_the_search_fail(text: str) -> None:
    ends = [0]
    for each in find_phrases(text, NOW):
        assert text[each.start : each.end] == each.text
        ends += [each.start, each.end]
    assert ends == sorted(ends)


@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)))
@settings(max_examples=60)
def test_a_date_is_the_same_in_every_spelling(moment: datetime) -> None:
    day = moment.date()
    names = f"{day:%d %B %Y}", f"{day:%B} {day.day}, {day.year}", day.isoformat(), f"{day.day}.{day.month}.{day.year}"
    midnight = utc(day, "UTC")
    expected = Interval(midnight, midnight + timedelta(days=1))
    assert [parse_phrase(name, NOW) for name in names] == [expected] * 4


@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)), st.sampled_from(["UTC", "Asia/Tokyo", "Europe/Oslo"]))
@settings(max_examples=60)
def test_now_lies_in_what_is_now_and_before_it_in_what_is_past(moment: datetime, zone: str) -> None:
    now = utc(moment, "UTC")
    for phrase in ("today", "this week", "this month", "this quarter", "this year", "since yesterday"):
        assert now in parse_phrase(phrase, now, zone)
    for phrase in ("yesterday", "last week", "last month", "last year", "3 days ago", "last summer", "last Tuesday"):
        past = parse_phrase(phrase, now, zone)
        assert past.end is not None
        assert past.end <= now
    for phrase in ("May", "7 June", "Q3", "winter", "Tuesday"):
        begun = parse_phrase(phrase, now, zone)
        assert begun.start is not None
        assert begun.start <= now < begun.start + timedelta(days=366 + 93)


def test_a_long_text_takes_no_more_than_its_length() -> None:
    assert find_phrases("they march and may by the in to until " * 300, NOW) == []
