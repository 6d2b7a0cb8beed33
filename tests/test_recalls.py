"""What a recall gives, explains and shows; and two states side by side."""

import dataclasses
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from strategies import texts

from memlab.errors import MethodError
from memlab.recalls import Hit, Part, Recall, Step
from memlab.records import Association, Memory
from memlab.snapshots import Diff

T0 = datetime(2024, 5, 8, 12, tzinfo=UTC)
BASE = ["rank", "memory_id", "score", "relevance"]


def memory(memory_id: str, content: str = "Tea.", **fields: Any) -> Memory:
    return Memory(memory_id=memory_id, content=content, created_at=T0, updated_at=T0, **fields)


def recall(*hits: Hit, **fields: Any) -> Recall:
    given_fields: dict[str, Any] = {
        "recall_id": "r1",
        "query": "tea?",
        "k": 10,
        "method": "hybrid",
        "hits": hits,
        "spaces": ("default",),
        "now": T0,
        "store_seq": 1,
        "candidates": 5,
        **fields,
    }
    return Recall(**given_fields)


FIRST = Hit(
    1,
    memory("m1", "Ana drinks tea."),
    0.9,
    0.8,
    {
        "dense": Part(0.5, 0.3, {"says": "reads like the query"}),
        "lexical": Part(7.25, 0.6, {"says": "tea"}),
    },
)
SECOND = Hit(
    2,
    memory("m2", "Ana is in Oslo.", happened_at="0987-05-08T00:00Z"),
    0.2,
    0.1,
    {"spread": Part(0.4, 0.2)},
    (Step("m1", "LEADS_TO", "m2", start="m1"), Step("m2", "PART_OF", "m3", start="m3")),
)
FOUND = recall(FIRST, SECOND, seconds={"lexical": 0.00123})


def test_a_recall_is_a_sequence_from_0_with_ranks_from_1() -> None:
    assert len(FOUND) == 2
    assert FOUND[0] is FIRST
    assert FOUND[-1] is SECOND
    assert FOUND[:1] == (FIRST,)
    assert FOUND[5:] == ()
    assert list(FOUND) == [FIRST, SECOND]
    assert list(reversed(FOUND)) == [SECOND, FIRST]
    assert SECOND in FOUND
    assert FOUND.index(SECOND) == 1
    assert FOUND.ids == ["m1", "m2"]
    with pytest.raises(IndexError):
        FOUND[2]


def test_an_explanation_lists_the_strongest_reason_first_and_the_path_last() -> None:
    assert str(FOUND.explain(1)) == (
        "#1 m1 (score 0.900, relevance 0.80): Ana drinks tea.\n"
        "  lexical      tea: 7.250, adds 0.600, 1.2 ms\n"
        "  dense        reads like the query: 0.500, adds 0.300"
    )
    assert FOUND.explain(2).reasons == (
        ("spread", "0.400, adds 0.200"),
        ("path", "m1 -[LEADS_TO]-> m2; m3 <-[PART_OF]- m2"),
    )


def test_a_rank_from_a_frame_is_a_rank_too() -> None:
    assert FOUND.explain(np.int64(2)) == FOUND.explain(2)  # type: ignore[arg-type]


@pytest.mark.parametrize("rank", [0, 3, -1, True, 1.0, "1", None])
def test_a_rank_that_is_not_there_is_refused(rank: Any) -> None:
    with pytest.raises(MethodError, match="ranks 1 to 2"):
        FOUND.explain(rank)


def test_an_empty_recall_explains_that_it_has_no_hits() -> None:
    with pytest.raises(MethodError, match="no hits"):
        recall().explain(1)


def test_the_frame_has_a_column_for_each_channel() -> None:
    frame = FOUND.frame
    assert list(frame.columns) == [*BASE, "dense", "lexical", "spread", "space", "content"]
    assert frame["rank"].tolist() == [1, 2]
    assert frame["lexical"].tolist()[0] == 0.6
    assert np.isnan(frame["lexical"].tolist()[1])


def test_the_frame_of_an_empty_recall_has_the_same_columns_and_types() -> None:
    empty = recall().frame
    assert list(empty.columns) == [*BASE, "space", "content"]
    assert len(empty) == 0
    assert empty.dtypes.equals(FOUND.frame[empty.columns].dtypes)


def test_changing_a_frame_does_not_change_the_recall() -> None:
    frame = FOUND.frame
    frame.loc[0, "score"] = 99
    assert FOUND.frame.loc[0, "score"] == 0.9
    with pytest.raises(dataclasses.FrozenInstanceError):
        FOUND.hits = ()  # type: ignore[misc]


@given(texts(), texts())
def test_any_text_can_be_shown(content: str, query: str) -> None:
    found = recall(Hit(1, memory(content, content), 0.5, 0.5), query=query, notes=(content,))
    assert len(repr(found).split("\n")[1].splitlines()) == 1
    html = found._repr_html_() + found.explain(1)._repr_html_()
    assert "<script" not in html.lower()
    html.encode("utf-8")


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "</td><img src=x onerror=alert(1)>"])
def test_markup_in_a_memory_is_shown_as_text(text: str) -> None:
    part = {text: Part(0.5, 0.5, {"says": text})}
    found = recall(Hit(1, memory(text, text), 0.5, 0.5, part, (Step(text, text, "b", "b"),)), query=text, notes=(text,))
    diff = Diff(added=(memory(text, text),))
    for shown in (found._repr_html_(), found.explain(1)._repr_html_(), diff._repr_html_()):
        assert "<script" not in shown
        assert "<img" not in shown
        assert "&lt;" in shown


def test_pictures_and_text_from_right_to_left_stay_whole() -> None:
    for text in ("👩‍👩‍👧‍👦 🇳🇴 says hi", "שלום עולם", "雪が降る"):
        found = recall(Hit(1, memory("m", text), 0.5, 0.5))
        assert text in repr(found)
        assert text in found._repr_html_()


def test_a_day_before_the_year_1000_keeps_its_four_digits() -> None:
    assert "0987-05-08" in FOUND._repr_html_()


def test_a_diff_is_true_when_something_differs_and_lists_it() -> None:
    edge = Association(source="a", relation="EVOLVED_INTO", target="b", created_at=T0, updated_at=T0)
    other = dataclasses.replace(edge, relation="CITES")
    diff = Diff(added=(memory("n"),), changed=((memory("m"), memory("m", "Coffee.")),), associated=(edge, other))
    assert diff
    assert not Diff()
    assert diff.frame["change"].tolist() == ["added", "changed", "associated", "associated"]
    assert diff.frame["text"].tolist()[1] == "Coffee."
    assert diff.superseded == (edge,)
    assert repr(diff) == "Diff(1 added, 0 removed, 1 changed, 2 associated, 0 dissociated)"
    assert list(Diff().frame.columns) == ["change", "what", "text"]
