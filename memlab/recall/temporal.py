"""The temporal channel: how near a memory's event time lies to the dates that a query names.

A query such as "what did Ana do in May 2024?" names the interval [1 May, 1 June). A memory inside it scores 1; one
outside scores

    exp(-distance / scale),    scale = the interval's length, at least one day and at most 90 days

so that "on 7 May" forgives a day and "in 2023" a season. What would score below 1/1000, seven scales away, is no
evidence. Of several dates the nearest counts. An open interval
("since March") has the longest scale. A query that names no date leaves the channel silent.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memlab.times import Interval, to_micros

DAY = 86_400_000_000  # microseconds
SHORTEST, LONGEST = DAY, 90 * DAY
LEAST = 1e-3
_FAR = np.iinfo(np.int64).max // 4


def closeness(event_times: npt.NDArray[np.int64], intervals: Sequence[Interval]) -> npt.NDArray[np.float64]:
    """Score event times by their nearness to intervals.

    Parameters
    ----------
    event_times : ndarray of int64, shape (n,)
        Microseconds since 1970 in UTC.
    intervals : sequence of Interval
        The dates asked for.

    Returns
    -------
    ndarray of float64, shape (n,)
        In [0.001, 1]; NaN where it is too far away, and everywhere where there is no interval.
    """
    if not intervals:
        return np.full(len(event_times), np.nan)
    nearest: npt.NDArray[np.float64] = np.max([_one(event_times, interval) for interval in intervals], axis=0)
    nearest[nearest < LEAST] = np.nan
    return nearest


def _one(event_times: npt.NDArray[np.int64], interval: Interval) -> npt.NDArray[np.float64]:
    start = -_FAR if interval.start is None else to_micros(interval.start)
    end = _FAR if interval.end is None else to_micros(interval.end)
    scale = min(max(end - start, SHORTEST), LONGEST)
    distance = np.maximum(np.maximum(start - event_times, event_times - (end - 1)), 0)
    return np.exp(-distance / scale)
