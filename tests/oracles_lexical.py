"""The slow, obvious twin of the lexical index."""

import math
from collections.abc import Mapping, Sequence


class PlainBM25:
    """BM25 in Lucene's form, counted from the texts at every question."""

    def __init__(self, documents: Mapping[int, Sequence[str]], k1: float = 0.9, b: float = 0.4) -> None:
        self.documents, self.k1, self.b = documents, k1, b

    def idf(self, term: str) -> float:
        n = len(self.documents)
        df = sum(term in terms for terms in self.documents.values())
        return math.log(1 + (n - df + 0.5) / (df + 0.5))

    def contribution(self, term: str, row: int) -> float:
        terms = self.documents[row]
        tf = terms.count(term) if isinstance(terms, list) else list(terms).count(term)
        if tf == 0:
            return 0.0
        mean = sum(map(len, self.documents.values())) / len(self.documents)
        return self.idf(term) * tf / (tf + self.k1 * (1 - self.b + self.b * len(terms) / mean))

    def score(self, query: Sequence[str], row: int) -> float:
        return sum(self.contribution(term, row) for term in query)

    def coverage(self, query: Sequence[str], row: int) -> float:
        whole = sum(self.idf(term) for term in set(query))
        held = sum(self.idf(term) for term in set(query) if term in self.documents[row])
        return held / whole if whole else 0.0
