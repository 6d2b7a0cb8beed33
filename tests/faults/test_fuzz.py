"""Anything at all, handed to any verb.

Law: whatever is given, a verb answers or raises one of memlab's own errors (a wrong number of arguments is Python's
TypeError); after an error the store is as it was; what went in comes out equal, also after a reload.
"""

import contextlib
import datetime as dt
import decimal
import inspect
import json
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import METHODS, diary, state

from memlab.encoders import HashEncoder
from memlab.errors import MemlabError
from memlab.records import FIELDS
from memlab.store import MemoryStore

WORDS = (
    *("yesterday", "today", "last", "next", "this", "two", "3", "weeks", "week", "month", "year", "ago", "in", "on"),
    *(
        "May",
        "may",
        "2024",
        "the",
        "of",
        "since",
        "before",
        "between",
        "and",
        "from",
        "to",
        "2024-05-20",
        "5/6",
        "Monday",
    ),
    *(
        "morning",
        "0",
        "-1",
        "99999999999",
        "spring",
        "until",
        "Q3",
        "12:30",
        "now",
        "th",
        "1st",
        "decade",
        "",
        "猫",
        "\ud800",
    ),
)
EVERY_TEXT = st.one_of(
    st.text(max_size=20), st.text(st.characters(), max_size=8), st.sampled_from(strategies.NASTY_TEXTS)
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    EVERY_TEXT,
    st.binary(max_size=4),
    st.sampled_from(
        [
            np.int64(3),
            np.float64("nan"),
            np.bool_(True),
            np.array([1, 2]),
            np.array(["x"]),
            np.array([]),
            pd.NA,
            pd.NaT,
            pd.Timestamp("2024-05-20"),
            pd.DataFrame({"content": ["x"], "n": [1]}),
            pd.Series(["x"]),
            dt.datetime(2024, 5, 20),
            dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-9))),
            dt.date(2024, 5, 20),
            dt.timedelta(1),
            decimal.Decimal("0.5"),
            uuid.UUID(int=1),
            Path("x"),
            object(),
            int,
            len,
            3j,
            range(2),
            2**63,
            10**400,
            -1,
            0,
            "*",
            "default",
            "move",
            "LEADS_TO",
            frozenset({"x"}),
        ]
    ),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(
            st.one_of(EVERY_TEXT, st.integers(), st.sampled_from(["content", "eq", "or", "a"])), inner, max_size=3
        ),
    ),
    max_leaves=5,
)
# What each verb needs to do its work; anything is then put in the place of one argument.
VERBS: dict[str, dict[str, Any]] = {
    "add": {"content": "tea"},
    "add_many": {"items": ["tea"], "progress": False},
    "update": {"memory_id": "move"},
    "update_many": {"items": [{"memory_id": "move"}], "progress": False},
    "delete": {},
    "associate": {"source": "garden", "relation": "RELATES_TO", "target": "move"},
    "associate_many": {"items": [("garden", "RELATES_TO", "move")]},
    "dissociate": {"source": "move", "relation": "LEADS_TO", "target": "garden"},
    "neighbours": {"memory_id": "move"},
    "register_relation": {"name": "CITES"},
    "get": {"memory_id": "move"},
    "select": {},
    "recall": {"query": "Ana"},
    "log": {},
    "history": {"memory_id": "move"},
    "as_of": {"when": 1},
    "diff": {"a": 1},
    "undo": {"change": 1},
    "forget": {"ids": []},
    "faiss_index": {},
    "spaces.create": {"name": "new"},
    "spaces.rename": {"space": "attic", "name": "cellar"},
    "spaces.describe": {"space": "attic"},
    "spaces.delete": {"space": "attic"},
}
FIELD_NAMES = [name for name in FIELDS if name not in ("content", "space", "memory_id")]
OTHERS = {"add": ["memory_id", *FIELD_NAMES], "update": ["content", "space", *FIELD_NAMES], "associate": ["reason"]}


def verb_of(store: MemoryStore, name: str) -> Callable[..., Any]:
    """Find a verb of the store, or of its spaces."""
    found: Any = store
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def arguments(name: str) -> list[str]:
    """The names of a verb's arguments."""
    signature = inspect.signature(verb_of(MemoryStore(encoder=None), name))
    named = [p.name for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    return named + OTHERS.get(name, [])


@pytest.mark.parametrize("name", VERBS)
@settings(max_examples=15)
@given(data=st.data())
def test_a_verb_answers_or_refuses_in_memlabs_words_and_an_error_changes_nothing(
    name: str, data: st.DataObject
) -> None:
    store = diary(encoder=None)
    before = state(store)
    changed = data.draw(st.lists(st.sampled_from(arguments(name)), min_size=1, max_size=2, unique=True))
    given_now = VERBS[name] | {argument: data.draw(ANYTHING, label=argument) for argument in changed}
    if callable(given_now.get("method")) or ("progress" in changed and given_now["progress"]):
        return  # what a caller's own function raises is the caller's; a bar needs a terminal
    try:
        verb_of(store, name)(**given_now)
    except MemlabError as error:
        str(error).encode("utf-8")
        assert state(store) == before
    assert store.check().ok


@settings(max_examples=60)
@given(st.data())
def test_filters_of_any_shape_are_read_or_refused(data: st.DataObject) -> None:
    store = diary(encoder=None)
    words = st.sampled_from(
        ["and", "or", "not", "eq", "ne", "in", "nin", "lt", "exists", "contains", "n", "city", "tags"]
    )
    shapes = st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=2), st.dictionaries(st.one_of(words, EVERY_TEXT), inner, max_size=2)
        ),
        max_leaves=6,
    )
    where = data.draw(st.dictionaries(st.one_of(words, EVERY_TEXT), shapes, min_size=1, max_size=3))
    with contextlib.suppress(MemlabError):
        chosen = store.select(where=where)["memory_id"].tolist()
        assert store.delete(where=where, dry_run=True) == chosen
        assert set(chosen) <= {"move", "garden"}


@settings(max_examples=150)
@given(st.lists(st.sampled_from(WORDS), max_size=7), st.sampled_from(["UTC", "Asia/Tokyo", None]))
def test_any_words_are_a_date_phrase_a_query_or_refused(words: list[str], zone: str | None) -> None:
    store, phrase = DIARY, " ".join(words)
    for call in (lambda: store.select(time=phrase, zone=zone), lambda: store.recall(phrase, zone=zone)):
        with contextlib.suppress(MemlabError):
            call()
    for asked in (since := phrase, "2024-05-20T00:00Z"):
        with contextlib.suppress(MemlabError):
            store.recall("Ana", since=since, until=asked)


DIARY = diary(encoder=None)


@settings(max_examples=60)
@given(
    EVERY_TEXT,
    st.sampled_from(METHODS),
    st.integers(1, 2**70),
    st.floats(0, 1),
    st.sampled_from(["current", "history"]),
)
def test_any_query_is_answered_soundly_or_refused(query: str, method: str, k: int, bound: float, state_: str) -> None:
    with contextlib.suppress(MemlabError):
        answer = HASHED.recall(query, k, method=method, min_relevance=bound, state=state_, space="*")
        assert len({hit.memory_id for hit in answer}) == len(answer) <= 3
        assert all(np.isfinite(hit.score) and bound <= hit.relevance <= 1 for hit in answer)
        repr(answer), answer._repr_html_(), answer.frame


HASHED = diary()


@settings(max_examples=15)
@given(st.lists(strategies.memories(), min_size=1, max_size=4, unique_by=lambda m: m.memory_id))
def test_what_went_in_comes_out_equal_after_a_reload(made: list[Any]) -> None:
    kept = [name for name in FIELDS if name not in ("updated_at", "access_count", "accessed_at")]
    with tempfile.TemporaryDirectory() as folder:
        with MemoryStore.open(f"{folder}/s", encoder=HashEncoder(dimension=8), durability="normal") as store:
            ids = store.add_many(made, on_error="report", progress=False)
        with MemoryStore.open(f"{folder}/s") as store:
            assert store.check().ok
            for memory, told in zip(made, ids, strict=True):
                if isinstance(told, MemlabError):
                    continue
                again = store.get(memory.memory_id)
                assert all(getattr(again, name) == getattr(memory, name) for name in kept)
                # As text, since True, 1 and 1.0 are equal in Python.
                assert json.dumps(again.metadata) == json.dumps(memory.metadata)


@settings(max_examples=60)
@given(ANYTHING, ANYTHING)
def test_metadata_of_anything_is_kept_exactly_or_refused(one: object, other: object) -> None:
    store = MemoryStore(encoder=None)
    with contextlib.suppress(MemlabError):
        made = store.add("tea", metadata={"v": one})
        first = json.dumps(store.get(made).metadata, allow_nan=False)
        before = state(store)
        try:
            store.update(made, metadata={"w": other})
        except MemlabError:
            assert state(store) == before
        else:
            store.update(made, metadata={"w": None})
            assert json.dumps(store.get(made).metadata, allow_nan=False) == first
