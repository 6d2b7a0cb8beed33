"""What is said of a hit, and how relevant it is."""

import numpy as np
import pytest
from built import ENCODER, NOW, ask, day, memory, parts, slots_of
from hypothesis import given
from hypothesis import strategies as st

from memlab.index import DenseIndex
from memlab.phrases import find_phrases
from memlab.recall.evidence import Witness, relevance

SHARES = st.floats(0, 1)


def test_relevance_is_one_minus_the_product_of_the_doubts():
    # 1 - (1 - .36)(1 - .25) = .52
    assert relevance(np.array([0.6]), np.array([0.5])).tolist() == pytest.approx([0.52])


def test_one_channel_is_enough():
    assert relevance(np.array([0.6]), None).tolist() == pytest.approx([0.36])
    assert relevance(None, np.array([0.5])).tolist() == pytest.approx([0.25])


def test_unknown_and_opposite_vectors_say_nothing():
    assert relevance(np.array([np.nan, -0.9]), np.array([0.0, 0.5])).tolist() == [0.0, 0.25]


def test_without_any_evidence_it_refuses():
    with pytest.raises(ValueError, match="needs cosine or coverage"):
        relevance(None, None)


@given(st.floats(-1, 1), st.floats(-1, 1), SHARES, SHARES)
def test_relevance_grows_with_either_reason_and_stays_in_bounds(c1, c2, v1, v2):
    low = relevance(np.array([min(c1, c2)]), np.array([min(v1, v2)]))[0]
    high = relevance(np.array([max(c1, c2)]), np.array([max(v1, v2)]))[0]
    assert 0 <= low <= high <= 1


@pytest.fixture
def made():
    """Two memories, one with all that evidence can name."""
    return parts(
        [
            memory("a", "Ana moved the boxes.", role="Ana", happened_at=day(2), importance=0.8, confidence=0.5),
            memory("b", "Tea is green."),
        ]
    )


def witness(made, query):
    """A witness of one query."""
    return Witness(made, query, ENCODER.encode([query])[0], find_phrases(query, NOW))


def test_lexical_evidence_names_the_words_of_the_query_and_what_each_adds(made):
    slot = int(slots_of(made, "a")[0])
    score = made.lexical["default"].scores("boxes Ana was moving", 2)[slot]
    part = witness(made, "boxes Ana was moving").part("lexical", slot, score, 0.4)
    assert set(part.detail["terms"]) == {"boxes", "ana", "moving"}
    assert sum(part.detail["terms"].values()) == pytest.approx(part.score, abs=1e-5)
    assert all(word in part.detail["says"] for word in ("boxes", "ana", "moving"))
    assert (part.score, part.share) == (round(score, 6), 0.4)


def test_dense_evidence_of_one_window_is_the_cosine_alone(made):
    part = witness(made, "boxes").part("dense", 0, 0.123456789, 0.5)
    assert (part.score, part.detail) == (0.123457, {"says": "cosine"})


def test_dense_evidence_of_a_long_memory_names_its_best_window_in_the_content():
    one = memory("a", "green tea " * 30 + "The boat is red.", role="Ana")
    made = parts([one], encoder=None)
    index = made.dense["default"] = DenseIndex(ENCODER.dimension)
    spans = [(0, 150), (130, 300), (290, len(one.text))]
    index.add([0], [ENCODER.encode([one.text[a:b] for a, b in spans])], [spans])
    part = witness(made, "the red boat").part("dense", 0, 0.9, 0.9)
    # The rendered text begins with "Ana: ", five characters that the content lacks.
    assert part.detail["window"] == (285, len(one.content))
    assert "The boat is red." in one.content[slice(*part.detail["window"])]
    assert "characters 285 to 316" in part.detail["says"]
    first = witness(made, "Ana green tea").part("dense", 0, 0.9, 0.9)
    assert first.detail["window"] == (0, 145)


def test_temporal_evidence_names_the_dates_of_query_and_memory(made):
    says = witness(made, "in May 2024").part("temporal", 0, 1.0, 0.1).detail["says"]
    assert says == ("'in May 2024' = [2024-05-01T00:00:00+00:00, 2024-06-01T00:00:00+00:00); it happened 2024-05-03")
    assert "was written 2024-05-01" in witness(made, "in May 2024").part("temporal", 1, 1.0, 0.1).detail["says"]


def test_salience_names_what_it_is_made_of(made):
    says = witness(made, "x").part("salience", 0, 0.2, 0.1).detail["says"]
    assert says == "importance 0.80, confidence 0.50, 2024-05-03"


def test_every_part_of_a_hit_has_a_sentence(made):
    (found,) = ask(made, "what did Ana move in May 2024?")
    assert set(found.hits[0].parts) == {"dense", "lexical", "temporal", "salience"}
    assert all(part.detail["says"] for hit in found.hits for part in hit.parts.values())
