"""Kind N: pages and k.

Law: k is a whole number from 1 up and is an upper bound: fewer memories give fewer hits, never a pad or an error.
The order is total (score, then id), so a smaller k is the beginning of a larger one. Nothing has a hidden cap.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from worlds import METHODS, diary, found

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument
from memlab.store import MemoryStore

NO_COUNTS = {
    "N03 zero": 0,
    "minus one": -1,
    "numpy zero": np.int64(0),
    "float": 5.0,
    "half": 0.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "True": True,
    "numpy True": np.bool_(True),
    "text": "5",
    "None": None,
    "list": [5],
    "array": np.array([5]),
    "Decimal": Decimal(5),
    "Fraction": Fraction(5),
    "NA": pd.NA,
    "minus huge": -(10**5000),
}
COUNTS = {"one": 1, "numpy": np.int32(3), "unsigned": np.uint8(200), "2**63": 2**63, "beyond all": 10**5000}


@pytest.mark.parametrize("k", NO_COUNTS.values(), ids=NO_COUNTS)
@pytest.mark.parametrize("method", [*METHODS, lambda s, q, k: ["move"]], ids=[*METHODS, "own"])
def test_what_is_no_count_is_refused(k: object, method: object) -> None:
    store = diary()
    for call in (
        lambda: store.recall("Ana", k, method=method),  # type: ignore[arg-type]
        lambda: store.recall(["Ana"], k, method=method),  # type: ignore[arg-type]
        lambda: store.neighbours("move", hops=k),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidArgument):
            call()


@pytest.mark.parametrize("k", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("method", METHODS)
def test_n07_n08_more_than_there_are_gives_all_there_are(tmp_path: object, k: int, method: str) -> None:
    with MemoryStore.open(f"{tmp_path}/s.memlab", encoder=HashEncoder(dimension=16)) as store:
        assert found(store, "tea", k=k, method=method) == []
        ids = store.add_many(["tea one", "tea two"], progress=False)
        hits = found(store, "tea", k=k, method=method)
        assert len(hits) == min(k, 2) and set(hits) <= set(ids)
        assert store.neighbours(ids[0], hops=k).empty
        assert len(store.recalls) == 2
    with MemoryStore.open(f"{tmp_path}/s.memlab") as store:  # what was told of it could be written
        assert len(store.recalls) == 2


@pytest.mark.parametrize("method", METHODS)
def test_a_smaller_k_is_the_beginning_of_a_larger_one(method: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    store.add_many([{"content": f"tea {i % 3}", "memory_id": f"m{i:02}"} for i in range(40)], progress=False)
    whole = found(store, "tea", k=40, method=method)
    assert len(set(whole)) == 40
    for k in (1, 2, 7, 13, 39):
        assert found(store, "tea", k=k, method=method) == whole[:k]


@pytest.mark.parametrize("method", METHODS)
def test_equal_scores_stand_in_the_order_of_their_ids_however_they_came(method: str) -> None:
    ids = [f"m{i:02}" for i in range(20)]
    for order in (ids, ids[::-1], ids[10:] + ids[:10]):
        store = MemoryStore(encoder=HashEncoder(dimension=16))
        created = "2024-05-20T00:00Z"
        items = [{"content": "tea", "memory_id": i, "created_at": created} for i in order]
        store.add_many(items, progress=False)
        assert found(store, "tea", k=20, method=method, now="2024-06-01T00:00Z") == ids


@pytest.mark.parametrize("method", METHODS)
def test_n09_never_more_than_k_and_each_once_after_updates(method: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    ids = store.add_many([f"tea {i}" for i in range(12)], progress=False)
    for i, memory_id in enumerate(ids):
        store.update(memory_id, content=f"green tea {i}")
    store.delete(ids[:3])
    hits = found(store, "green tea", k=3, method=method)
    assert len(hits) == len(set(hits)) == 3


def test_n05_there_is_no_cap() -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=8))
    items = [{"content": "tea", "memory_id": f"m{i}", "tags": ["t"]} for i in range(10_001)]
    assert len(store.add_many(items, progress=False)) == 10_001
    assert len(store) == len(store.memories) == len(store.select(tags="t")) == 10_001
    assert store.describe()["memories"] == store.spaces.list()["memories"].sum() == 10_001
    for method in ("lexical", "dense"):
        assert len(store.recall("tea", k=20_000, method=method)) == 10_001
    assert len(store.log()) >= 10_001
