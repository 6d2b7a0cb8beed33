"""Kind I: dates and zones.

Law: one clock, aware UTC inside, to the microsecond. A time without a zone is refused, with a message that says how to
give one, unless the store or the call names the zone; the machine's own zone never counts. Every verb reads a time in
the same way, and all times of the table are of one type.
"""

import datetime as dt
import os
import time
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from worlds import diary, found, state

from memlab.errors import FilterError, MemlabError, TimeError
from memlab.store import MemoryStore

ZONES = ("UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu")
NOON = dt.datetime(2024, 5, 20, 12, tzinfo=dt.UTC)
SAME = {
    "ISO with Z": "2024-05-20T12:00:00Z",
    "ISO with offset": "2024-05-20T14:00+02:00",
    "ISO of a far offset": "2024-05-21T02:00+14:00",
    "ISO with a blank": " 2024-05-20 12:00+00:00 ",
    "zone of Python": dt.datetime(2024, 5, 20, 21, tzinfo=ZoneInfo("Asia/Tokyo")),
    "offset of minutes": dt.datetime(2024, 5, 20, 17, 45, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45))),
    "Timestamp": pd.Timestamp("2024-05-20 12:00", tz="UTC"),
    "Timestamp in ns": pd.Timestamp("2024-05-20 08:00:00.000000999", tz="America/New_York"),
}
NAIVE = {
    "I04 datetime": dt.datetime(2024, 5, 20, 12),
    "text": "2024-05-20T12:00",
    "date": dt.date(2024, 5, 20),
    "text of a date": "2024-05-20",
    "Timestamp": pd.Timestamp("2024-05-20"),
    "datetime64": np.datetime64("2024-05-20T12:00"),
}
NO_TIMES = {
    "seconds": 1_700_000_000,
    "float": 1.5e9,
    "NaN": float("nan"),
    "NaT": pd.NaT,
    "NaT of numpy": np.datetime64("NaT"),
    "NA": pd.NA,
    "bool": True,
    "phrase": "yesterday",
    "no day": "2024-02-30T00:00Z",
    "hour 25": "2024-05-20T25:00Z",
    "before year 1": dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=14))),
    "after year 9999": dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-1))),
    "time of day": dt.time(12, tzinfo=dt.UTC),
    "span": dt.timedelta(1),
    "list": ["2024-05-20T12:00Z"],
}
VERBS = {
    "happened_at": lambda s, t: s.add("x", happened_at=t),
    "created_at": lambda s, t: s.add("x", created_at=t),
    "valid_from": lambda s, t: s.add("x", valid_from=t),
    "valid_until": lambda s, t: s.add("x", valid_until=t),
    "an item": lambda s, t: s.add_many([{"content": "x", "happened_at": t}], progress=False),
    "update": lambda s, t: s.update("move", happened_at=t),
    "update until": lambda s, t: s.update("move", valid_until=t),
    "select since": lambda s, t: s.select(since=t),
    "select until": lambda s, t: s.select(until=t),
    "select at": lambda s, t: s.select(state="current", at=t),
    "select now": lambda s, t: s.select(time="last week", now=t),
    "recall since": lambda s, t: s.recall("Ana", since=t),
    "recall at": lambda s, t: s.recall("Ana", at=t),
    "recall now": lambda s, t: s.recall("Ana", now=t),
    "where": lambda s, t: s.select(where={"happened_at": {"ge": t}}),
    "as_of": lambda s, t: s.as_of(t),
    "diff": lambda s, t: s.diff(t),
    "log": lambda s, t: s.log(since=t),
    "undo": lambda s, t: s.undo(since=t),
}
NUMBERS_TOO = {"as_of", "diff", "log", "undo"}  # there a whole number is a place in the log


@pytest.fixture
def machine_zone() -> Iterator[object]:
    """Set the machine's zone for one test."""
    before = os.environ.get("TZ")

    def change(zone: str) -> None:
        os.environ["TZ"] = zone
        time.tzset()

    yield change
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.mark.parametrize("zone", ZONES)
def test_i01_the_clock_is_right_in_any_zone(machine_zone: object, zone: str) -> None:
    machine_zone(zone)  # type: ignore[operator]
    store = MemoryStore(encoder=None)
    memory = store.get(store.add("tea"))
    assert abs(memory.created_at.timestamp() - time.time()) < 1
    assert memory.created_at.tzinfo is dt.UTC
    assert abs(store.log()["time"].iloc[-1].timestamp() - time.time()) < 1


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("method", ["lexical", "default"])
def test_i02_select_and_recall_read_a_bound_alike(machine_zone: object, zone: str, method: str) -> None:
    store = MemoryStore(encoder=None)
    ids = [store.add(f"tea {i}", happened_at=NOON + dt.timedelta(hours=i)) for i in range(24)]
    machine_zone(zone)  # type: ignore[operator]
    for since in (
        NOON + dt.timedelta(hours=5),
        "2024-05-20T17:00Z",
        NOON.astimezone(ZoneInfo(zone)) + dt.timedelta(hours=5),
    ):
        assert store.select(since=since)["memory_id"].tolist() == ids[5:]
        assert sorted(found(store, "tea", k=99, since=since, method=method)) == sorted(ids[5:])


@pytest.mark.parametrize("given", SAME.values(), ids=SAME)
def test_every_way_to_say_an_instant_is_one_instant(given: object) -> None:
    store = diary(encoder=None)
    memory = store.get(store.add("x", happened_at=given))
    assert memory.happened_at == NOON and memory.happened_at.tzinfo is dt.UTC
    assert store.select(where={"happened_at": given})["memory_id"].tolist() == [memory.memory_id]


@pytest.mark.parametrize("value", NAIVE.values(), ids=NAIVE)
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_time_without_a_zone_is_refused_in_words(verb: object, value: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises((TimeError, FilterError), match="time zone; add one"):
        verb(store, value)  # type: ignore[operator]
    assert state(store) == before


@pytest.mark.parametrize("value", NO_TIMES.values(), ids=NO_TIMES)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_time_is_refused(verb: str, value: object) -> None:
    if verb in NUMBERS_TOO and type(value) is int:
        return
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(MemlabError):
        VERBS[verb](store, value)
    assert state(store) == before


@pytest.mark.parametrize("value", NAIVE.values(), ids=NAIVE)
def test_a_named_zone_is_the_one_in_which_it_is_read(machine_zone: object, value: object) -> None:
    machine_zone("America/New_York")  # type: ignore[operator]
    hour = 0 if "12" not in str(value) else 12
    wanted = dt.datetime(2024, 5, 20, hour, tzinfo=ZoneInfo("Asia/Tokyo"))
    store = MemoryStore(encoder=None, zone="Asia/Tokyo")
    assert store.get(store.add("x", happened_at=value)).happened_at == wanted
    other = MemoryStore(encoder=None)
    assert other.get(other.add("x", happened_at=value, zone="Asia/Tokyo")).happened_at == wanted


@pytest.mark.parametrize("zone", ["", "Atlantis", "../etc/passwd", "Europe", 1, b"UTC", "\ud800"], ids=repr)
def test_an_unknown_zone_is_refused(zone: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    for call in (
        lambda: store.add("x", zone=zone),
        lambda: store.add("x", happened_at="2024-05-20", zone=zone),
        lambda: store.update("move", zone=zone, happened_at="2024-05-20"),
        lambda: store.recall("x", zone=zone),
        lambda: MemoryStore(encoder=None, zone=zone),
    ):
        with pytest.raises(MemlabError):
            call()
    assert state(store) == before


def test_hours_that_come_twice_or_never_have_one_rule() -> None:
    store = MemoryStore(encoder=None, zone="Europe/Oslo")
    twice, never = store.add_many(
        [{"content": "x", "happened_at": "2024-10-27T02:30"}, {"content": "y", "happened_at": "2024-03-31T02:30"}],
        progress=False,
    )
    assert store.get(twice).happened_at == dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.UTC)
    assert store.get(never).happened_at == dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize("year", [1, 1000, 1677, 1970, 2038, 2262, 9999])
def test_far_dates_are_kept_filtered_and_shown(year: int) -> None:
    store = MemoryStore(encoder=None)
    moment = dt.datetime(year, 7, 1, 0, 0, 0, 1, tzinfo=dt.UTC)
    made = store.add("tea", happened_at=moment)
    assert store.get(made).happened_at == moment
    assert store.memories["happened_at"].iloc[0].to_pydatetime() == moment
    assert store.select(since=moment, until=moment + dt.timedelta(microseconds=1))["memory_id"].tolist() == [made]
    assert found(store, "tea") == [made]


def test_i06_all_times_of_the_table_are_of_one_type() -> None:
    store = MemoryStore(encoder=None, zone="UTC")
    store.add_many([{"content": "x", "happened_at": t} for t in [*SAME.values(), *NAIVE.values()]], progress=False)
    times = store.memories.select_dtypes("datetimetz")
    assert set(map(str, times.dtypes)) == {"datetime64[us, UTC]"}
    assert len(store.select(since=NOON)) == len([t for t in NAIVE.values() if "12" in str(t)]) + len(SAME)


def test_at_beside_history_is_refused_not_ignored() -> None:
    store = diary(encoder=None)
    for call in (lambda: store.select(at=NOON), lambda: store.recall("Ana", state="history", at=NOON)):
        with pytest.raises(ValueError, match="leave one out"):
            call()
