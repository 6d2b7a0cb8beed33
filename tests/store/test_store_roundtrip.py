"""What goes in comes out equal, from the same process and from the file."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import json_values, memories, metadata, texts

from memlab.encoders import HashEncoder
from memlab.store import MemoryStore
from memlab.store_add import GIVEN
from memlab.values import dumps


def given_fields(memory: Any) -> dict[str, Any]:
    """What was handed in, of a memory."""
    return {name: getattr(memory, name) for name in GIVEN}


@settings(max_examples=30)
@given(st.lists(memories(), max_size=5, unique_by=lambda m: m.memory_id))
def test_memories_come_back_equal_after_opening_again(given_memories: list[Any]) -> None:
    free = [replace(m, aliases=()) for m in given_memories if m.space != "*"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.memlab")
        with MemoryStore.open(path, encoder=HashEncoder(dimension=8), durability="normal") as store:
            assert store.add_many(free) == [m.memory_id for m in free]
            assert [given_fields(m) for m in store] == [given_fields(m) for m in free]
            held = list(store)
            assert store.check().ok
        with MemoryStore.open(path, encoder=HashEncoder(dimension=8)) as store:
            assert list(store) == held
            assert [dumps(m.metadata) for m in store] == [dumps(m.metadata) for m in free]
            for memory in free:
                assert store.recall(memory.content[:200], space=memory.space, k=1) is not None
            assert store.check().ok


@settings(max_examples=30)
@given(texts(), metadata(), texts(), json_values())
def test_any_text_and_any_json_survive_update_undo_and_forget(
    content: str, data: dict[str, Any], memory_id: str, value: Any
) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=8))
    store.add("Before.", memory_id=memory_id)
    before = store.get(memory_id)
    after = store.update(memory_id, content=content, metadata={"whole": data, "value": value}, tags=[memory_id])
    assert (after.content, after.tags) == (content, (memory_id,))
    assert dumps(after.metadata.get("value")) == dumps(
        value if not isinstance(value, dict) else after.metadata["value"]
    )
    store.check(repair=True)
    assert store.get(memory_id) == after
    assert dumps(store.get(memory_id).metadata) == dumps(after.metadata)
    assert store.as_of(store.log()["seq"].max()).get(memory_id) == after
    store.undo(store.log()["change"].max())
    assert store.get(memory_id) == before
    assert store.forget(memory_id) == [memory_id]
    assert store.check().ok
