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
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memlab.errors import MethodError
from memlab.postings import count_terms, packed, postings
from memlab.terms import Analyser, TermEvidence

__all__ = ["LexicalIndex", "TermEvidence"]

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.integer]

_MOST_DEAD = 0.25  # share of postings and documents


class _Asked(NamedTuple):
    """A query's term that the index holds: its first word, how often it is asked for, its idf and its postings."""

    term: str
    surface: str
    times: int
    idf: float
    documents: _Integers  # rising
    frequencies: _Integers


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
        self._numbers: npt.NDArray[np.int64] | None = None  # what `_rows` holds
        self._asked: tuple[str, list[_Asked], float] | None = None

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
        self._append(numbers, analysed)
        self._norms = self._numbers = self._asked = None

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
        self._norms = self._numbers = self._asked = None
        if self._dead > _MOST_DEAD * (len(self._terms) + len(self._rows)):
            self._compact()

    def matches(self, query: str) -> tuple[npt.NDArray[np.int64], _Floats]:
        """Score the documents that hold a term of a query.

        Parameters
        ----------
        query : str
            The query.

        Returns
        -------
        rows : ndarray of int64, shape (n,)
            Their numbers, each once, in no order that means anything.
        scores : ndarray of float64, shape (n,)
            Above 0, higher is better.
        """
        by_document = np.zeros(len(self._rows))
        norms, found = self._norms_now(), [np.empty(0, dtype=np.intp)]
        for asked in self._ask(query)[0]:
            so_far = by_document[asked.documents]
            found.append(asked.documents[so_far == 0])
            share = asked.frequencies / (asked.frequencies + norms[asked.documents])
            by_document[asked.documents] = so_far + asked.times * asked.idf * share
        documents = np.concatenate(found)
        rows = self._numbers_now()[documents]
        live = rows >= 0
        return rows[live], by_document[documents[live]]

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
        numbers = self._numbers_now()
        if numbers.size and numbers.max() >= n_rows:
            raise ValueError(f"n_rows is {n_rows} but the index has row {numbers.max()}; give at least one more")
        values = np.zeros(n_rows)
        rows, scores = self.matches(query)
        values[rows] = scores
        return values

    def coverage(self, query: str, rows: Sequence[int]) -> _Floats:
        """Tell how much of the query documents speak of, whatever the order of the scores.

        Parameters
        ----------
        query : str
            The query.
        rows : sequence of int
            The documents' numbers.

        Returns
        -------
        ndarray of float64, shape (n,)
            The summed idf of the distinct query terms that the document holds, over that of all distinct query
            terms, in [0, 1]; 0 where the index has no such row. A term that no document holds weighs most, so it
            lowers every value.
        """
        terms, whole = self._ask(query)
        held = np.zeros(len(rows))
        wanted = np.array([self._document_of.get(row, -1) for row in rows], dtype=np.int64)
        for asked in terms:
            places = np.minimum(asked.documents.searchsorted(wanted), len(asked.documents) - 1)
            held[asked.documents[places] == wanted] += asked.idf
        return np.minimum(held / (whole or 1.0), 1.0)

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
        norm, found = float(self._norms_now()[document]), []
        for asked in self._ask(query)[0]:
            place = int(asked.documents.searchsorted(document))
            if place < len(asked.documents) and asked.documents[place] == document:
                tf = int(asked.frequencies[place])
                share = asked.times * asked.idf * tf / (tf + norm)
                found.append(TermEvidence(asked.term, asked.surface, asked.idf, tf, share))
        return sorted(found, key=lambda evidence: -evidence.contribution)

    def _append(self, rows: list[int], analysed: list[list[str]]) -> None:
        """Give documents the next numbers and write their postings."""
        first, known, lengths = len(self._rows), self._number_of, list(map(len, analysed))
        numbers = [known.setdefault(term, len(known)) for terms in analysed for term in terms]
        for _ in range(len(self._df), len(known)):
            self._documents.append(array("i"))
            self._frequencies.append(array("i"))
            self._df.append(0)
        documents, terms, counts = count_terms(numbers, lengths)
        for term, owners, often, df in postings(documents + first, terms, counts):
            self._documents[term].frombytes(owners)
            self._frequencies[term].frombytes(often)
            self._df[term] += df
        ends = self._starts[-1] + np.cumsum(np.bincount(documents, minlength=len(rows)))
        self._terms.extend(packed("i", terms))
        self._starts.extend(packed("q", ends))
        self._rows.extend(rows)
        self._lengths.extend(lengths)
        self._document_of.update(zip(rows, range(first, first + len(rows)), strict=True))
        self._length += sum(lengths)

    def _idf(self, term: str) -> float:
        """Return a term's inverse document frequency; greatest if no document holds it."""
        number = self._number_of.get(term)
        df = 0 if number is None else self._df[number]
        return math.log(1 + (len(self) - df + 0.5) / (df + 0.5))

    def _norms_now(self) -> _Floats:
        """Return k1 (1 - b + b |d| / mean length) of every document number."""
        if self._norms is None:
            mean = self._length / len(self) if self._length else 1.0
            self._norms = self.k1 * (1 - self.b + self.b * np.array(self._lengths) / mean)
        return self._norms

    def _numbers_now(self) -> npt.NDArray[np.int64]:
        """Return the row of every document number, -1 for the dead."""
        if self._numbers is None:
            # Copied, not viewed: an array that lends out its memory can't grow, and a traceback that a
            # notebook keeps would hold the loan.
            self._numbers = np.array(self._rows, dtype=np.int64)
        return self._numbers

    def _ask(self, query: str) -> tuple[list[_Asked], float]:
        """Return a query's terms that the index holds, and the summed idf of all its terms.

        The last query is remembered: it is scored once, and then each of its hits is explained by it.
        """
        if self._asked is None or self._asked[0] != query:
            pairs = self._analyser.query_terms(query)
            surfaces, counts = dict(reversed(pairs)), Counter(term for term, _ in pairs)
            terms = []
            for term, times in counts.items():
                if (number := self._number_of.get(term)) is not None:
                    postings = np.array(self._documents[number]), np.array(self._frequencies[number])
                    terms.append(_Asked(term, surfaces[term], times, self._idf(term), *postings))
            self._asked = query, terms, math.fsum(map(self._idf, counts))
        return self._asked[1:]

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
            self._documents[number] = packed("i", renumbered[documents[here]])
            self._frequencies[number] = packed("i", np.array(self._frequencies[number])[here])
        self._documents = [entry for entry, keep in zip(self._documents, kept, strict=True) if keep]
        self._frequencies = [entry for entry, keep in zip(self._frequencies, kept, strict=True) if keep]
        self._df = [df for df in self._df if df]
        self._number_of = {term: int(renamed[number]) for term, number in self._number_of.items() if kept[number]}
        self._terms = packed("i", renamed[np.array(self._terms)[np.repeat(live, sizes)]])
        self._starts = packed("q", np.concatenate([[0], np.cumsum(sizes[live])]))
        self._lengths = packed("q", np.array(self._lengths)[live])
        self._rows = packed("q", rows[live])
        self._document_of = {row: document for document, row in enumerate(self._rows)}
        self._norms = self._numbers = self._asked = None
        self._dead = 0
