"""Kind K: updates.

Law: update changes what was named and nothing else, and everything that is derived from the changed part is made
anew in the same step: words, vectors, filters, graph, frames. What doesn't change isn't written.
"""

import numpy as np
import pytest
from worlds import METHODS, diary, found, state

from memlab.encoders import HashEncoder
from memlab.errors import InvalidMemory
from memlab.records import FIELDS
from memlab.store import MemoryStore

ONE_FIELD = {
    "content": "Ana moved to Bergen.",
    "type": "Decision",
    "tags": ("b",),
    "importance": 0.9,
    "confidence": 0.1,
    "metadata": {"n": 5},
    "role": "Ana",
    "session_id": "s1",
    "sequence": 3,
    "content_type": "markdown",
    "source": "letter",
    "archived": True,
    "protected": True,
    "aliases": ("was",),
}


@pytest.mark.parametrize("field", ONE_FIELD)
def test_only_the_named_field_changes(field: str) -> None:
    store = diary(encoder=None)
    before, others = store.get("move"), [store.get("garden"), store.get("key")]
    after = store.update("move", **{field: ONE_FIELD[field]})
    differing = {name for name in FIELDS if getattr(before, name) != getattr(after, name)}
    assert differing == {field, "updated_at"}
    assert [store.get("garden"), store.get("key")] == others


def test_k04_new_metadata_is_what_filters_see() -> None:
    store = diary()
    store.select(where={"city": "Oslo"})
    store.update("move", metadata={"city": "Bergen"})
    for method in METHODS:
        assert found(store, "Ana", where={"city": "Bergen"}, method=method) == ["move"]
        assert found(store, "Ana", where={"city": "Oslo"}, method=method) == []


def test_k07_associations_and_creation_stay() -> None:
    store = diary(encoder=None)
    before = store.get("move")
    after = store.update("move", content="Ana lives in Oslo.")
    assert store.neighbours("move")["memory_id"].tolist() == ["garden"]
    assert after.created_at == before.created_at and after.updated_at > before.updated_at


@pytest.mark.parametrize("warm", [True, False], ids=["indexes made", "indexes not yet made"])
def test_k10_the_vector_is_that_of_the_new_text(warm: bool) -> None:
    store, fresh = (MemoryStore(encoder=HashEncoder(dimension=64)) for _ in range(2))
    made = store.add("cats purr")
    store.add_many(["tea", "rain"], progress=False)
    if warm:
        store.recall("cats", method="hybrid")
    store.update(made, content="bond markets")
    fresh.add("bond markets", memory_id=made)
    assert np.array_equal(store.embeddings().loc[made], fresh.embeddings().loc[made])
    assert len(store.embeddings().loc[made]) == 1  # K13
    hit = store.recall("bond markets", k=1, method="dense")[0]
    assert hit.memory_id == made and hit.parts["dense"].score == pytest.approx(1.0)
    assert made not in found(store, "cats purr", method="lexical")


@pytest.mark.parametrize("field", ["role", "happened_at"])
def test_who_and_when_are_part_of_the_text_and_of_the_vector(field: str) -> None:
    store = diary()
    store.recall("Ana", method="hybrid")
    value = {"role": "Zacharias", "happened_at": "2019-02-03T00:00Z"}[field]
    store.update("move", **{field: value})
    assert found(store, {"role": "Zacharias", "happened_at": "February"}[field], method="lexical") == ["move"]
    assert store.check().ok


def test_k12_a_vector_of_an_older_text_is_found_by_check() -> None:
    store = diary()
    store.recall("Ana", method="dense")
    index = store._embedder.indexes["default"]
    index._matrix[:1] = -index._matrix[:1]
    assert not store.check().ok
    assert store.check(repair=True).repaired and store.check().ok


def test_what_changes_nothing_is_not_written() -> None:
    store = diary(encoder=None)
    before = state(store)
    store.update("move")
    store.update("move", content="Ana moved to Oslo.", tags=["home"], metadata={"city": "Oslo"})
    store.update("move", metadata={"absent": None})
    assert state(store) == before


@pytest.mark.parametrize("field", ["memory_id", "created_at", "updated_at", "access_count", "nonsense", "Content"])
def test_what_is_not_for_changing_is_refused(field: str) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises((InvalidMemory, TypeError)):
        store.update("move", **{field: "x"})
    assert state(store) == before


def test_an_old_text_is_nowhere_but_in_the_past() -> None:
    store = diary()
    for method in METHODS:
        store.recall("Oslo", method=method)
    store.update("move", content="Ana lives abroad.", metadata={"city": None})
    seen = repr([list(store), store.memories.to_dict("list"), dict(store.graph.nodes(data=True)), store._repr_html_()])
    assert "Oslo" not in seen
    answer = store.recall("Ana", k=1)
    assert "Oslo" not in repr(answer) + repr(answer.explain(1))
    assert found(store, "Oslo", method="lexical") == []
    with store.as_of(int(store.log()["seq"].max()) - 1) as past:
        assert past.get("move").content == "Ana moved to Oslo."
