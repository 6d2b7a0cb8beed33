"""Kind O: scores.

Law: higher is better in every channel, and the first hit has the highest score. A cosine stays in [-1, 1], relevance
in [0, 1]; ``min_relevance`` means "at least". The same numbers stand in hits, frame and explanation.
"""

import numpy as np
import pytest
from worlds import METHODS, Given, diary

from memlab.encoders import HashEncoder
from memlab.errors import InvalidArgument, MethodError
from memlab.store import MemoryStore

VECTORS = {"same": (1, 0), "near": (0.9, 0.1), "across": (0, 1), "opposite": (-1, 0), "asked": (1, 0)}


def compass() -> MemoryStore:
    """A store whose memories lie in known directions from the query "asked"."""
    store = MemoryStore(encoder=Given(lambda text: VECTORS[text]))  # type: ignore[arg-type]
    for name in ("opposite", "across", "same", "near"):
        store.add(name, memory_id=name)
    return store


def test_o01_o04_the_nearest_has_the_largest_score_and_all_are_in_range() -> None:
    answer = compass().recall("asked", k=4, method="dense", state="history")
    assert [hit.memory_id for hit in answer][:2] == ["same", "near"]
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True)
    for hit in answer:
        assert -1 <= hit.parts["dense"].score <= 1 and 0 <= hit.relevance <= 1
    assert answer[0].parts["dense"].score == pytest.approx(1.0)


def test_a_cosine_is_never_above_one_however_the_digits_fall() -> None:
    rng = np.random.default_rng(0)
    made = {f"v{i}": rng.normal(size=3) * 10.0 ** rng.integers(-30, 30) for i in range(200)}
    store = MemoryStore(encoder=Given(lambda text: made[text], dimension=3))  # type: ignore[arg-type]
    store.add_many(list(made), progress=False)
    for query in list(made)[:40]:
        best = store.recall(query, k=1, method="dense")[0]
        assert best.memory.content == query and 0.9999 < best.parts["dense"].score <= 1


@pytest.mark.parametrize("method", METHODS)
def test_scores_fall_and_agree_wherever_they_stand(method: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=32))
    store.add_many([f"tea {'rain ' * i}" for i in range(9)], progress=False)
    answer = store.recall("tea in the rain", k=9, method=method)
    scores = [hit.score for hit in answer]
    assert scores == sorted(scores, reverse=True) and np.isfinite(scores).all()
    assert answer.frame["score"].tolist() == scores
    assert answer.frame["relevance"].tolist() == [hit.relevance for hit in answer]
    assert f"{scores[0]:.3f}" in repr(answer.explain(1))
    assert all(0 <= hit.relevance <= 1 for hit in answer)


@pytest.mark.parametrize("method", METHODS)
def test_o03_a_threshold_means_at_least(method: str) -> None:
    store = MemoryStore(encoder=HashEncoder(dimension=32))
    store.add_many(["green tea", "tea", "some rain", "nothing alike"], progress=False)
    every = store.recall("green tea", k=9, method=method)
    for bound in (0.0, *{hit.relevance for hit in every}, 1.0):
        kept = store.recall("green tea", k=9, method=method, min_relevance=bound)
        assert [h.memory_id for h in kept] == [h.memory_id for h in every if h.relevance >= bound]


@pytest.mark.parametrize("bound", [-0.1, 1.1, float("nan"), "0.5", None, True, [0.5], 90], ids=repr)
def test_a_threshold_out_of_range_is_refused(bound: object) -> None:
    with pytest.raises(InvalidArgument):
        diary().recall("Ana", min_relevance=bound)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ranking",
    [[("move", 0.1), ("garden", 0.9)], [("move", float("nan"))], [("move", float("inf"))], [("move", "high")]],
    ids=["worst first, a distance", "NaN", "infinity", "text"],
)
def test_a_method_of_ones_own_can_give_no_distance(ranking: object) -> None:
    with pytest.raises(MethodError):
        diary().recall("Ana", method=lambda store, query, k: ranking)


def test_o07_the_documented_direction_is_the_one_that_holds() -> None:
    store = diary()
    first, *rest = store.recall("Ana moved to Oslo", k=3)
    assert first.rank == 1 and first.memory_id == "move"
    assert all(first.score >= hit.score for hit in rest)
