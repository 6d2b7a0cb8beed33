"""Eight threads in one store: nothing is lost, and what was handed out belongs to the reader alone."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from worker_shared import opened

from memlab.store import MemoryStore

WRITERS, READERS, EACH = 4, 4, 40


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """A store with something of everything in it."""
    with opened(tmp_path / "s.memlab") as store:
        store.add_many(
            [
                {
                    "content": f"Seed number {i} of tea.",
                    "memory_id": f"seed{i}",
                    "tags": ["plant", f"t{i}"],
                    "metadata": {"deep": {"list": [1, {"n": i}]}},
                    "happened_at": "2024-05-20T09:00Z",
                    "importance": 0.25,
                }
                for i in range(20)
            ]
        )
        store.register_relation("CITES", properties=["because"])
        store.associate("seed0", "CITES", "seed1", because={"deep": [1]})
        store.recall("tea")
        yield store


def write(store: MemoryStore, writer: int) -> list[str]:
    """Write in all ways; give what has to be there in the end."""
    kept = []
    for i in range(EACH):
        memory_id = store.add(f"Writer {writer} says {i} of tea.", memory_id=f"w{writer}-{i}", importance=i / EACH)
        if i % 4 == 1:
            store.update(memory_id, content=f"Writer {writer} says {i} anew.", metadata={"i": i})
        elif i % 4 == 2:
            store.associate(memory_id, "LEADS_TO", f"w{writer}-{i - 1}", strength=0.5)
        elif i % 4 == 3:
            store.delete(memory_id)
            continue
        kept.append(memory_id)
    return kept


def together(store: MemoryStore, read: Callable[[], Any]) -> None:
    """Have writers write and readers read at once; then prove that nothing was lost."""
    done = threading.Event()
    start = threading.Barrier(WRITERS + READERS)

    def writing(writer: int) -> list[str]:
        start.wait(30)
        return write(store, writer)

    def reading() -> int:
        start.wait(30)
        rounds = 0
        while not done.is_set() or not rounds:
            read()
            rounds += 1
        return rounds

    with ThreadPoolExecutor(WRITERS + READERS) as pool:
        readers = [pool.submit(reading) for _ in range(READERS)]
        writers = [pool.submit(writing, number) for number in range(WRITERS)]
        try:
            kept = {memory_id for writer in writers for memory_id in writer.result(120)}
        finally:
            done.set()
        assert all(reader.result(60) for reader in readers)
    assert {memory_id for memory_id in store.memories["memory_id"] if memory_id.startswith("w")} == kept
    assert set(store.graph) == set(store.memories["memory_id"])
    assert len(store.associations) == store.graph.number_of_edges() == 1 + WRITERS * EACH // 4
    assert store.log()["seq"].tolist() == list(range(1, len(store.log()) + 1))
    assert store.check().ok


def everything(store: MemoryStore) -> Iterator[Callable[[], Any]]:
    """Each way of reading."""
    yield lambda: store.recall("tea says", k=5)
    yield lambda: store.recall(["tea", "seed"], k=3, method="dense")
    yield lambda: store.recall("anew", method="lexical")
    yield lambda: store.memories
    yield lambda: store.associations
    yield lambda: store.graph
    yield lambda: store.select(where={"importance": {"ge": 0.25}})
    yield lambda: list(store)
    yield store.log
    yield lambda: store.recalls
    yield lambda: store.get("seed3")
    yield lambda: store.neighbours("seed0")
    yield store.embeddings
    yield store.describe
    yield lambda: repr(store) + store._repr_html_()


def test_eight_threads_that_write_and_read_in_all_ways_lose_nothing(store: MemoryStore) -> None:
    reads = list(everything(store))
    turn = iter(range(10**9))

    def read() -> None:
        reads[next(turn) % len(reads)]()

    together(store, read)
    assert store.check().ok


def test_a_recall_is_of_one_state(store: MemoryStore) -> None:
    def read() -> None:
        found = store.recall("tea says anew", k=50)
        ids = [hit.memory_id for hit in found]
        assert len(ids) == len(set(ids))
        assert all(hit.memory.memory_id == hit.memory_id and hit.memory.content for hit in found)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)

    together(store, read)


def test_frames_do_not_change_under_the_readers_hands(store: MemoryStore) -> None:
    def read() -> None:
        for frame in (store.memories, store.associations, store.select(), store.log()):
            before = frame.map(repr) if len(frame) < 400 else frame.tail(50).map(repr)
            store.recall("tea")
            after = frame.map(repr) if len(frame) < 400 else frame.tail(50).map(repr)
            pd.testing.assert_frame_equal(before, after)

    together(store, read)


def frame_writes(frame: pd.DataFrame) -> Iterator[Callable[[], Any]]:
    """Each way by which a frame can be written to."""
    numbers, texts = frame["importance"], frame["content"]
    yield lambda: frame.loc.__setitem__((0, "importance"), 0.99)
    yield lambda: frame.iloc.__setitem__((0, 1), "written")
    yield lambda: frame.at.__setitem__((0, "content"), "written")
    yield lambda: frame.iat.__setitem__((0, 1), "written")
    yield lambda: frame.__setitem__("importance", 0.99)
    yield lambda: numbers.array.__setitem__(0, 0.99)
    yield lambda: texts.array.__setitem__(0, "written")
    yield lambda: numbers.to_numpy().__setitem__(0, 0.99)
    yield lambda: np.asarray(numbers).__setitem__(0, 0.99)
    yield lambda: numbers.values.__setitem__(0, 0.99)
    yield lambda: frame.to_numpy().__setitem__((0, 1), "written")
    yield lambda: frame["created_at"].array.__setitem__(0, pd.Timestamp("1999-01-01", tz="UTC"))
    yield lambda: frame["protected"].array.__setitem__(0, True)
    yield lambda: frame["metadata"].iloc[0].__setitem__("written", 1)
    yield lambda: frame["metadata"].iloc[0]["deep"]["list"].append("written")
    yield lambda: frame["metadata"].iloc[0]["deep"]["list"][1].__setitem__("n", "written")
    yield lambda: frame["tags"].iloc[0].append("written")
    yield lambda: frame.update(pd.DataFrame({"importance": [0.99]}))
    yield lambda: frame.pop("content")
    yield lambda: frame.insert(0, "extra", 1)
    yield lambda: memoryview(np.asarray(numbers)).__setitem__(0, 0.99)


def test_no_way_of_writing_to_a_frame_writes_to_the_store_while_others_write(store: MemoryStore) -> None:
    ways = len(list(frame_writes(store.memories)))
    turn = iter(range(10**9))

    def read() -> None:
        way = next(turn) % ways
        for frame in (store.memories, store.select()):
            # Some of them are refused by what was handed out, which is as good.
            with contextlib.suppress(ValueError, TypeError, AttributeError, IndexError, KeyError):
                list(frame_writes(frame))[way]()
        seed = store.get("seed0")
        assert (seed.content, seed.importance) == ("Seed number 0 of tea.", 0.25)
        assert seed.metadata == {"deep": {"list": [1, {"n": 0}]}}
        assert seed.tags == ("plant", "t0")
        row = store.memories.iloc[0]
        assert (row["content"], row["importance"], row["protected"]) == ("Seed number 0 of tea.", 0.25, False)
        assert row["metadata"] == {"deep": {"list": [1, {"n": 0}]}}

    together(store, read)


def test_graphs_are_of_one_state_and_neither_change_nor_write_to_the_store(store: MemoryStore) -> None:
    def read() -> None:
        graph = store.graph
        nodes, edges = set(graph), set(graph.edges(keys=True))
        assert {end for edge in edges for end in edge[:2]} <= nodes
        for change in (
            lambda: graph.add_node("x"),
            lambda: graph.remove_node("seed0"),
            lambda: graph.add_edge("seed0", "seed1", "CITES"),
            lambda: graph.remove_edge("seed0", "seed1", "CITES"),
        ):
            with pytest.raises(nx.NetworkXError):
                change()
        for data in (graph.nodes["seed0"], graph.edges["seed0", "seed1", "CITES"]):
            with contextlib.suppress(TypeError, AttributeError):
                data["content"] = data["strength"] = "written"
        store.recall("tea")
        assert (set(graph), set(graph.edges(keys=True))) == (nodes, edges)
        assert store.get("seed0").content == "Seed number 0 of tea."
        assert store.associations.iloc[0]["strength"] == 0.5
        assert store.associations.iloc[0]["properties"] == {"because": {"deep": [1]}}

    together(store, read)
    assert store.graph.nodes["seed0"]["content"] == "Seed number 0 of tea."
    assert store.graph.edges["seed0", "seed1", "CITES"]["strength"] == 0.5


def test_closing_beside_threads_that_work_gives_one_clear_error(tmp_path: Path) -> None:
    from memlab.errors import StoreClosed

    store = opened(tmp_path / "s.memlab")
    store.add("Tea.")
    begun = threading.Barrier(5)

    def work() -> type[BaseException] | None:
        begun.wait(30)
        try:
            while True:
                store.add("Rain.")
                store.recall("rain tea")
        except StoreClosed as error:
            return type(error)

    with ThreadPoolExecutor(4) as pool:
        threads = [pool.submit(work) for _ in range(4)]
        begun.wait(30)
        store.close()
        assert [thread.result(30) for thread in threads] == [StoreClosed] * 4
    with opened(tmp_path / "s.memlab") as store:
        assert store.check().ok
