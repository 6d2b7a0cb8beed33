"""Lexical recall: BM25 over an index that can forget.

Idea: a memory speaks of what a query asks if it holds the query's rarer words, more often than a
memory of its length would by chance.

.. math::

    score(q, d) = \\sum_{t \\in q} idf(t) \\frac{tf(t, d)}{tf(t, d) + k_1 (1 - b + b |d| / \\overline{|d|})},
    \\qquad idf(t) = \\ln(1 + \\frac{N - df(t) + 1/2}{df(t) + 1/2})

with N documents, df(t) of them with term t, and lengths \\|d\\| in terms: the Lucene form, where a
term that a query repeats counts as often as it stands there [1]_ [2]_.

Each term has two growing integer arrays, its *postings*: documents and frequencies. A document's
number is given once and never again, so removing one only marks its number dead, while N, df and
the mean length are brought up to date at once: scores are those of an index built afresh. When a
quarter of the postings is dead, the arrays are made anew.

References
----------
.. [1] S. Robertson, H. Zaragoza, "The probabilistic relevance framework: BM25 and beyond",
   Foundations and Trends in Information Retrieval 3(4), 2009.
.. [2] C. Kamphuis, A. de Vries, L. Boytsov, J. Lin, "Which BM25 do you mean?", ECIR 2020.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memlab.errors import MethodError
from memlab.terms import Analyser

__all__ = ["LexicalIndex", "TermEvidence"]

_Floats = npt.NDArray[np.float64]

_MOST_DEAD = 0.25  # share of postings and documents


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """What one query term adds to one document's score.

    Parameters
    ----------
    term : str
        The term as indexed: folded, stemmed.
    surface : str
        The query's word it comes from, the first if there are several.
    idf : float
        How rare the term is: its inverse document frequency.
    tf : int
        How often the document holds it.
    contribution : float
        Its share of the score; the contributions sum to the score.
    """

    term: str
    surface: str
    idf: float
    tf: int
    contribution: float


class LexicalIndex:
    """An incremental BM25 index of documents that are named by row numbers.

    Parameters
    ----------
    k1 : float, default 0.9
        How soon repeats of a term stop counting; 0 or more.
    b : float, default 0.4
        How far long documents are held back, from 0 (not at all) to 1.
    language : str, default "english"
        Snowball algorithm that stems the words; see :class:`memlab.terms.Analyser`.

    Raises
    ------
    MethodError
        `language` has no stemmer, or `k1` or `b` is out of range.

    Notes
    -----
    Not safe for several threads at once: the caller holds the lock.

    Examples
    --------
    >>> index = LexicalIndex()
    >>> index.add([0, 7], ["Ana moved from Porto to Oslo.", "Bo likes the sea."])
    >>> index.scores("who moved to Oslo?", 8).round(2).tolist()
    [0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, k1: float = 0.9, b: float = 0.4, language: str = "english") -> None:
        if not (0 <= k1 < math.inf and 0 <= b <= 1):
            raise MethodError(f"BM25 with k1={k1}, b={b} makes no sense; give k1 >= 0 and b in [0, 1]")
        self.k1, self.b, self.language = k1, b, language
        self._analyser = Analyser(language)
        # By term number.
        self._number_of: dict[str, int] = {}
        self._documents: list[array[int]] = []
        self._frequencies: list[array[int]] = []
        self._df: list[int] = []
        # By document number: its row (-1 if dead), its length, where its terms begin in `_terms`.
        self._rows = array("q")
        self._lengths = array("q")
        self._starts = array("q", [0])
        self._terms = array("i")
        self._document_of: dict[int, int] = {}
        self._length = 0
        self._dead = 0
        self._norms: _Floats | None = None

    def __len__(self) -> int:
        return len(self._document_of)

    def __contains__(self, row: int) -> bool:
        return row in self._document_of

    def analyse(self, text: str) -> list[str]:
        """Return the terms of a document, as :meth:`memlab.terms.Analyser.terms` gives them.

        Parameters
        ----------
        text : str
            The document.

        Returns
        -------
        list of str
            In order, repeats kept.
        """
        return self._analyser.terms(text)

    def analyse_query(self, text: str) -> list[str]:
        """Return the terms of a query: those of a document without stop words.

        Parameters
        ----------
        text : str
            The query.

        Returns
        -------
        list of str
            In order, repeats kept. A query of stop words only keeps them all.
        """
        return [term for term, _ in self._analyser.query_terms(text)]

    def add(self, rows: Sequence[int], texts: Sequence[str]) -> None:
        """Add documents; all or none.

        Parameters
        ----------
        rows : sequence of int
            Their numbers, 0 or more, in any order and with any gaps.
        texts : sequence of str
            Their texts, one for each row. A text without terms counts as a document of length 0.

        Raises
        ------
        ValueError
            The lengths differ, or a row is negative, repeated or taken: remove it first to replace it.
        """
        if len(rows) != len(texts):
            raise ValueError(f"{len(rows)} rows came with {len(texts)} texts; give one text for each row")
        numbers = [int(row) for row in rows]
        taken = [row for row in numbers if row < 0 or row in self._document_of]
        if taken or len(set(numbers)) < len(numbers):
            raise ValueError(
                f"rows {taken[:5] or numbers[:5]} are negative, repeated or taken; remove a row before adding it again"
            )
        analysed = [self.analyse(text) for text in texts]
        for row, terms in zip(numbers, analysed, strict=True):
            self._append(row, terms)
        self._norms = None

    def remove(self, rows: Iterable[int]) -> None:
        """Remove documents; all or none.

        Parameters
        ----------
        rows : iterable of int
            Their numbers.

        Raises
        ------
        KeyError
            A row isn't in the index, or is given twice.
        """
        numbers = [int(row) for row in rows]
        unknown = [row for row in numbers if row not in self._document_of]
        if unknown or len(set(numbers)) < len(numbers):
            raise KeyError(f"rows {unknown[:5] or numbers[:5]} aren't in the index, or are given twice")
        for row in numbers:
            document = self._document_of.pop(row)
            begin, end = self._starts[document], self._starts[document + 1]
            for number in self._terms[begin:end]:
                self._df[number] -= 1
            self._rows[document] = -1
            self._length -= self._lengths[document]
            self._dead += end - begin + 1
        self._norms = None
        if self._dead > _MOST_DEAD * (len(self._terms) + len(self._rows)):
            self._compact()

    def scores(self, query: str, n_rows: int) -> _Floats:
        """Score every document.

        Parameters
        ----------
        query : str
            The query.
        n_rows : int
            How many scores to give: above the highest row in the index.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            The score of each row, 0 or more, higher is better; 0 where no term matches and where the
            index has no such row.

        Raises
        ------
        ValueError
            The index has a row of `n_rows` or above.
        """
        by_document = np.zeros(len(self._rows))
        norms = self._norms_now()
        for term, count in Counter(self.analyse_query(query)).items():
            number = self._number_of.get(term)
            if number is not None:
                documents, tf = np.array(self._documents[number]), np.array(self._frequencies[number])
                by_document[documents] += count * self._idf(term) * (tf / (tf + norms[documents]))
        return self._by_row(by_document, n_rows)

    def coverage(self, query: str, n_rows: int) -> _Floats:
        """Tell how much of the query each document speaks of, whatever the order of the scores.

        Parameters
        ----------
        query : str
            The query.
        n_rows : int
            How many values to give: above the highest row in the index.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            The summed idf of the distinct query terms that the row holds, over that of all distinct query
            terms, in [0, 1]. A term that no document holds weighs most, so it lowers every value.

        Raises
        ------
        ValueError
            The index has a row of `n_rows` or above.
        """
        terms = set(self.analyse_query(query))
        by_document = np.zeros(len(self._rows))
        for term in sorted(terms & self._number_of.keys()):
            by_document[np.array(self._documents[self._number_of[term]])] += self._idf(term)
        whole = math.fsum(map(self._idf, terms))
        return np.minimum(self._by_row(by_document, n_rows) / (whole or 1.0), 1.0)

    def explain(self, query: str, row: int) -> list[TermEvidence]:
        """Tell which query terms a document matches, and what each adds to its score.

        Parameters
        ----------
        query : str
            The query.
        row : int
            The document's number.

        Returns
        -------
        list of TermEvidence
            The largest contribution first, ties in the order of the query; empty if nothing matches.

        Raises
        ------
        KeyError
            The row isn't in the index.
        """
        if row not in self._document_of:
            raise KeyError(f"row {row} isn't in the index")
        document = self._document_of[row]
        pairs = self._analyser.query_terms(query)
        counts = Counter(term for term, _ in pairs)
        surfaces = dict(reversed(pairs))
        found = []
        for term, count in counts.items():
            if tf := self._frequency(term, document):
                idf = self._idf(term)
                share = count * idf * tf / (tf + float(self._norms_now()[document]))
                found.append(TermEvidence(term, surfaces[term], idf, tf, share))
        return sorted(found, key=lambda evidence: -evidence.contribution)

    def _append(self, row: int, terms: list[str]) -> None:
        """Give a document the next number and write its postings."""
        document = len(self._rows)
        for term, tf in Counter(terms).items():
            number = self._number_of.get(term)
            if number is None:
                number = self._number_of[term] = len(self._df)
                self._documents.append(array("i"))
                self._frequencies.append(array("i"))
                self._df.append(0)
            self._documents[number].append(document)
            self._frequencies[number].append(tf)
            self._df[number] += 1
            self._terms.append(number)
        self._rows.append(row)
        self._lengths.append(len(terms))
        self._starts.append(len(self._terms))
        self._document_of[row] = document
        self._length += len(terms)

    def _idf(self, term: str) -> float:
        """Return a term's inverse document frequency; greatest if no document holds it."""
        number = self._number_of.get(term)
        df = 0 if number is None else self._df[number]
        return math.log(1 + (len(self) - df + 0.5) / (df + 0.5))

    def _frequency(self, term: str, document: int) -> int:
        """Return how often a document holds a term; documents stand in a posting in rising order."""
        number = self._number_of.get(term)
        if number is None:
            return 0
        documents = self._documents[number]
        place = bisect_left(documents, document)
        hit = place < len(documents) and documents[place] == document
        return self._frequencies[number][place] if hit else 0

    def _norms_now(self) -> _Floats:
        """Return k1 (1 - b + b |d| / mean length) of every document number."""
        if self._norms is None:
            mean = self._length / len(self) if self._length else 1.0
            self._norms = self.k1 * (1 - self.b + self.b * np.array(self._lengths) / mean)
        return self._norms

    def _by_row(self, by_document: _Floats, n_rows: int) -> _Floats:
        """Carry values from document numbers to rows, leaving out the dead."""
        # Copied, not viewed: an array that lends out its memory can't grow, and a traceback that a
        # notebook keeps would hold the loan.
        rows = np.array(self._rows)
        if rows.size and rows.max() >= n_rows:
            raise ValueError(f"n_rows is {n_rows} but the index has row {rows.max()}; give at least one more")
        found = np.flatnonzero((by_document > 0) & (rows >= 0))
        values = np.zeros(n_rows)
        values[rows[found]] = by_document[found]
        return values

    def _compact(self) -> None:
        """Write everything anew without dead documents and without terms that none holds."""
        rows, sizes = np.array(self._rows), np.diff(np.array(self._starts))
        live = rows >= 0
        renumbered = (np.cumsum(live) - 1).astype(np.int32)
        kept = np.array(self._df, dtype=np.int64) > 0
        renamed = (np.cumsum(kept) - 1).astype(np.int32)
        for number in np.flatnonzero(kept).tolist():
            documents = np.array(self._documents[number])
            here = live[documents]
            self._documents[number] = _packed("i", renumbered[documents[here]])
            self._frequencies[number] = _packed("i", np.array(self._frequencies[number])[here])
        self._documents = [entry for entry, keep in zip(self._documents, kept, strict=True) if keep]
        self._frequencies = [entry for entry, keep in zip(self._frequencies, kept, strict=True) if keep]
        self._df = [df for df in self._df if df]
        self._number_of = {term: int(renamed[number]) for term, number in self._number_of.items() if kept[number]}
        self._terms = _packed("i", renamed[np.array(self._terms)[np.repeat(live, sizes)]])
        self._starts = _packed("q", np.concatenate([[0], np.cumsum(sizes[live])]))
        self._lengths = _packed("q", np.array(self._lengths)[live])
        self._rows = _packed("q", rows[live])
        self._document_of = {row: document for document, row in enumerate(self._rows)}
        self._dead = 0


def _packed(code: str, values: npt.NDArray[np.integer]) -> "array[int]":
    packed = array(code)
    packed.frombytes(values.astype(code).tobytes())
    return packed
