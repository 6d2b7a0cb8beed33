"""Kind J: deletes that leave something behind.

Law: after delete a memory is in no table, index, association, view or answer of the store, and its id is never
used again; only the log knows it, so that undo can bring it back whole. After forget the log doesn't either.
Delete does exactly what it is told: a list of no ids is nothing, no word at all is an error, and there is no cap.
"""

from pathlib import Path

import pytest
from worlds import METHODS, diary, found, state

from memlab.encoders import HashEncoder
from memlab.errors import DuplicateMemory, FilterError, InvalidArgument, UnknownMemory
from memlab.store import MemoryStore

SECRET = "The quokka password is swordfish."


def with_secret(path: Path) -> MemoryStore:
    """A store in a file whose memory ``s`` is associated, recalled and updated."""
    store = MemoryStore.open(path, encoder=HashEncoder(dimension=16))
    store.add_many([{"content": f"Plain fact {i}.", "memory_id": f"m{i}"} for i in range(4)], progress=False)
    store.add("An older quokka text.", memory_id="s", tags=["quokka"], metadata={"animal": "quokka"})
    store.update("s", content=SECRET)
    store.associate("s", "PART_OF", "m0", role="quokka keeper")
    store.associate("m1", "LEADS_TO", "s")
    for method in METHODS:
        store.recall("quokka", method=method)
    return store


def answers(store: MemoryStore) -> str:
    """Every reading verb's answer, as one text."""
    parts: list[object] = [store.memories.to_dict("list"), store.associations.to_dict("list"), list(store)]
    parts += [
        store.select(),
        store.select(state="current"),
        dict(store.graph.nodes(data=True)),
        list(store.graph.edges),
    ]
    parts += [store.embeddings().index.tolist(), store.faiss_index()[1], store._repr_html_(), repr(store)]
    parts += [store.neighbours(m.memory_id).to_dict("list") for m in store]
    parts += [hit for method in METHODS for hit in store.recall("password", k=50, method=method)]
    return " ".join(map(repr, parts))


@pytest.mark.parametrize("verb", ["delete", "forget"])
def test_nothing_of_it_is_in_any_answer(tmp_path: Path, verb: str) -> None:
    with with_secret(tmp_path / "s.memlab") as store:
        assert "quokka" in answers(store)
        getattr(store, verb)("s")
        assert "s" not in store and "quokka" not in answers(store) and "'s'" not in answers(store)
        assert store.check().ok
    with MemoryStore.open(tmp_path / "s.memlab") as store:
        assert "quokka" not in answers(store)
        assert store.faiss_index()[0].ntotal == len(store) == 4  # J01
        assert len(store.associations) == store.graph.number_of_edges() == 0  # J04
        assert store.describe()["associations"] == 0
        with pytest.raises(UnknownMemory):
            store.get("s")
        with pytest.raises(DuplicateMemory):
            store.add("again", memory_id="s")


def test_undo_brings_it_back_whole(tmp_path: Path) -> None:
    with with_secret(tmp_path / "s.memlab") as store:
        before, edges = store.get("s"), set(store.graph.edges(keys=True))
        store.delete("s")
        store.undo(int(store.log()["change"].max()))
        assert store.get("s").content == before.content and store.get("s").metadata == before.metadata
        assert set(store.graph.edges(keys=True)) == edges
        assert found(store, "quokka swordfish", k=1, method="dense") == ["s"]


def test_what_is_forgotten_is_in_no_file_no_log_and_no_past(tmp_path: Path) -> None:
    with with_secret(tmp_path / "s.memlab") as store:
        store.forget("s")
        assert "quokka" not in repr(store.log().to_dict("list")) + repr(store.recalls.to_dict("list"))
        with store.as_of(int(store.log()["seq"].max()) - 1) as past:
            assert "quokka" not in answers(past)
    for file in tmp_path.iterdir():
        assert b"quokka" not in file.read_bytes() and b"swordfish" not in file.read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_j03_the_best_are_deleted_and_there_are_still_k(method: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=32))
    ids = store.add_many([f"tea number {i}" for i in range(20)], progress=False)
    best = found(store, "tea", k=10, method=method)
    store.delete(best)
    rest = found(store, "tea", k=10, method=method)
    assert len(rest) == 10 and set(rest) == set(ids) - set(best)


def test_j12_new_ids_are_new_after_a_reload(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        *_, last = store.add_many(["a", "b", "c"], progress=False)
        store.delete(last)
        seq = store.log()["seq"].max()
    with MemoryStore.open(tmp_path / "s.memlab", encoder=None) as store:
        assert store.add("d") != last and last not in store
        assert store.log()["seq"].iloc[-1] > seq


@pytest.mark.parametrize("count", [250, 1_001])
def test_j14_a_whole_space_goes_and_no_other(count: int) -> None:
    store = diary(encoder=None)
    store.add_many([f"x{i}" for i in range(count)], space="bulk", progress=False)
    assert len(store.delete(space="bulk", dry_run=True)) == count
    assert len(store.delete(space="bulk")) == count
    assert sorted(m.memory_id for m in store) == ["garden", "key", "move"]


def test_j13_deleting_one_space_leaves_the_other() -> None:
    store = diary(encoder=None)
    assert store.delete(space="attic") == ["key"]
    assert "move" in store and "garden" in store
    with pytest.raises(InvalidArgument):
        store.delete(space=None)


ALL_OR_NOTHING = {
    "J15 empty where": ({"where": {}}, FilterError),
    "empty tags": ({"tags": []}, FilterError),
    "empty group": ({"where": {"and": []}}, FilterError),
    "blank id": ({"ids": [""]}, InvalidArgument),
    "ids and where": ({"ids": ["move"], "where": {"n": 1}}, InvalidArgument),
    "a mapping of ids": ({"ids": {"move": 1}}, InvalidArgument),
    "dry run in words": ({"ids": ["move"], "dry_run": "no"}, InvalidArgument),
    "no word": ({}, InvalidArgument),
}


@pytest.mark.parametrize(("given", "error"), ALL_OR_NOTHING.values(), ids=ALL_OR_NOTHING)
def test_what_could_mean_everything_is_refused(given: dict[str, object], error: type[Exception]) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(error):
        store.delete(**given)  # type: ignore[arg-type]
    assert state(store) == before


def test_deleting_everything_leaves_a_store_that_works() -> None:
    store = diary()
    store.recall("Ana", method="hybrid")
    assert len(store.delete([m.memory_id for m in store])) == 3
    assert len(store) == 0 and store.check().ok
    for method in METHODS:
        assert found(store, "Ana", space="*", method=method) == []
    new = store.add("Ana is back.")
    for method in METHODS:
        assert found(store, "Ana", method=method) == [new]
