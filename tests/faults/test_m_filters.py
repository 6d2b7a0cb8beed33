"""Kind M: what filters mean.

Law: filters cut before the k best are taken. A memory without the key fits ``ne``, ``nin`` and ``exists: False``,
and nothing else. What can't be read (an unknown operator, an operand of the wrong kind, an empty condition) is an
error: it never matches all, and never silently none. A query is plain words: no sign in it is an operator.
"""

import datetime as dt

import numpy as np
import pytest
from worlds import METHODS, diary, found, state

from memlab.encoders import HashEncoder
from memlab.errors import FilterError, MemlabError
from memlab.store import MemoryStore

ROWS = ({"a": 1}, {"a": 2}, {}, {"a": None}, {"a": "x"}, {"a": True}, {"a": [1, "x"]}, {"a": {"b": 1}}, {"or": 1})
ASKED = {
    "eq": ({"a": 1}, [0]),
    "eq of a float": ({"a": 1.0}, [0]),
    "eq of numpy": ({"a": np.int64(1)}, [0]),
    "True isn't 1": ({"a": True}, [5]),
    "M06 ne": ({"a": {"ne": 1}}, [1, 2, 3, 4, 5, 6, 7, 8]),
    "M05 nin": ({"a": {"nin": ["x"]}}, [0, 1, 2, 3, 5, 6, 7, 8]),
    "in": ({"a": {"in": [1, "x"]}}, [0, 4]),
    "in nothing": ({"a": {"in": []}}, []),
    "nin nothing": ({"a": {"nin": []}}, list(range(9))),
    "lt": ({"a": {"lt": 2}}, [0]),
    "ge of texts": ({"a": {"ge": "a"}}, [4]),
    "between": ({"a": {"ge": 1, "lt": 3}}, [0, 1]),
    "contains in a list": ({"a": {"contains": "x"}}, [4, 6]),
    "exists": ({"a": {"exists": True}}, [0, 1, 4, 5, 6, 7]),
    "exists not": ({"a": {"exists": False}}, [2, 3, 8]),
    "path": ({"a.b": 1}, [7]),
    "an object": ({"a": {"eq": {"b": 1}}}, [7]),
    "M08 or": ({"or": [{"a": 1}, {"a": "x"}]}, [0, 4]),
    "and": ({"and": [{"a": {"ge": 1}}, {"a": {"lt": 2}}]}, [0]),
    "not": ({"not": {"a": 1}}, [1, 2, 3, 4, 5, 6, 7, 8]),
    "not ne": ({"not": {"a": {"ne": 1}}}, [0]),
    "a key spelt like a word": ({"metadata.or": 1}, [8]),
}
REFUSED = {
    "empty": {},
    "None": {"a": None},
    "list for a dict": [{"a": 1}],
    "text": "a = 1",
    "unknown operator": {"a": {"like": "x"}},
    "operator of others": {"a": {"$ne": 1}},
    "word of others": {"$or": [{"a": 1}]},
    "word in capitals": {"OR": [{"a": 1}]},
    "empty condition": {"a": {}},
    "empty or": {"or": []},
    "or of an empty one": {"or": [{"a": 1}, {}]},
    "or of no list": {"or": {"a": 1}},
    "not of a list": {"not": [{"a": 1}]},
    "in of a text": {"a": {"in": "xyz"}},
    "in of a mapping": {"a": {"in": {"x": 1}}},
    "in holding None": {"a": {"in": [None]}},
    "lt None": {"a": {"lt": None}},
    "lt True": {"a": {"lt": True}},
    "lt list": {"a": {"lt": [1]}},
    "exists of a word": {"a": {"exists": "no"}},
    "NaN": {"a": float("nan")},
    "infinity": {"a": {"lt": float("inf")}},
    "set": {"a": {1}},
    "bytes": {"a": b"x"},
    "array": {"a": np.array([1])},
    "huge integer": {"a": 10**5000},
    "datetime of a key": {"a": dt.datetime(2024, 1, 1, tzinfo=dt.UTC)},
    "key that is no text": {1: 1},
    "empty key": {"": 1},
    "empty part": {"a..b": 1},
    "part of a field": {"type.x": 1},
    "a time without a zone": {"created_at": {"lt": "2024-05-20T00:00"}},
    "a time that is none": {"happened_at": 5},
    "eq of tags": {"tags": "x"},
    "telemetry": {"access_count": {"ge": 1}},
}
VERBS = {
    "select": lambda s, w: s.select(where=w),
    "delete": lambda s, w: s.delete(where=w),
    **{f"recall {m}": lambda s, w, m=m: s.recall("x", where=w, method=m) for m in METHODS},
}
QUERIES = {
    "M10 slash": "a/b",
    "M10 operators": 'x AND (y* OR "z)',
    "M11 hyphen": "follow-up",
    "M12 apostrophe": "don't",
    "unbalanced": '(((" [{',
    "near": "x NEAR/3 y",
    "column": "content:tea title:*",
    "caret and tilde": "tea^2 rain~1 -cake +milk !salt",
    "SQL": "'; DROP TABLE memory; --",
    "regular expression": "(a+)+$ [^x] \\d{1,99999}",
    "wildcards": "* ? % _",
    "template": "{0} %s {{x}} ${y}",
    "markup": "<script>alert(1)</script>",
    "signs alone": "?!… — ::",
}


@pytest.fixture
def rows() -> MemoryStore:
    """One memory for each of ROWS."""
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    items = [{"content": f"x row {i}", "memory_id": str(i), "metadata": m} for i, m in enumerate(ROWS)]
    store.add_many(items, progress=False)
    return store


@pytest.mark.parametrize(("where", "wanted"), ASKED.values(), ids=ASKED)
def test_a_filter_means_the_same_in_every_verb(rows: MemoryStore, where: dict[str, object], wanted: list[int]) -> None:
    ids = [str(i) for i in wanted]
    assert rows.select(where=where)["memory_id"].tolist() == ids
    for method in METHODS:
        assert sorted(found(rows, "x row", k=99, where=where, method=method)) == ids
    assert rows.delete(where=where, dry_run=True) == ids
    assert rows.delete(where=where) == ids and len(rows) == len(ROWS) - len(ids)


@pytest.mark.parametrize("where", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_what_cannot_be_read_is_an_error(rows: MemoryStore, verb: object, where: object) -> None:
    before = state(rows)
    with pytest.raises(FilterError):
        verb(rows, where)  # type: ignore[operator]
    assert state(rows) == before


def test_a_filter_nested_without_end_is_an_error(rows: MemoryStore) -> None:
    loop: dict[str, object] = {}
    loop["not"] = loop
    with pytest.raises(FilterError, match="nested"):
        rows.select(where=loop)


@pytest.mark.parametrize(
    "given",
    [
        {"tags": 5},
        {"tags": {"a": 1}},
        {"tags": [None]},
        {"tags": ""},
        {"exclude_tags": b"x"},
        {"tag_mode": "some", "tags": "x"},
        {"tag_match": ["exact"]},
        {"since": "2024-05-21T00:00Z", "until": "2024-05-20T00:00Z"},
        {"since": "2024-05-21T00:00Z", "until": "2024-05-21T00:00Z"},
        {"time": "flurbday"},
        {"time": 5},
        {"time": "last week", "since": "2024-05-21T00:00Z"},
        {"state": "now"},
    ],
    ids=repr,
)
def test_other_bounds_are_checked_alike(rows: MemoryStore, given: dict[str, object]) -> None:
    for call in (lambda: rows.select(**given), lambda: rows.recall("x", **given)):  # type: ignore[arg-type]
        with pytest.raises(MemlabError):
            call()


@pytest.mark.parametrize("method", METHODS)
def test_filters_cut_before_the_best_are_taken(method: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=32))
    items = [{"content": f"tea tea tea {i}", "metadata": {"keep": False}} for i in range(200)]
    items += [{"content": f"some tea with milk and much else {i}", "metadata": {"keep": True}} for i in range(10)]
    ids = store.add_many(items, progress=False)
    assert sorted(found(store, "tea", k=10, where={"keep": True}, method=method)) == sorted(ids[200:])


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("method", METHODS)
def test_a_query_is_plain_words(query: str, method: str) -> None:
    store = diary()
    made = store.add(f"we said {query} once")
    hits = found(store, query, method=method)
    assert made in hits or not any(map(str.isalnum, query))


@pytest.mark.parametrize("unwanted", ["tea -rain", "tea NOT rain", "tea !rain"])
def test_no_word_of_a_query_excludes(unwanted: str) -> None:
    store = MemoryStore(encoder=None)
    store.add("tea in the rain", memory_id="both")
    assert found(store, unwanted) == ["both"]
