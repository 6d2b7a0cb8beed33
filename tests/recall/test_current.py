"""Who supersedes whom, and what stands for the past."""

from itertools import pairwise

import pytest
from built import day, link, memory
from hypothesis import given
from hypothesis import strategies as st
from oracles_recall import plain_heads

from memlab.recall.current import chain, heads, links_of, standing, superseded_end
from memlab.recall.method import Method
from memlab.store import MemoryStore

ALL = lambda _: True  # noqa: E731
NAMES = "abcdefg"
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), unique=True, max_size=3))


@pytest.mark.parametrize("relation", ["INVALIDATED_BY", "EVOLVED_INTO"])
def test_the_older_end_is_the_past_whichever_way_it_was_written(relation):
    old, new = memory("old", on=0), memory("new", on=1)
    assert superseded_end(link("old", relation, "new"), old, new) == "old"
    assert superseded_end(link("new", relation, "old"), new, old) == "old"


def test_on_a_tie_the_sentence_decides():
    one, other = memory("one"), memory("other")
    assert superseded_end(link("one", "EVOLVED_INTO", "other"), one, other) == "one"
    assert superseded_end(link("other", "EVOLVED_INTO", "one"), other, one) == "other"


def test_event_time_counts_before_the_time_of_writing():
    told_late = memory("told_late", on=9, happened_at=day(0))
    told_early = memory("told_early", on=1)
    association = link("told_early", "INVALIDATED_BY", "told_late")
    assert superseded_end(association, told_early, told_late) == "told_late"


def test_links_lead_from_old_to_new_and_keep_one_association_a_pair():
    known = {m.memory_id: m for m in (memory("a", on=0), memory("b", on=1), memory("c", on=2))}
    said = [link("b", "INVALIDATED_BY", "a"), link("a", "EVOLVED_INTO", "b"), link("b", "EVOLVED_INTO", "c")]
    for order in (said, said[::-1]):
        found = links_of(order, lambda name: known[name].event_time)
        assert found == {"a": {"b": said[1]}, "b": {"c": said[2]}}


def test_the_head_of_a_chain_stands_for_all_of_it():
    assert standing({"a": ["b"], "b": ["c"]}, ALL) == {"a": ("c",), "b": ("c",), "c": ("c",)}


def test_what_was_put_away_in_the_middle_does_not_bring_the_beginning_back():
    assert standing({"a": ["b"], "b": ["c"]}, lambda m: m != "b")["a"] == ("c",)


def test_without_an_active_end_the_last_active_one_is_the_head():
    found = standing({"a": ["b"], "b": ["c"]}, lambda m: m != "c")
    assert (found["a"], found["b"], found["c"]) == (("b",), ("b",), ())
    assert standing({"a": ["b"], "b": ["c"]}, lambda m: m == "a")["a"] == ("a",)


def test_a_fork_has_two_heads_and_a_diamond_one():
    assert standing({"a": ["c", "b"]}, ALL)["a"] == ("b", "c")
    assert standing({"a": ["b", "c"], "b": ["d"], "c": ["d"]}, ALL)["a"] == ("d",)


def test_of_a_cycle_the_first_active_id_is_the_head():
    ring = {"x": ["y"], "y": ["z"], "z": ["x"]}
    assert set(standing(ring, ALL).values()) == {("x",)}
    assert set(standing(ring, lambda m: m != "x").values()) == {("y",)}


def test_what_leads_into_a_cycle_is_past_though_its_id_sorts_first():
    assert heads("a", {"a": ["x"], "x": ["y"], "y": ["x"]}) == ["x"]


def test_a_cycle_with_a_way_out_is_past_as_a_whole():
    found = standing({"x": ["y"], "y": ["x", "z"]}, ALL)
    assert found["x"] == found["y"] == ("z",)


def test_a_memory_that_nothing_supersedes_stands_for_itself():
    assert heads("a", {}) == ["a"]


@given(GRAPHS, st.sets(st.sampled_from(NAMES)))
def test_heads_agree_with_their_slow_twin_on_any_graph(following, away):
    active = lambda m: m not in away  # noqa: E731
    found = standing(following, active)
    for name in {*following, *(there for others in following.values() for there in others)}:
        assert set(found[name]) == plain_heads(name, following, active)
        assert set(heads(name, following)) == plain_heads(name, following, ALL)


@given(GRAPHS, st.sets(st.sampled_from(NAMES)))
def test_what_is_active_always_has_something_current_to_show(following, away):
    found = standing(following, lambda m: m not in away)
    for name, ends in found.items():
        assert (name in away) or ends
        assert all(end not in away and found[end] == (end,) for end in ends)


def test_a_chain_of_thousands_is_followed_to_its_end():
    names = [f"m{n:05}" for n in range(20_000)]
    following = {old: [new] for old, new in pairwise(names)}
    assert standing(following, ALL)[names[0]] == (names[-1],)


def test_the_chain_is_told_in_the_associations_that_were_written():
    known = {name: memory(name, on=n) for n, name in enumerate("abcd")}
    said = [link("b", "INVALIDATED_BY", "a"), link("b", "EVOLVED_INTO", "c"), link("d", "EVOLVED_INTO", "c")]
    links = links_of(said, lambda name: known[name].event_time)
    assert chain("a", "d", links) == said
    assert chain("b", "c", links) == [said[1]]
    assert chain("d", "a", links) == []


def test_the_shortest_chain_is_told_and_of_equals_the_first_ids():
    known = {name: memory(name, on=n) for n, name in enumerate("abcd")}
    long = [link("a", "EVOLVED_INTO", "b"), link("b", "EVOLVED_INTO", "d")]
    other = [link("a", "EVOLVED_INTO", "c"), link("c", "EVOLVED_INTO", "d")]
    assert chain("a", "d", links_of([*other, *long], lambda name: known[name].event_time)) == long
    short = link("a", "EVOLVED_INTO", "d")
    assert chain("a", "d", links_of([*other, *long, short], lambda name: known[name].event_time)) == [short]


def test_a_chain_in_a_cycle_ends():
    known = {name: memory(name) for name in "xyz"}
    ring = [link("x", "EVOLVED_INTO", "y"), link("y", "EVOLVED_INTO", "z"), link("z", "EVOLVED_INTO", "x")]
    assert chain("y", "x", links_of(ring, lambda name: known[name].event_time)) == ring[1:]


def test_what_replaced_a_memory_does_not_inherit_when_that_happened():
    with MemoryStore(encoder=None) as store:
        old = store.add("The boat is blue.", memory_id="old", happened_at="2024-03-10T00:00Z")
        store.add("Paint arrived.", memory_id="other", happened_at="2024-03-12T00:00Z")
        new = store.add("It is red now.", memory_id="new", happened_at="2024-10-10T00:00Z")
        store.associate(old, "EVOLVED_INTO", new)
        method = Method("dated", lexical=0.5, temporal=0.5)
        found = store.recall("boat in March 2024", method=method, now="2024-12-01T00:00Z")
        stands = next(hit for hit in found if hit.memory_id == new)
        before = store.recall("boat in March 2024", method=method, state="history", now="2024-12-01T00:00Z")
        dated = next(hit for hit in before if hit.memory_id == old)
        assert stands.score == pytest.approx(dated.score - dated.parts["temporal"].share, abs=2e-6)
