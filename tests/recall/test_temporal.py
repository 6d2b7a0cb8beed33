"""The temporal channel: nearness to the dates that a query names."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles_recall import plain_closeness

from memlab.recall.temporal import closeness
from memlab.times import Interval, from_micros, to_micros

DAY = timedelta(days=1)
MAY = Interval(datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC))
FRIDAY = Interval(datetime(2024, 5, 3, tzinfo=UTC), datetime(2024, 5, 4, tzinfo=UTC))


def close(moments, *intervals):
    """Closeness of moments, as plain numbers."""
    return closeness(np.array([to_micros(m) for m in moments], dtype=np.int64), intervals).tolist()


def test_what_lies_inside_scores_one_up_to_the_last_microsecond():
    inside = [MAY.start, MAY.end - timedelta(microseconds=1), datetime(2024, 5, 20, tzinfo=UTC)]
    assert close(inside, MAY) == [1.0, 1.0, 1.0]


def test_outside_it_falls_with_the_distance_over_the_length():
    month = 31 * DAY
    found = close([MAY.start - 10 * DAY, MAY.end + 10 * DAY, MAY.start - month], MAY)
    assert found == pytest.approx([math.exp(-10 / 31), math.exp(-10 / 31), math.exp(-1)], abs=1e-9)


def test_a_day_forgives_a_day_and_a_minute_too():
    minute = Interval(FRIDAY.start, FRIDAY.start + timedelta(minutes=1))
    assert close([FRIDAY.start - DAY], FRIDAY) == pytest.approx([math.exp(-1)])
    assert close([FRIDAY.start - DAY], minute) == pytest.approx([math.exp(-1)])


def test_a_century_forgives_no_more_than_a_season():
    century = Interval(datetime(1900, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC))
    assert close([century.end + 90 * DAY], century) == pytest.approx([math.exp(-1)])


def test_of_several_dates_the_nearest_counts():
    other = Interval(datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 1, 2, tzinfo=UTC))
    assert close([other.start, FRIDAY.end - timedelta(microseconds=1) + DAY], FRIDAY, other) == pytest.approx(
        [1.0, math.exp(-1)]
    )


def test_an_open_interval_has_one_side():
    since, before = Interval(MAY.start, None), Interval(None, MAY.start)
    later, earlier = datetime(9000, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)
    assert close([later, MAY.start - 90 * DAY], since) == pytest.approx([1.0, math.exp(-1)])
    assert close([earlier, MAY.start], before) == pytest.approx([1.0, 1.0], abs=1e-9)
    assert close([earlier, later], Interval(None, None)) == [1.0, 1.0]


def test_what_is_too_far_away_is_no_evidence():
    near, far = close([FRIDAY.start - 6 * DAY, FRIDAY.start - 7 * DAY], FRIDAY)
    assert near == pytest.approx(math.exp(-6))
    assert math.isnan(far)


def test_without_a_date_the_channel_is_silent():
    assert np.isnan(close([MAY.start, FRIDAY.start])).all()
    assert close([]) == []
    assert close([], MAY) == []


TIMES = st.integers(-(6 * 10**16), 6 * 10**16)


@given(TIMES, st.lists(st.tuples(st.none() | TIMES, st.none() | st.integers(0, 10**16)), min_size=1, max_size=4))
def test_closeness_agrees_with_its_slow_twin(moment, spans):
    plain = [(start, None if length is None else (start or 0) + length) for start, length in spans]
    intervals = [Interval(*(None if side is None else from_micros(side) for side in span)) for span in plain]
    (found,) = closeness(np.array([moment]), intervals)
    expected = plain_closeness(moment, plain)
    assert found == pytest.approx(expected) if expected is not None else math.isnan(found)
