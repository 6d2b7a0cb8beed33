"""Kind C: empty, white space, missing.

Law: what shows nothing is no content, no query and no name, whichever invisible characters it is made of. A call
with a blank or a missing argument is an error that changes nothing, and nothing comes back that looks like success.
"""

import numpy as np
import pandas as pd
import pytest
from worlds import diary, state

from memlab.errors import InvalidArgument, InvalidAssociation, InvalidMemory, MemlabError
from memlab.store import MemoryStore

BLANK = {
    "C03 empty": "",
    "C04 blanks": "   ",
    "line ends": "\n\r\t\x0b\x0c",
    "no-break space": "\u00a0",
    "ideographic space": "\u3000",
    "zero width": "\u200b\u200c\u200d\u2060",
    "byte order mark": "\ufeff",
    "direction marks": "\u200e\u200f\u202a\u202c",
    "soft hyphen": "\u00ad",
    "control characters": "\x01\x1f\x7f",
    "fillers": "\u115f\u3164\u2800",
    "selectors": "\ufe0f\U000e0100",
}
NO_TEXT = {
    "None": None,
    "a number": 5,
    "a bool": True,
    "bytes": b"tea",
    "a list": ["tea"],
    "NaN": float("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "an array": np.array([1.5]),
}
CALLS = {
    "content": lambda s, v: s.add(v),
    "memory_id": lambda s, v: s.add("x", memory_id="" if v is None else v),
    "space": lambda s, v: s.add("x", space="" if v is None else v),
    "a tag": lambda s, v: s.add("x", tags=[v]),
    "an alias": lambda s, v: s.add("x", aliases=[v]),
    "role": lambda s, v: s.add("x", role="" if v is None else v),
    "an item": lambda s, v: s.add_many([v], progress=False),
    "an item's content": lambda s, v: s.add_many([{"content": v}], progress=False),
    "new content": lambda s, v: s.update("move", content=v),
    "new space": lambda s, v: s.update("garden", space=v),
    "source": lambda s, v: s.associate(v, "LEADS_TO", "garden"),
    "relation": lambda s, v: s.associate("move", v, "garden"),
    "an id to delete": lambda s, v: s.delete([v]),
    "a space to delete": lambda s, v: s.spaces.delete(v),
    "a space's name": lambda s, v: s.spaces.create(v),
    "a query": lambda s, v: s.recall(v) if not isinstance(v, list) else s.recall([v]),
    "a query of many": lambda s, v: s.recall(["x", v]),
    "actor": lambda s, v: s.add("x", actor=v),
}


@pytest.mark.parametrize("value", [*BLANK.values(), *NO_TEXT.values()], ids=[*BLANK, *NO_TEXT])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_blank_is_refused_and_changes_nothing(call: object, value: object) -> None:
    store = diary(encoder=None)
    before = state(store)
    with pytest.raises(MemlabError):
        call(store, value)  # type: ignore[operator]
    assert state(store) == before


@pytest.mark.parametrize("item", [{}, {"tags": ["x"]}, {"content": None}, {"text": "tea"}], ids=str)
def test_an_item_without_content_says_what_is_missing_or_unknown(item: dict[str, object]) -> None:
    store = diary(encoder=None)
    with pytest.raises(InvalidMemory, match="content"):
        store.add_many([item], progress=False)


def test_c05_add_without_its_argument_is_a_type_error() -> None:
    store = diary(encoder=None)
    with pytest.raises(TypeError, match="content"):
        store.add()  # type: ignore[call-arg]


@pytest.mark.parametrize("item", [(), ("move",), ("move", "LEADS_TO"), {}, {"source": "move", "target": "garden"}])
def test_an_association_without_its_three_parts_is_refused(item: object) -> None:
    with pytest.raises(InvalidAssociation):
        diary(encoder=None).associate_many([item])


def test_nothing_to_do_is_done_without_a_trace() -> None:
    store = diary(encoder=None)
    before = state(store)
    assert store.add_many([], progress=False) == []
    assert store.add_many(pd.DataFrame({"content": []}), progress=False) == []
    assert store.update_many([], progress=False) == store.associate_many([]) == store.delete([]) == []
    assert store.recall([]) == []
    assert state(store) == before


def test_an_empty_store_answers_every_reading() -> None:
    store = MemoryStore(encoder=None)
    assert len(store) == 0 and list(store) == [] and "x" not in store
    assert len(store.recall("anything")) == 0
    assert len(store.memories) == len(store.associations) == len(store.log()) == len(store.select()) == 0
    assert store.check().ok and len(store.graph) == 0 and len(store.spaces) == 0


def test_forget_and_delete_of_nothing_are_told_from_delete_without_a_word() -> None:
    store = diary(encoder=None)
    assert store.delete([]) == []
    with pytest.raises(InvalidArgument, match="nothing says what to delete"):
        store.delete()
