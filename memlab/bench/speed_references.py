"""What memlab's speed is measured against: the same work done raw, by the libraries below it.

* :class:`Flat`: ``faiss.knn`` over a float32 matrix, and bm25s over the same terms;
* :class:`RawFile`: one SQLite table with the same rows and vectors, through apsw, WAL and synchronous NORMAL.

They know nothing of memlab's store, so its rankings are checked against them as well.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from memlab.encoders import HashEncoder, Kind
from memlab.errors import MissingExtra
from memlab.lexical import LexicalIndex
from memlab.recall.fuse import fuse
from memlab.recall.method import preset
from memlab.records import STORED, Memory, memory_row

Vectors = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]
TOLERANCE = 1e-5  # of fused scores: the references count in float32, and recall rounds to six digits


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold FAISS, BLAS and OpenMP to one thread within a block."""
    import faiss
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        faiss.omp_set_num_threads(before)


class TimedEncoder(HashEncoder):
    """The hashing encoder with a clock, so that what encoding takes can be told from the rest.

    Parameters
    ----------
    dimension : int, default 384
        Numbers in a vector.
    """

    def __init__(self, dimension: int = 384) -> None:
        super().__init__(dimension)
        self.seconds = 0.0

    def encode(self, texts: Sequence[str], kind: Kind = "passage", progress: bool = False) -> Vectors:
        """Encode texts, and add what it took to ``seconds``.

        Parameters
        ----------
        texts : sequence of str
            What to encode.
        kind : {"passage", "query"}, default "passage"
            Makes no difference.
        progress : bool, default False
            Whether to show a bar.

        Returns
        -------
        ndarray of float32, shape (len(texts), dimension)
            As the hashing encoder gives them.
        """
        begin = perf_counter()
        rows = super().encode(texts, kind, progress)
        self.seconds += perf_counter() - begin
        return rows


class Flat:
    """Raw dense and lexical search over the same vectors and terms.

    Parameters
    ----------
    texts : sequence of str
        The memories' texts, as the store renders them.
    vectors : ndarray of float32, shape (n, dimension)
        Their unit vectors.

    Raises
    ------
    MissingExtra
        If bm25s isn't installed.
    """

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        try:
            import bm25s
        except ImportError as error:
            raise MissingExtra("bm25s, the reference of lexical speed, isn't installed; pip install bm25s") from error
        self.vectors = vectors
        self._analyser = LexicalIndex()
        self._bm25 = bm25s.BM25(k1=self._analyser.k1, b=self._analyser.b, method="lucene")
        self._bm25.index([self._analyser.analyse(text) for text in texts], show_progress=False)

    def dense(self, vector: Vectors, k: int) -> None:
        """Find the k nearest by ``faiss.knn``.

        Parameters
        ----------
        vector : ndarray of float32, shape (1, dimension)
            The query's.
        k : int
            How many.
        """
        import faiss

        faiss.knn(vector, self.vectors, k, faiss.METRIC_INNER_PRODUCT)

    def terms(self, query: str) -> list[str]:
        """Give a query's terms, as the store's own lexical index takes them.

        Parameters
        ----------
        query : str
            The query.

        Returns
        -------
        list of str
            Its terms.
        """
        return self._analyser.analyse_query(query)

    def lexical(self, terms: list[str], k: int) -> None:
        """Find the k best by bm25s.

        Parameters
        ----------
        terms : list of str
            The query's.
        k : int
            How many.

        Notes
        -----
        As bm25s ships it. Where few memories hold a term, most of its time goes into picking k among equal zeros:
        at 100,000 memories 20 ms, where the scores take less than 0.1 ms.
        """
        self._bm25.retrieve([terms], k=k, show_progress=False)

    def scores(self, method: str, query: str, vector: Vectors, fits: npt.NDArray[np.bool_]) -> Scores:
        """Score all memories: the unfiltered scores of each channel, restricted, then fused.

        Parameters
        ----------
        method : {"dense", "hybrid"}
            Which channels.
        query : str
            The query.
        vector : ndarray of float32, shape (1, dimension)
            Its vector.
        fits : ndarray of bool, shape (n,)
            Which memories a filter lets through.

        Returns
        -------
        ndarray of float64, shape (n,)
            Higher is better; -inf where the filter lets none through.
        """
        found = {"dense": (self.vectors[fits] @ vector[0]).astype(np.float64)}
        if method == "hybrid":
            words = self._bm25.get_scores(self.terms(query)).astype(np.float64)[fits]
            found["lexical"] = np.where(words > 0, words, np.nan)
        shares, _ = fuse(found, preset(method).weights, preset(method).fusion, preset(method).rrf_k)
        out = np.full(len(fits), -np.inf)
        out[fits] = np.sum(list(shares.values()), axis=0)
        return out


def fault_in(found: Sequence[int], scores: Scores, k: int) -> str | None:
    """Say what is wrong with a ranking, None where it is exact.

    Parameters
    ----------
    found : sequence of int
        The numbers of the memories found, best first.
    scores : ndarray of float64, shape (n,)
        The right scores by number, -inf for what must not be found.
    k : int
        How many were asked for.

    Returns
    -------
    str or None
        The first fault. Memories whose scores differ by less than 1e-5 may stand in either order.

    Examples
    --------
    >>> right = np.array([0.9, 0.5, -np.inf, 0.7])
    >>> fault_in([0, 3], right, 2) is None
    True
    >>> fault_in([0, 1], right, 2)
    'place 2 has memory 1 of score 0.500000, where the best one left has 0.700000'
    """
    best = np.sort(scores)[::-1][:k]
    best = best[best > -np.inf]
    if len(set(found)) != len(found) or len(found) != len(best):
        return f"{len(set(found))} different memories were found, where {len(best)} are right"
    for place, (at, right) in enumerate(zip(found, best.tolist(), strict=True), start=1):
        if scores[at] == -np.inf:
            return f"place {place} has memory {at}, which the filter doesn't let through"
        if abs(scores[at] - right) > TOLERANCE:
            return f"place {place} has memory {at} of score {scores[at]:.6f}, where the best one left has {right:.6f}"
    return None


def raw_row(memory: Memory, vector: Vectors) -> tuple[Any, ...]:
    """Give a memory and its vector as the values of one row of SQLite.

    Parameters
    ----------
    memory : Memory
        The memory.
    vector : ndarray of float32, shape (dimension,)
        Its vector.

    Returns
    -------
    tuple
        The stored fields in order, containers as JSON; the vector's bytes.
    """
    row = memory_row(memory)
    plain = (json.dumps(row[name]) if isinstance(row[name], dict | list) else row[name] for name in STORED)
    return (*(int(value) if isinstance(value, bool) else value for value in plain), vector.tobytes())


class RawFile:
    """One SQLite table of memories with their vectors, written and read with nothing around it.

    Parameters
    ----------
    path : Path
        The file; made if it isn't there.
    """

    insert_sql = f"INSERT INTO memories VALUES ({','.join('?' * (len(STORED) + 1))})"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = apsw.Connection(str(path))
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("synchronous", "normal")
        others = ", ".join(name for name in STORED if name != "memory_id")
        columns = f"memory_id TEXT PRIMARY KEY, {others}, vector BLOB"
        self._db.execute(f"CREATE TABLE IF NOT EXISTS memories ({columns})")

    def insert(self, row: tuple[Any, ...]) -> None:
        """Write one row in a transaction of its own.

        Parameters
        ----------
        row : tuple
            As :func:`raw_row` gives it.
        """
        self._db.execute(self.insert_sql, row)

    def insert_many(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows in one transaction, by one ``executemany``.

        Parameters
        ----------
        rows : iterable of tuple
            As :func:`raw_row` gives them.
        """
        with self._db:
            self._db.executemany(self.insert_sql, rows)

    def read(self) -> list[tuple[Any, ...]]:
        """Read all rows and vectors.

        Returns
        -------
        list of tuple
            As they were written.
        """
        return self._db.execute("SELECT * FROM memories").fetchall()

    def close(self) -> None:
        """Close the file."""
        self._db.close()
