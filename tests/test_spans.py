"""The calendar: units, shifts, and the changes of clocks."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.errors import TimeError
from memlab.spans import Clock, Unit, begin, day_of, months, shift, thirds, unit_of
from memlab.times import Interval, utc, zone_of

OSLO = Clock(utc("2024-06-12T10:30Z"), zone_of("Europe/Oslo"))
PLAIN = Clock(utc("2024-06-12T10:30Z"), UTC)
UNITS: list[Unit] = ["day", "week", "month", "quarter", "year", "decade"]


@pytest.mark.parametrize(
    ("unit", "first", "after"),
    [
        ("day", date(2024, 2, 29), date(2024, 3, 1)),
        ("week", date(2024, 2, 26), date(2024, 3, 4)),
        ("month", date(2024, 2, 1), date(2024, 3, 1)),
        ("quarter", date(2024, 1, 1), date(2024, 4, 1)),
        ("year", date(2024, 1, 1), date(2025, 1, 1)),
        ("decade", date(2020, 1, 1), date(2030, 1, 1)),
    ],
)
def test_a_leap_day_lies_in_these_units(unit: Unit, first: date, after: date) -> None:
    assert unit_of(PLAIN, date(2024, 2, 29), unit) == PLAIN.days(first, after)


@given(st.dates(date(20, 1, 1), date(9980, 1, 1)), st.sampled_from(UNITS))
def test_a_unit_holds_its_date_and_the_next_begins_where_it_ends(day: date, unit: Unit) -> None:
    first = begin(day, unit)
    after = shift(first, 1, unit)
    assert first <= day < after
    assert begin(after, unit) == after
    assert begin(after - timedelta(days=1), unit) == first


@pytest.mark.parametrize(
    ("day", "count", "unit", "expected"),
    [
        (date(2024, 3, 31), -1, "month", date(2024, 2, 29)),
        (date(2023, 1, 31), 1, "month", date(2023, 2, 28)),
        (date(2024, 2, 29), 1, "year", date(2025, 2, 28)),
        (date(2023, 12, 31), 1, "day", date(2024, 1, 1)),
        (date(2024, 1, 15), -1, "month", date(2023, 12, 15)),
        (date(2024, 11, 30), 1, "quarter", date(2025, 2, 28)),
    ],
)
def test_a_shift_keeps_the_day_or_takes_the_month_s_last(day: date, count: int, unit: Unit, expected: date) -> None:
    assert shift(day, count, unit) == expected


@pytest.mark.parametrize(("count", "unit"), [(9999, "year"), (-9999, "month"), (10**7, "day"), (10**12, "week")])
def test_a_shift_out_of_the_calendar_is_refused(count: int, unit: Unit) -> None:
    with pytest.raises(TimeError, match="leaves the years 1 to 9999"):
        shift(date(400, 1, 1), count, unit)


def test_days_on_which_clocks_change_have_23_and_25_hours() -> None:
    for day, hours in ((date(2024, 3, 31), 23), (date(2024, 10, 27), 25), (date(2024, 5, 1), 24)):
        span = unit_of(OSLO, day, "day")
        assert span.start is not None
        assert span.end is not None
        assert span.end - span.start == timedelta(hours=hours)
        assert OSLO.date_of(span.start) == day


def test_a_day_without_midnight_begins_after_the_gap() -> None:
    # Beirut, 31 March 2024: 00:00 became 01:00.
    clock = Clock(OSLO.now, zone_of("Asia/Beirut"))
    span = unit_of(clock, date(2024, 3, 31), "day")
    assert span == Interval(utc("2024-03-30T22:00Z"), utc("2024-03-31T21:00Z"))


def test_going_back_by_days_keeps_the_local_time_and_by_hours_does_not() -> None:
    clock = Clock(utc("2024-03-31T10:00Z"), zone_of("Europe/Oslo"))
    assert clock.back(1, "day") == utc("2024-03-30T11:00Z")
    assert clock.elapsed(24 * 60) == utc("2024-03-30T10:00Z")
    with pytest.raises(TimeError, match="leaves the years"):
        clock.elapsed(10**12)


def test_months_run_over_the_year_s_end() -> None:
    assert months(PLAIN, 2023, 12, 3) == PLAIN.days(date(2023, 12, 1), date(2024, 3, 1))
    with pytest.raises(TimeError):
        months(PLAIN, 9999, 12)


def test_a_date_that_never_was_is_refused() -> None:
    with pytest.raises(TimeError, match="there is no date 2023-02-29"):
        day_of(2023, 2, 29)


@pytest.mark.parametrize(
    ("first", "after", "edges"),
    [
        (date(2024, 5, 1), date(2024, 6, 1), [date(2024, 5, 11), date(2024, 5, 21)]),
        (date(2024, 2, 1), date(2024, 3, 1), [date(2024, 2, 10), date(2024, 2, 20)]),
        (date(2024, 1, 1), date(2025, 1, 1), [date(2024, 5, 1), date(2024, 9, 1)]),
        (date(2024, 6, 3), date(2024, 6, 10), [date(2024, 6, 5), date(2024, 6, 7)]),
    ],
)
def test_thirds_join_to_the_whole(first: date, after: date, edges: list[date]) -> None:
    parts = [thirds(PLAIN, PLAIN.days(first, after), which) for which in range(3)]
    assert [(part.start, part.end) for part in parts] == [
        (PLAIN.at(one), PLAIN.at(other)) for one, other in zip([first, *edges], [*edges, after], strict=True)
    ]


def test_a_span_that_has_no_thirds_is_refused() -> None:
    with pytest.raises(TimeError, match="too short"):
        thirds(PLAIN, unit_of(PLAIN, date(2024, 5, 1), "day"), 0)
    with pytest.raises(TimeError, match="has no third"):
        thirds(PLAIN, Interval(None, datetime(2024, 1, 1, tzinfo=UTC)), 0)
