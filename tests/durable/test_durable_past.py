"""The past, as properties: what the log says, step by step, is what stood there."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scribbling import Scribble, Twin

from memlab.errors import CorruptStore
from memlab.store import MemoryStore

SEEDS = st.integers(0, 10_000)


def scribbled(seed: int, steps: int) -> tuple[MemoryStore, dict[int, Twin]]:
    """A store in memory after some writes, and what it held after each."""
    store = MemoryStore(encoder=None)
    work = Scribble(seed, Twin(), forgets=False)
    seen = {0: Twin()}
    for _ in range(steps):
        work.step(store)
        seen[store._journal.head()] = work.twin.copy()
    return store, seen


@given(seed=SEEDS)
@settings(max_examples=10)
def test_every_place_in_the_log_is_the_store_of_then(seed: int) -> None:
    store, seen = scribbled(seed, 12)
    for place, twin in seen.items():
        with store.as_of(place) as then:
            assert Twin.of(then) == twin
            assert then.check().ok
        diff = store.diff(place)
        now = Twin.of(store)
        assert {m.memory_id for m in diff.added} == now.texts.keys() - twin.texts.keys()
        assert {m.memory_id for m in diff.removed} == twin.texts.keys() - now.texts.keys()
        assert {old.memory_id for old, _ in diff.changed} == {
            key for key in now.texts.keys() & twin.texts.keys() if now.texts[key] != twin.texts[key]
        }


@given(seed=SEEDS)
@settings(max_examples=15)
def test_a_history_folded_up_is_the_memory_at_each_of_its_moments(seed: int) -> None:
    store, seen = scribbled(seed, 12)
    for memory_id in sorted({key for twin in seen.values() for key in twin.texts}):
        row: dict[str, Any] | None = None
        for entry in store.history(memory_id).itertuples():
            if entry.kind == "memory":
                row = None if entry.after is None else {**(row or {}), **entry.after}
            if entry.seq in seen:
                assert seen[entry.seq].texts.get(memory_id) == (row and row["content"])


@given(seed=SEEDS, back=st.integers(1, 8))
@settings(max_examples=15)
def test_undoing_the_newest_changes_one_by_one_is_winding_back(seed: int, back: int) -> None:
    store, seen = scribbled(seed, 10)
    places = sorted(seen)
    for change, place in zip(places[-1 : -1 - back : -1], places[-2 : -2 - back : -1], strict=True):
        first = int(store.log().query(f"seq == {change}")["change"].iloc[0])
        store.undo(first)
        assert Twin.of(store) == seen[place]
        assert store.check().ok


@given(seed=SEEDS)
@settings(max_examples=15)
def test_undoing_an_actor_leaves_what_the_others_did(seed: int) -> None:
    chance = random.Random(seed)
    store = MemoryStore(encoder=None)
    kept: dict[str, str] = {}
    for number in range(15):
        if chance.random() < 0.5:
            store.add_many([f"Theirs {number} {part}." for part in "ab"], progress=False, actor="agent")
        else:
            content = f"Mine {number}."
            kept[store.add(content)] = content
    middle = int(store.log()["seq"].max())
    if (store.log()["actor"] == "agent").any():
        store.undo(actor="agent")
    assert Twin.of(store).texts == kept
    assert store.check().ok
    with store.as_of(middle) as then:
        assert len(then) >= len(kept)


@pytest.mark.parametrize("column", ["before", "after", "key", "time", "actor"])
def test_a_damaged_row_of_the_log_is_named_and_the_present_stays(tmp_path: Path, column: str) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        store.add("Tea.", memory_id="tea")
        store.update("tea", content="Green tea.")
        place = int(store.log()["seq"].max())
        store._journal.rows(f"UPDATE log SET {column}='7' WHERE seq={place}")
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        assert store.get("tea").content == "Green tea."
        for look in (store.log, lambda: store.as_of(1), lambda: store.undo(place)):
            with pytest.raises(CorruptStore, match=f"row {place} of the log"):
                look()
        assert f"row {place} of the log" in repr(store.check())
        assert store.get("tea").content == "Green tea."
