"""What a recall may return, settled before anything is ranked."""

import itertools

import numpy as np
import pytest
from built import NOW, day, link, memory, parts
from hypothesis import given
from hypothesis import strategies as st
from oracles_recall import plain_heads

from memlab.filters import parse_filter
from memlab.recall.candidates import active, fitting, gather
from memlab.recall.pool import KEPT
from memlab.records import Memory

ALL = parse_filter()


def gathered(made, state="current", wanted=ALL, spaces=("default",), at=NOW):
    """Candidates and lenders by id, and what stands for each lender."""
    pool = gather(made, spaces, wanted, state, at)
    names = [made.table.at(int(slot)).memory_id for slot in pool.slots]
    stands = {names[past]: sorted(names[end] for end in ends) for past, ends in pool.replaced.items()}
    return names[: pool.count], names[pool.count :], stands


def test_a_chain_leaves_its_head_and_the_rest_lends_to_it():
    made = parts(
        [memory("a"), memory("b", on=1), memory("c", on=2), memory("free")],
        [link("a", "INVALIDATED_BY", "b"), link("b", "EVOLVED_INTO", "c")],
    )
    assert gathered(made) == (["c", "free"], ["a", "b"], {"a": ["c"], "b": ["c"]})


def test_history_ranks_all():
    made = parts(
        [memory("a"), memory("b", on=1, archived=True), memory("c", valid_until=day(1))],
        [link("a", "INVALIDATED_BY", "b")],
    )
    assert gathered(made, "history") == (["a", "b", "c"], [], {})


def test_with_its_head_archived_the_old_one_is_current_again():
    made = parts([memory("a"), memory("b", on=1, archived=True)], [link("a", "INVALIDATED_BY", "b")])
    assert gathered(made) == (["a"], [], {})


def test_an_archived_or_expired_middle_does_not_bring_the_beginning_back():
    for middle in (memory("b", on=1, archived=True), memory("b", on=1, valid_until=day(2))):
        made = parts(
            [memory("a"), middle, memory("c", on=2)], [link("a", "EVOLVED_INTO", "b"), link("b", "EVOLVED_INTO", "c")]
        )
        assert gathered(made)[0] == ["c"]


def test_before_its_successor_holds_a_memory_is_current():
    made = parts([memory("a"), memory("b", on=1, valid_from=day(10))], [link("a", "EVOLVED_INTO", "b")])
    assert gathered(made, at=day(9))[0] == ["a"]
    assert gathered(made, at=day(10))[0] == ["b"]


def test_validity_begins_with_its_first_moment_and_ends_before_its_last():
    made = parts([memory("a", valid_from=day(1), valid_until=day(2))])
    assert [gathered(made, at=day(n))[0] for n in (0.99, 1, 1.99, 2)] == [[], ["a"], ["a"], []]
    assert active(made.table, day(1)).tolist() == [True]


def test_what_is_kept_is_worked_out_anew_when_a_memory_or_an_association_changes():
    made = parts([memory("a"), memory("b", on=1)])
    assert gathered(made) == (["a", "b"], [], {})
    made.graph.put(link("a", "EVOLVED_INTO", "b"))
    assert gathered(made) == (["b"], ["a"], {"a": ["b"]})
    made.table.put(memory("b", on=1, archived=True))
    assert gathered(made)[0] == ["a"]
    made.graph.remove(("a", "EVOLVED_INTO", "b"))
    made.table.remove("a")
    assert gathered(made)[0] == []


def test_what_is_kept_holds_for_its_time_space_and_filter_alone():
    made = parts(
        [
            memory("a", valid_from=day(1), valid_until=day(3), metadata={"n": 1}),
            memory("b", valid_until=day(2), metadata={"n": True}),
            memory("c", space="other", metadata={"n": 1.0}),
        ]
    )
    expected = {0: ["b"], 1: ["a", "b"], 1.5: ["a", "b"], 2: ["a"], 3: []}
    for n in (*expected, *reversed(expected), 1.5, 0, 3, 1):
        assert gathered(made, at=day(n))[0] == expected[n]
    one, yes = parse_filter(where={"n": 1}), parse_filter(where={"n": True})
    for _ in range(2):
        assert [gathered(made, at=day(1), wanted=wanted)[0] for wanted in (one, yes, ALL)] == [["a"], ["b"], ["a", "b"]]
        assert gathered(made, spaces=("other",), wanted=one)[0] == ["c"]
        assert gathered(made, spaces=("other", "default"), at=day(1))[0] == ["a", "b", "c"]
        assert gathered(made, "history", at=day(9))[0] == ["a", "b"]


def test_only_the_latest_are_kept():
    made = parts([memory(f"m{n}", metadata={"n": n}) for n in range(20)])
    for n in (*range(20), *range(20)):
        assert gathered(made, wanted=parse_filter(where={"n": n}))[0] == [f"m{n}"]
    assert len(made.held._kept) == KEPT


def test_the_head_outside_the_filter_is_not_brought_in_and_the_past_stays_past():
    made = parts([memory("a", tags=("home",)), memory("b", on=1)], [link("a", "EVOLVED_INTO", "b")])
    assert gathered(made, wanted=parse_filter(tags="home")) == ([], ["a"], {"a": []})


def test_the_past_outside_the_filter_lends_nothing():
    made = parts([memory("a"), memory("b", on=1, tags=("home",))], [link("a", "EVOLVED_INTO", "b")])
    assert gathered(made, wanted=parse_filter(tags="home")) == (["b"], [], {})


def test_spaces_are_walls():
    made = parts([memory("a"), memory("b", space="Home"), memory("c", space="home")])
    assert gathered(made)[0] == ["a"]
    assert gathered(made, spaces=("home",))[0] == ["c"]
    assert gathered(made, spaces=("Home", "default"))[0] == ["a", "b"]
    assert gathered(made, spaces=("nowhere",))[0] == []


def test_all_filters_must_hold():
    made = parts(
        [
            memory("a", tags=("x",), metadata={"n": 1}, on=1),
            memory("b", tags=("x",), metadata={"n": 2}, on=1),
            memory("c", tags=("x", "y"), metadata={"n": 1}, on=1),
            memory("d", metadata={"n": 1}, on=1),
            memory("e", tags=("x",), metadata={"n": 1}, on=5),
        ]
    )
    wanted = parse_filter(where={"n": 1}, tags="x", exclude_tags="y", since=day(1), until=day(5))
    assert gathered(made, wanted=wanted)[0] == ["a"]
    assert fitting(made.table, ("default",), wanted).tolist() == [True, False, False, False, False]


def test_bounds_in_time_are_half_open():
    made = parts([memory("a", on=1), memory("b", on=2)])
    assert gathered(made, wanted=parse_filter(since=day(1), until=day(2)))[0] == ["a"]


def test_an_empty_slot_is_never_a_candidate():
    made = parts([memory("a"), memory("b")])
    made.table.remove("a")
    for state in ("current", "history"):
        assert gathered(made, state)[0] == ["b"]


@pytest.mark.parametrize("state", ["current", "history"])
def test_an_empty_table_has_no_candidates(state):
    assert gathered(parts([]), state) == ([], [], {})


def test_places_lead_from_slots_to_candidates():
    made = parts([memory("a"), memory("b", on=1), memory("c")], [link("a", "EVOLVED_INTO", "b")])
    pool = gather(made, ("default",), ALL, "current", NOW)
    assert pool.place.tolist() == [-1, 0, 1, -1]
    assert np.array_equal(pool.slots, [1, 2, 0])


PAIRS = list(itertools.permutations("abcd", 2))


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.sets(st.sampled_from(PAIRS), max_size=5),
)
def test_what_is_current_agrees_with_the_slow_twin(days, archived, pairs):
    known: dict[str, Memory] = {
        name: memory(name, on=on, archived=away) for name, on, away in zip("abcd", days, archived, strict=True)
    }
    following: dict[str, list[str]] = {}
    for one, other in pairs:
        old, new = (other, one) if known[other].event_time < known[one].event_time else (one, other)
        following.setdefault(old, []).append(new)
    made = parts(known.values(), [link(one, "EVOLVED_INTO", other) for one, other in sorted(pairs)])
    candidates, lenders, stands = gathered(made)
    linked = {name for pair in pairs for name in pair}
    for name, one in known.items():
        ends = plain_heads(name, following, lambda m: not known[m].archived) if name in linked else {name}
        past = bool(ends) and name not in ends
        assert (name in candidates) == (not past and not one.archived)
        assert (name in lenders) == past
        if past:
            assert stands[name] == sorted(ends)
