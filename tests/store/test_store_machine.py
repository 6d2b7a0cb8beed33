"""A store against a dictionary, through any order of verbs."""

import random
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from strategies import small_metadata, texts

from memlab.encoders import HashEncoder
from memlab.errors import (
    DuplicateMemory,
    InvalidAssociation,
    InvalidMemory,
    MemlabError,
    UndoConflict,
    UnknownAssociation,
    UnknownMemory,
)
from memlab.store import MemoryStore
from memlab.store_items import merge

IDS = st.sampled_from(["m0", "m1", "m2", "m3", "m4", "猫"])
SPACES = st.sampled_from(["default", "Home", "home", "n1"])
RELATIONS = st.sampled_from(["LEADS_TO", "RELATES_TO", "INVALIDATED_BY"])
CONTENTS = st.one_of(st.sampled_from(["Tea at four.", "Rain.", "tea at FOUR. "]), texts())
Twin = tuple[dict[str, dict[str, Any]], dict[tuple[str, str, str], float], set[str]]


class StoreMachine(RuleBasedStateMachine):
    """The store, its twin, and the twin's states by place in the log."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "s.memlab")
        self.store = self.opened()
        self.memories: dict[str, dict[str, Any]] = {}
        self.edges: dict[tuple[str, str, str], float] = {}
        self.names: set[str] = set()  # of spaces
        self.seen: set[str] = set()
        self.past: dict[int, Twin] = {0: self.twin()}
        self.calls: list[tuple[int, Twin]] = []

    def opened(self) -> MemoryStore:
        return MemoryStore.open(self.path, encoder=HashEncoder(dimension=16), durability="normal")

    def twin(self) -> Twin:
        return {k: dict(v) for k, v in self.memories.items()}, dict(self.edges), set(self.names)

    def written(self, before: Twin) -> None:
        """Remember the state after a call that may have written."""
        log = self.store.log()
        if len(log) and int(log["seq"].iloc[-1]) not in self.past:
            self.past[int(log["seq"].iloc[-1])] = self.twin()
            self.calls.append((int(log["change"].iloc[-1]), before))

    def admit(self, memory_id: str, content: str, space: str, data: dict[str, Any]) -> None:
        self.names.add(space)
        self.memories[memory_id] = {"content": content, "space": space, "metadata": data, "importance": 0.5}
        self.seen.add(memory_id)

    @rule(memory_id=IDS, content=CONTENTS, space=SPACES, data=small_metadata())
    def add(self, memory_id: str, content: str, space: str, data: dict[str, Any]) -> None:
        before = self.twin()
        try:
            found = self.store.add(content, memory_id=memory_id, space=space, metadata=data)
        except DuplicateMemory:
            assert memory_id in self.seen
            return
        assert found == memory_id
        assert memory_id not in self.seen
        self.admit(memory_id, content, space, data)
        self.written(before)

    @rule(items=st.lists(st.tuples(st.one_of(st.none(), IDS), st.one_of(CONTENTS, st.just(" "))), max_size=4))
    def add_many(self, items: list[tuple[str | None, str]]) -> None:
        before = self.twin()
        rows = [{"content": content, "memory_id": memory_id, "space": "Home"} for memory_id, content in items]
        found = self.store.add_many(rows, on_error="report")
        for (memory_id, content), result in zip(items, found, strict=True):
            bad = content == " " or memory_id in self.seen
            assert isinstance(result, MemlabError) == bad
            if not bad:
                assert memory_id in (None, result)
                self.admit(result, content, "Home", {})
        self.written(before)

    @rule(memory_id=IDS, content=CONTENTS, data=small_metadata(), share=st.sampled_from([0.0, 0.5, 1.0]))
    def update(self, memory_id: str, content: str, data: dict[str, Any], share: float) -> None:
        before = self.twin()
        try:
            found = self.store.update(memory_id, content=content, metadata=data, importance=share)
        except UnknownMemory:
            assert memory_id not in self.memories
            return
        row = self.memories[memory_id]
        row |= {"content": content, "metadata": merge(row["metadata"], data), "importance": share}
        assert found.content == content
        self.written(before)

    @rule(memory_id=IDS, space=SPACES)
    def move(self, memory_id: str, space: str) -> None:
        before = self.twin()
        try:
            self.store.update(memory_id, space=space)
        except UnknownMemory:
            assert memory_id not in self.memories
            return
        except InvalidMemory:
            assert any(memory_id in (a, b) for a, _, b in self.edges)
            return
        self.names.add(space)
        self.memories[memory_id]["space"] = space
        self.written(before)

    def without(self, gone: set[str]) -> None:
        self.memories = {k: v for k, v in self.memories.items() if k not in gone}
        self.edges = {t: v for t, v in self.edges.items() if not gone & {t[0], t[2]}}

    @rule(ids=st.lists(IDS, max_size=3))
    def delete(self, ids: list[str]) -> None:
        before = self.twin()
        try:
            assert self.store.delete(ids) == list(dict.fromkeys(ids))
        except UnknownMemory:
            assert not set(ids) <= self.memories.keys()
            return
        self.without(set(ids))
        self.written(before)

    @rule(space=SPACES)
    def delete_space(self, space: str) -> None:
        if space in self.names:
            before = self.twin()
            gone = set(self.store.spaces.delete(space))
            assert gone == {k for k, v in self.memories.items() if v["space"] == space}
            self.without(gone)
            self.names.remove(space)
            self.written(before)

    @rule(source=IDS, relation=RELATIONS, end=IDS, share=st.sampled_from([0.25, 1.0]))
    def associate(self, source: str, relation: str, end: str, share: float) -> None:
        before = self.twin()
        try:
            self.store.associate(source, relation, end, strength=share)
        except UnknownMemory:
            assert not {source, end} <= self.memories.keys()
            return
        except InvalidAssociation:
            assert source == end or self.memories[source]["space"] != self.memories[end]["space"]
            return
        self.edges[source, relation, end] = share
        self.written(before)

    @rule(source=IDS, relation=RELATIONS, end=IDS)
    def dissociate(self, source: str, relation: str, end: str) -> None:
        before = self.twin()
        try:
            self.store.dissociate(source, relation, end)
        except UnknownAssociation:
            assert (source, relation, end) not in self.edges
            return
        del self.edges[source, relation, end]
        self.written(before)

    @rule(space=SPACES, name=SPACES)
    def rename(self, space: str, name: str) -> None:
        if space in self.names and name not in self.names:
            before = self.twin()
            self.store.spaces.rename(space, name)
            self.names = self.names - {space} | {name}
            for row in self.memories.values():
                row["space"] = name if row["space"] == space else row["space"]
            self.written(before)

    @precondition(lambda self: self.calls)
    @rule(chance=st.randoms(use_true_random=False))
    def undo(self, chance: random.Random) -> None:
        before = self.twin()
        change, then = chance.choice(self.calls[-6:])
        try:
            self.store.undo(change)
        except UndoConflict:
            # Undoing the last call again is never a conflict.
            assert change != self.calls[-1][0]
            return
        if change == self.calls[-1][0]:
            self.memories, self.edges, self.names = (
                {k: dict(v) for k, v in then[0].items()},
                dict(then[1]),
                set(then[2]),
            )
        else:
            self.read()
        self.written(before)

    def read(self) -> None:
        """Take the twin from the store, where a dictionary can't say what is right."""
        self.names = set(self.store.spaces.list()["name"])
        fields = ("content", "space", "metadata", "importance")
        self.memories = {m.memory_id: {name: getattr(m, name) for name in fields} for m in self.store}
        frame = self.store.associations
        self.edges = {(r.source, r.relation, r.target): r.strength for r in frame.itertuples()}

    @rule(memory_id=IDS)
    def forget(self, memory_id: str) -> None:
        if memory_id not in self.seen:
            return
        self.store.forget(memory_id)
        self.without({memory_id})
        for memories, edges, _ in self.past.values():
            memories.pop(memory_id, None)
            for triple in [t for t in edges if memory_id in (t[0], t[2])]:
                del edges[triple]
        self.past[int(self.store.log()["seq"].max())] = self.twin()
        self.calls = []

    @rule(repair=st.booleans())
    def reopen(self, repair: bool) -> None:
        if repair:
            self.store.check(repair=True)
        else:
            self.store.close()
            self.store = self.opened()

    @rule(query=st.sampled_from(["tea", "rain four"]), space=SPACES, method=st.sampled_from(["lexical", "dense"]))
    def recall(self, query: str, space: str, method: str) -> None:
        living = {k for k, v in self.memories.items() if v["space"] == space}
        if space in self.names:
            for state in ("current", "history"):
                found = self.store.recall(query, space=space, method=method, state=state)
                assert {hit.memory_id for hit in found} <= living

    @rule(chance=st.randoms(use_true_random=False))
    def look_back(self, chance: random.Random) -> None:
        (a, old), (b, new) = (chance.choice(sorted(self.past.items())) for _ in range(2))
        for place, twin in ((a, old), (b, new)):
            past = self.store.as_of(place)
            assert plain(past) == expected(twin)
            assert past.check().ok
            past.close()
        diff = self.store.diff(a, b)
        assert {m.memory_id for m in diff.added} == new[0].keys() - old[0].keys()
        assert {m.memory_id for m in diff.removed} == old[0].keys() - new[0].keys()
        assert {x.triple for x in diff.associated} >= new[1].keys() - old[1].keys()

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "store"):
            assert plain(self.store) == expected(self.twin())
            assert len(self.store) == len(self.memories)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            try:
                assert self.store.check().ok, self.store.check()
                self.reopen(repair=False)
                self.agree()
                assert self.store.check().ok
            finally:
                self.store.close()
                self.folder.cleanup()


def plain(store: MemoryStore) -> Any:
    """The store as a dictionary has it."""
    memories = {m.memory_id: (m.content, m.space, m.metadata, m.importance) for m in store}
    edges = {(r.source, r.relation, r.target): r.strength for r in store.associations.itertuples()}
    return memories, edges, set(store.spaces.list()["name"])


def expected(twin: Twin) -> Any:
    """The twin in the same form."""
    memories, edges, names = twin
    return {k: (v["content"], v["space"], v["metadata"], v["importance"]) for k, v in memories.items()}, edges, names


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=25, stateful_step_count=25)
