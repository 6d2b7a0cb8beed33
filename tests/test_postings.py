"""Postings counted at once are those counted one document after another."""

from array import array
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memlab.postings import count_terms, packed, postings


@given(st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=6))
def test_postings_are_those_counted_one_by_one(documents: list[list[int]]) -> None:
    owners, terms, counts = count_terms([term for terms in documents for term in terms], list(map(len, documents)))
    expected = [(at, term, n) for at, found in enumerate(documents) for term, n in sorted(Counter(found).items())]
    assert list(zip(owners.tolist(), terms.tolist(), counts.tolist(), strict=True)) == expected
    found = {}
    for term, held, often, df in postings(owners, terms, counts):
        found[term] = list(zip(array("i", held), array("i", often), strict=True))
        assert len(found[term]) == df
    assert found == {
        term: [(at, n) for at, other, n in expected if other == term] for term in {term for _, term, _ in expected}
    }


def test_packed_numbers_are_an_array_that_grows() -> None:
    made = packed("q", np.array([3, 1]))
    made.append(7)
    assert made == array("q", [3, 1, 7])
