"""Instants: one clock, aware UTC, exact to the microsecond."""

import os
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.errors import TimeError
from memlab.times import Interval, from_micros, now, to_micros, utc, zone_of

AWARE = st.datetimes(
    datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.timezones() | st.just(UTC), allow_imaginary=False
)
LEAST, MOST = to_micros(datetime(1, 1, 1, tzinfo=UTC)), to_micros(datetime.max.replace(tzinfo=UTC))

NINE_IN_PORTO = datetime(2024, 5, 20, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-20T09:00+01:00",
        "2024-05-20T08:00Z",
        "2024-05-20 08:00:00.000000+00:00",
        " 20240520T080000Z\n",
        datetime(2024, 5, 20, 9, 0, tzinfo=timezone(timedelta(hours=1))),
        datetime(2024, 5, 20, 9, 0, tzinfo=zone_of("Europe/Lisbon")),
        pd.Timestamp("2024-05-20 17:00", tz="Asia/Tokyo"),
    ],
)
def test_every_way_to_say_an_instant_gives_the_same_utc(value: object) -> None:
    found = utc(value)
    assert found == NINE_IN_PORTO
    assert found.tzinfo is UTC
    assert type(found) is datetime


@pytest.mark.parametrize(
    "value",
    [
        datetime(2024, 5, 20, 9, 0),
        "2024-05-20T09:00",
        pd.Timestamp("2024-05-20 09:00"),
        np.datetime64("2024-05-20T09:00"),
    ],
)
def test_a_naive_time_is_refused_or_read_in_the_named_zone(value: object) -> None:
    with pytest.raises(
        TimeError, match=r"happened_at '2024-05-20.*' doesn't say its time zone; add one, as in .*zone="
    ):
        utc(value, what="happened_at")
    assert utc(value, zone="Europe/Lisbon") == NINE_IN_PORTO
    assert utc(value, zone=timezone(timedelta(hours=1))) == NINE_IN_PORTO


@pytest.mark.parametrize("value", [date(2024, 5, 20), "2024-05-20", "20240520"])
def test_a_date_is_the_midnight_that_begins_it_in_the_named_zone(value: object) -> None:
    with pytest.raises(TimeError, match="doesn't say its time zone"):
        utc(value)
    assert utc(value, zone="Europe/Oslo") == datetime(2024, 5, 19, 22, 0, tzinfo=UTC)


def test_a_time_that_says_its_zone_keeps_it() -> None:
    assert utc("2024-05-20T09:00+01:00", zone="Asia/Tokyo") == NINE_IN_PORTO


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        # Oslo, 31 March 2024: 02:00 became 03:00. Oslo, 27 October 2024: 03:00 became 02:00.
        (datetime(2024, 3, 31, 2, 30), "2024-03-31T01:30Z"),
        (datetime(2024, 3, 31, 3, 30), "2024-03-31T01:30Z"),
        (datetime(2024, 10, 27, 2, 30), "2024-10-27T00:30Z"),
        (datetime(2024, 10, 27, 2, 30, fold=1), "2024-10-27T01:30Z"),
    ],
)
def test_local_times_at_a_change_of_clocks_follow_the_written_rule(local: datetime, expected: str) -> None:
    assert utc(local, zone="Europe/Oslo") == utc(expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "is of type int; give datetime.fromtimestamp"),
        (1.5, "is of type float; give datetime.fromtimestamp"),
        (True, "is of type bool"),
        (None, "is of type NoneType; give an aware datetime"),
        (time.gmtime(), "is of type struct_time"),
        (pd.NaT, "is NaT, a missing time"),
        (np.datetime64("NaT"), "is NaT, a missing time"),
        ("yesterday", "'yesterday' isn't an ISO 8601 time; write it like '2024-05-20T09:00"),
        ("", "isn't an ISO 8601 time"),
        ("2024-02-30T00:00Z", "isn't an ISO 8601 time"),
        ("1716192000", "isn't an ISO 8601 time"),
        ("9999-12-31T23:59-05:00", "leaves the years 1 to 9999"),
        ("0001-01-01T00:00+01:00", "leaves the years 1 to 9999"),
    ],
)
def test_what_is_no_instant_is_refused_by_name(value: object, message: str) -> None:
    with pytest.raises(TimeError, match=message):
        utc(value)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "Europe", "europe oslo", 5])
def test_an_unknown_zone_is_refused(zone: Any) -> None:
    with pytest.raises(TimeError, match="zone"):
        utc("2024-05-20", zone=zone)


def test_what_lies_below_a_microsecond_is_cut_off() -> None:
    assert utc(pd.Timestamp("2024-05-20T08:00:00.000000999Z")) == NINE_IN_PORTO


@given(AWARE)
def test_an_instant_survives_text_and_microseconds(moment: datetime) -> None:
    found = utc(moment)
    assert found == moment
    assert utc(found.isoformat()) == found
    assert from_micros(to_micros(moment)) == found
    assert pd.Timestamp(found).to_pydatetime() == found


@given(st.integers(LEAST, MOST))
def test_microseconds_survive_exactly(micros: int) -> None:
    assert to_micros(from_micros(micros)) == micros
    assert to_micros(from_micros(np.int64(micros))) == micros


def test_microseconds_are_counted_from_1970() -> None:
    assert to_micros(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC)) == 1_000_005
    assert to_micros(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1
    for micros in (LEAST - 1, MOST + 1, 2**63):
        with pytest.raises(TimeError, match="leaves the years 1 to 9999"):
            from_micros(micros)
    with pytest.raises(TypeError):
        from_micros(1.0)  # type: ignore[arg-type]
    with pytest.raises(TimeError, match="doesn't say its time zone"):
        to_micros(datetime(2024, 1, 1))


def test_an_interval_holds_its_start_and_not_its_end() -> None:
    first, last = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)
    may = Interval(first, last)
    tick = timedelta(microseconds=1)
    assert [moment in may for moment in (first - tick, first, last - tick, last)] == [False, True, True, False]
    assert first - tick in Interval(None, last)
    assert last in Interval(first, None)
    assert first in Interval(None, None)
    assert first not in Interval(first, first)
    assert Interval(first.astimezone(zone_of("Asia/Tokyo")), last) == may
    assert str(Interval(first, None)) == "[2024-05-01T00:00:00+00:00, …)"


def test_an_interval_with_a_naive_or_a_wrong_end_is_refused() -> None:
    first, last = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)
    with pytest.raises(TimeError, match=r"ends at 2024-05-01 .*; swap them"):
        Interval(last, first)
    with pytest.raises(TimeError, match="end '2024-06-01 00:00:00' doesn't say its time zone"):
        Interval(first, datetime(2024, 6, 1))


CODE = """
import time
from memlab.phrases import parse_phrase
from memlab.times import now, to_micros, utc
assert abs(to_micros(now()) / 1e6 - time.time()) < 1
print(utc("2024-05-20", zone="Europe/Oslo"), parse_phrase("yesterday", utc("2024-01-01T00:30Z")))
"""


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_machine_s_zone_plays_no_part(zone: str) -> None:
    environment = {**os.environ, "TZ": zone}
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=60, env=environment
    )
    day = "[2023-12-31T00:00:00+00:00, 2024-01-01T00:00:00+00:00)"
    assert done.stdout.strip() == f"2024-05-19 22:00:00+00:00 {day}"


def test_now_is_aware() -> None:
    assert now().tzinfo is UTC
