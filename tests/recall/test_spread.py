"""Evidence that flows to neighbours in a session and over associations."""

from itertools import pairwise

import numpy as np
import pytest
from built import link
from hypothesis import given
from hypothesis import strategies as st

from memlab.recall.spread import over_associations, to_neighbours
from memlab.recalls import Step
from memlab.vocabulary import RELATIONS, custom_relation

RELATIONS_OF_OWN = {
    **RELATIONS,
    "CITES": custom_relation("CITES", weight=0.5),
    "MUTE": custom_relation("MUTE", weight=0),
}


def neighbours(scores, order, share=0.5, size=None):
    """What candidates gain, where `order` lists the slots of one session's turns in order."""
    slots = np.arange(len(scores))
    size = len(scores) if size is None else size
    before, after = np.full(size, -1), np.full(size, -1)
    for one, other in pairwise(order):
        after[one], before[other] = other, one
    place = np.full(size + 1, -1)
    place[slots] = slots
    return to_neighbours(np.array(scores), slots, place, (before, after), share).tolist()


def test_a_turn_lends_to_the_turns_right_before_and_after_it():
    assert neighbours([0.0, 0.8, 0.0, 0.0], [0, 1, 2, 3]) == [0.4, 0.0, 0.4, 0.0]


def test_a_turn_between_two_gains_from_both():
    assert neighbours([0.2, 0.0, 0.6], [0, 1, 2]) == pytest.approx([0.0, 0.4, 0.0])


def test_what_is_no_candidate_neither_lends_nor_gains():
    # Slot 2 stands between 1 and no one, and isn't among the two candidates.
    assert neighbours([0.4, 0.6], [0, 2, 1], size=3) == [0.0, 0.0]


def test_memories_in_no_session_gain_nothing():
    assert neighbours([0.5, 0.7], []) == [0.0, 0.0]


def spread(scores, links, seeds=None, share=1.0, names=None):
    """Gains by name and paths by name."""
    names = list(names or scores)
    values = np.array([scores[name] for name in names])
    order = sorted(range(len(names)), key=lambda at: (-values[at], names[at]))
    gain, paths = over_associations(
        values,
        order if seeds is None else [names.index(name) for name in seeds],
        names.__getitem__,
        lambda name: names.index(name) if name in names else -1,
        lambda name: [a for a in links if name in (a.source, a.target)],
        RELATIONS_OF_OWN,
        share,
    )
    found = {name: float(value) for name, value in zip(names, gain, strict=True)}
    return found, {names[at]: step for at, step in paths.items()}


def test_the_gain_is_score_times_strength_times_weight():
    gain, paths = spread(
        {"a": 0.8, "b": 0.1, "c": 0.1}, [link("a", "LEADS_TO", "b", 0.5), link("c", "CITES", "a", 1.0)]
    )
    assert gain == pytest.approx({"a": 0.0, "b": 0.4, "c": 0.4})
    assert paths == {"b": Step("a", "LEADS_TO", "b", "a"), "c": Step("c", "CITES", "a", "a")}


def test_a_relation_or_an_association_of_no_weight_lends_nothing():
    gain, paths = spread({"a": 0.8, "b": 0.1}, [link("a", "MUTE", "b", 1.0), link("a", "LEADS_TO", "b", 0.0)])
    assert gain == {"a": 0.0, "b": 0.0}
    assert paths == {}


def test_evidence_flows_downhill_only():
    links = [link("low", "LEADS_TO", "high", 1.0), link("even", "LEADS_TO", "high", 1.0)]
    gain, paths = spread({"low": 0.1, "high": 0.5, "even": 0.5}, links)
    assert gain == {"low": 0.5, "high": 0.0, "even": 0.0}
    assert set(paths) == {"low"}


def test_the_largest_gift_counts_and_is_the_path():
    links = [link("a", "LEADS_TO", "c", 0.2), link("b", "RELATES_TO", "c", 1.0), link("a", "PART_OF", "c", 0.5)]
    gain, paths = spread({"a": 0.9, "b": 0.5, "c": 0.0}, links)
    assert gain["c"] == pytest.approx(0.5)
    assert paths["c"] == Step("b", "RELATES_TO", "c", "b")


@given(st.permutations(["LEADS_TO", "RELATES_TO", "PART_OF", "REINFORCES"]))
def test_of_equal_gifts_the_first_triple_is_the_path_whatever_came_first(relations):
    links = [link("a", relation, "b", 0.5) for relation in relations]
    assert spread({"a": 0.9, "b": 0.0}, links)[1]["b"].relation == "LEADS_TO"


def test_what_the_filters_cut_is_not_brought_in():
    gain, paths = spread({"a": 0.9}, [link("a", "LEADS_TO", "elsewhere", 1.0)])
    assert (gain, paths) == ({"a": 0.0}, {})


def test_only_seeds_lend():
    gain, _ = spread({"a": 0.9, "b": 0.8, "c": 0.0}, [link("b", "LEADS_TO", "c", 1.0)], seeds=["a"])
    assert gain["c"] == 0.0


def test_a_cycle_is_walked_once():
    links = [link("a", "LEADS_TO", "b", 1.0), link("b", "LEADS_TO", "c", 1.0), link("c", "LEADS_TO", "a", 1.0)]
    gain, _ = spread({"a": 0.9, "b": 0.6, "c": 0.3}, links, share=0.5)
    assert gain == pytest.approx({"a": 0.0, "b": 0.45, "c": 0.45})
