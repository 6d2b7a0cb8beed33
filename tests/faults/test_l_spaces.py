"""Kind L: leaks between spaces.

Law: a space is a wall. Every verb that is bound to a space sees nothing of another: no hit, filter, association,
path, count, repeat or note of its words. A name is an opaque string: letter case and composition count, and the
name or id of one space is never another's.
"""

import pytest
from worlds import METHODS, found, state

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument, InvalidAssociation, InvalidMemory, MemlabError, UnknownMemory, UnknownSpace
from memlab.store import MemoryStore

MINE, THEIRS = "harbour lamp", "zyzzyva quokka"


@pytest.fixture
def store() -> MemoryStore:
    """Two spaces that hold the same ids' likes, associated within, one of their texts shared."""
    store = MemoryStore(encoder=HashEncoder(dimension=32))
    for space, words in (("a", MINE), ("b", THEIRS)):
        for i in range(6):
            when = f"2024-05-{20 + i}T00:00Z"
            store.add(
                f"{words} {i}",
                memory_id=f"{space}{i}",
                space=space,
                tags=["shared", words],
                metadata={"k": words, "n": i},
                role=words.split()[0],
                session_id="s",
                sequence=i,
                happened_at=when,
            )
        for i in range(5):
            store.associate(f"{space}{i}", "LEADS_TO", f"{space}{i + 1}")
        store.associate(f"{space}0", "INVALIDATED_BY", f"{space}5")
        store.add("the very same words", memory_id=f"{space}-same", space=space)
    return store


READINGS = {
    **{
        f"L01 recall {method} {state}": lambda s, m=method, t=state: s.recall(
            f"{MINE} {THEIRS} the very same words", k=99, space="a", method=m, state=t
        )
        for method in METHODS
        for state in ("current", "history")
    },
    "recall of many": lambda s: s.recall([MINE, THEIRS], k=99, space="a"),
    "recall by a list": lambda s: s.recall(THEIRS, k=99, space=["a"]),
    "recall by id": lambda s: s.recall(THEIRS, k=99, space=s.spaces.describe("a").space_id),
    "recall by tag": lambda s: s.recall("shared", k=99, space="a", tags="shared"),
    "recall by time": lambda s: s.recall("what happened in May 2024?", k=99, space="a"),
    "recall diversified": lambda s: s.recall(THEIRS, k=99, space="a", diversify=0.7),
    "explain": lambda s: s.recall(MINE, space="a").explain(1),
    "frame": lambda s: s.recall(MINE, k=99, space="a").frame.to_dict("list"),
    "select": lambda s: s.select(space="a").to_dict("list"),
    "select where": lambda s: s.select(space="a", where={"n": {"ge": 0}}).to_dict("list"),
    "select not": lambda s: s.select(space="a", where={"not": {"n": 99}}).to_dict("list"),
    "select current": lambda s: s.select(space="a", state="current").to_dict("list"),
    "L03 neighbours": lambda s: s.neighbours("a0", hops=99).to_dict("list"),
    "get": lambda s: s.get("a0"),
    "history": lambda s: s.history("a0").to_dict("list"),
    "faiss index": lambda s: s.faiss_index("a")[1],
    "describe": lambda s: s.spaces.describe("a"),
    "delete, dry": lambda s: s.delete(space="a", dry_run=True),
    "delete where, dry": lambda s: s.delete(where={"n": {"ge": 0}}, space="a", dry_run=True),
    "delete tags, dry": lambda s: s.delete(tags="shared", space="a", dry_run=True),
    "delete the space, dry": lambda s: s.spaces.delete("a", dry_run=True),
}


@pytest.mark.parametrize("read", READINGS.values(), ids=READINGS)
def test_no_reading_of_a_says_anything_of_b(store: MemoryStore, read: object) -> None:
    answer = read(store)  # type: ignore[operator]
    hits = [h for one in (answer if isinstance(answer, list) else [answer]) for h in getattr(one, "hits", ())]
    said = repr(answer) + repr(hits) + getattr(answer, "_repr_html_", str)()
    # The query itself may stand in a recall; what memories hold may not.
    said = said.replace(f"{MINE} {THEIRS}", "").replace(f"'{THEIRS}'", "")
    assert all(hit.memory.space == "a" and all(step.target[0] == "a" for step in hit.path) for hit in hits)
    assert not any(f"b{i}" in said.split("'") for i in range(6))
    assert "b-same" not in said and f"{THEIRS} 0" not in said


@pytest.mark.parametrize("method", METHODS)
def test_what_b_holds_moves_no_score_in_a(store: MemoryStore, method: str) -> None:
    query = "harbour lamp the very same words 3"
    before = [(h.memory_id, h.score, h.relevance) for h in store.recall(query, k=99, space="a", method=method)]
    store.add_many([f"harbour lamp {i}" for i in range(30)], space="b", progress=False)
    store.delete(["b0", "b5"])
    assert [(h.memory_id, h.score, h.relevance) for h in store.recall(query, k=99, space="a", method=method)] == before


CROSSINGS = {
    "associate": (lambda s: s.associate("a0", "LEADS_TO", "b0"), InvalidAssociation),
    "associate many": (lambda s: s.associate_many([("a0", "RELATES_TO", "b0")]), InvalidAssociation),
    "move what is associated": (lambda s: s.update("a0", space="b"), InvalidMemory),
    "supersede": (lambda s: s.add("x", space="a", supersedes="b0"), UnknownMemory),
    "delete by id": (lambda s: s.delete("b0", space="a"), UnknownMemory),
    "recall nowhere": (lambda s: s.recall("x", space="c"), UnknownSpace),
    "select nowhere": (lambda s: s.select(space=["a", "c"]), UnknownSpace),
    "delete nowhere": (lambda s: s.delete(space="c"), UnknownSpace),
    "delete of all spaces": (lambda s: s.delete(space="*"), UnknownSpace),
    "a space called *": (lambda s: s.add("x", space="*"), InvalidMemory),
    "a space called by another's id": (
        lambda s: s.spaces.create(s.spaces.describe("a").space_id),
        InvalidArgument,
    ),
    "rename to another": (lambda s: s.spaces.rename("a", "b"), InvalidArgument),
    "no space at all": (lambda s: s.recall("x", space=[]), MemlabError),
}


@pytest.mark.parametrize(("call", "error"), CROSSINGS.values(), ids=CROSSINGS)
def test_nothing_crosses(store: MemoryStore, call: object, error: type[Exception]) -> None:
    before = state(store)
    with pytest.raises(error):
        call(store)  # type: ignore[operator]
    assert state(store) == before


def test_the_default_space_is_one_like_others(store: MemoryStore) -> None:
    assert found(store, MINE) == [] and store.select().empty
    assert store.delete(where={"n": {"ge": 0}}) == [] if "default" in store.spaces else True
    assert len(store) == 14


def test_repeats_are_looked_for_within_the_space(store: MemoryStore) -> None:
    assert store.add("the very same words", space="a", on_duplicate="skip") == "a-same"
    assert store.add(f"{THEIRS} 0", space="a", on_duplicate="skip") != "b0"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Home", "home"), ("caf\u00e9", "cafe\u0301"), ("x", "x "), ("a/b", "a:b"), ("1", "01"), ("İ", "i\u0307")],
    ids=["L07 case", "composition", "blank at the end", "signs", "zeros", "Turkish"],
)
def test_names_are_opaque_everywhere(one: str, other: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=16))
    for name in (one, other):
        store.add("tea", memory_id=f"in {name}", space=name)
    for name in (one, other):
        assert store.select(space=name)["memory_id"].tolist() == [f"in {name}"]
        assert all(found(store, "tea", space=name, method=method) == [f"in {name}"] for method in METHODS)
    store.spaces.delete(one)
    assert [m.space for m in store] == [other] and one not in store.spaces and other in store.spaces


def test_a_renamed_space_takes_its_memories_along_and_frees_its_name(store: MemoryStore) -> None:
    store.recall(MINE, space="a", method="hybrid")
    store.spaces.rename("a", "c")
    store.add(f"new {MINE}", memory_id="new", space="a")
    for method in METHODS:
        assert found(store, MINE, k=99, space="a", method=method) == ["new"]
        assert "new" not in found(store, MINE, k=99, space="c", method=method)
    assert store.check().ok


def test_the_deleted_spaces_words_are_gone_for_the_other(store: MemoryStore) -> None:
    store.recall(THEIRS, space="*", method="hybrid")
    assert len(store.spaces.delete("b")) == 7
    for method in METHODS:
        assert all(h.memory.space == "a" for h in store.recall(THEIRS, space="*", k=99, method=method))
    assert store.check().ok
