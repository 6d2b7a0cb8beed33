"""What is drawn of a store, how it is marked, and what is said of the rest."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from frames import links, memories

from memlab.views.graph import GraphView, view
from memlab.views.scene import MOST_RADIUS
from memlab.vocabulary import MEMORY_TYPES, RELATIONS


def ids(made: GraphView) -> list[str]:
    return [dot.memory_id for dot in made.scene.dots]


def test_the_most_important_memories_are_drawn_and_ties_go_by_id() -> None:
    made = view(memories(5, importance=[0.1, 0.9, 0.5, 0.5, np.nan]), limit=3)
    assert ids(made) == ["m1", "m2", "m3"]
    assert made.scene.summary == "3 of 5 memories shown · 0 associations"


def test_only_associations_among_the_drawn_are_drawn_and_the_others_are_counted() -> None:
    pairs = links(("m0", "LEADS_TO", "m1"), ("m1", "LEADS_TO", "m2"), ("m0", "LEADS_TO", "ghost"))
    made = view((memories(3, importance=[0.9, 0.8, 0.1]), pairs), limit=2)
    assert [(line.source, line.target) for line in made.scene.lines] == [(0, 1)]
    assert made.scene.notes == ("2 more associations have an end that isn't shown.",)


def test_parallel_associations_are_all_drawn_apart_and_keep_their_direction(tmp_path: Path) -> None:
    pairs = links(("m0", "LEADS_TO", "m1"), ("m0", "CONTRADICTS", "m1"), ("m1", "RELATES_TO", "m0"))
    made = view((memories(2), pairs))
    drawn = {(line.source, line.relation.name, line.target) for line in made.scene.lines}
    assert drawn == {(0, "LEADS_TO", 1), (0, "CONTRADICTS", 1), (1, "RELATES_TO", 0)}
    # Seen from the first memory, no two bend the same way.
    assert len({line.bend * (1 if line.source == 0 else -1) for line in made.scene.lines}) == 3
    (edges,) = re.findall(
        r"edges = new vis\.DataSet\((\[.*?\])\);", made.to_html(tmp_path / "graph.html").read_text(encoding="utf-8")
    )
    assert [(e["from"], e["to"]) for e in json.loads(edges)] == [(0, 1), (0, 1), (1, 0)]


def test_colours_and_dashes_are_those_of_the_vocabulary() -> None:
    every = [("m0", name, "m1") for name in RELATIONS]
    made = view((memories(len(MEMORY_TYPES), type=list(MEMORY_TYPES)), links(*every)))
    assert {line.relation for line in made.scene.lines} == set(RELATIONS.values())
    assert {dot.type: dot.colour for dot in made.scene.dots} == {t.name: t.colour for t in MEMORY_TYPES.values()}


def test_types_of_ones_own_get_free_colours_until_none_is_left() -> None:
    made = view(memories(12, type=["Decision", None, *(f"T{i}" for i in range(10))]))
    named = {dot.type for dot in made.scene.dots}
    assert named == {"Decision", "no type", "other types", *(f"T{i}" for i in range(6))}
    colours = {dot.type: dot.colour for dot in made.scene.dots}
    assert len(set(colours.values())) == len(colours)


def test_the_area_of_a_dot_grows_with_importance_and_is_never_too_small() -> None:
    low, half, high, unknown = (
        dot.radius for dot in view(memories(4, importance=[1, 0.5, 0, np.nan])).scene.dots[::-1]
    )
    low, unknown, half, high = sorted((low, half, high, unknown))
    assert low == unknown >= 4
    assert high == MOST_RADIUS
    assert half**2 == pytest.approx((low**2 + high**2) / 2, rel=1e-3)


def test_a_line_is_wider_where_the_association_is_stronger() -> None:
    pairs = links(("m0", "LEADS_TO", "m1"), ("m1", "LEADS_TO", "m2"), ("m2", "LEADS_TO", "m0"), strength=[0, np.nan, 1])
    widths = [line.width for line in view((memories(3), pairs)).scene.lines]
    assert widths == sorted(widths)
    assert widths[0] > 0


@pytest.mark.parametrize(("first", "second", "past"), [(1, 2, "m0"), (2, 1, "m1"), (1, 1, "m0"), (None, None, "m0")])
def test_the_older_end_is_superseded_and_on_a_tie_the_source(first: int | None, second: int | None, past: str) -> None:
    when = pd.to_datetime([first and f"2024-01-0{first}", second and f"2024-01-0{second}"], utc=True)
    made = view((memories(2, happened_at=when), links(("m0", "EVOLVED_INTO", "m1"))))
    assert {dot.memory_id: dot.state for dot in made.scene.dots} == {"m0": "current", "m1": "current"} | {
        past: "superseded"
    }


def test_a_memory_superseded_by_one_that_is_not_drawn_is_still_drawn_as_superseded() -> None:
    made = view((memories(2, importance=[0.9, 0.1]), links(("m0", "INVALIDATED_BY", "m1"))), limit=1)
    assert made.scene.dots[0].state == "superseded"


def test_a_memory_whose_successor_is_archived_is_current_again() -> None:
    made = view((memories(2, archived=[False, True]), links(("m0", "EVOLVED_INTO", "m1"))))
    assert {dot.memory_id: dot.state for dot in made.scene.dots} == {"m0": "current", "m1": "archived"}


def test_of_a_cycle_of_successors_the_first_id_stays_current() -> None:
    made = view((memories(2), links(("m0", "EVOLVED_INTO", "m1"), ("m1", "EVOLVED_INTO", "m0"))))
    assert {dot.memory_id: dot.state for dot in made.scene.dots} == {"m0": "current", "m1": "superseded"}


def test_an_archived_memory_is_marked() -> None:
    assert [dot.state for dot in view(memories(2, archived=[True, False])).scene.dots] == ["archived", "current"]
