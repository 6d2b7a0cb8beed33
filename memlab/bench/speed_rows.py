"""The rows of the speed table: what is timed, against what, and how much is allowed.

Each function measures one subject and gives its rows. Encoding with the hashing encoder is part of both sides of a
recall, and is taken off what is written; the row ``encode`` has the real model.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from memlab.bench.speed_data import FILTERS, real_texts
from memlab.bench.speed_process import apart
from memlab.bench.speed_references import fault_in
from memlab.bench.speed_world import SMALL, K, Place, Row, World, compare, row_of, seconds

ROUNDS = 40
BATCH = 64
SINGLES = 8  # recalls one by one beside a batch
ADDS = 20  # in one round
CHECKED = 16  # queries whose rankings are checked


def dense(world: World) -> list[Row]:
    """Measure dense recall of one query.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against raw ``faiss.knn`` and encoding.
    """
    return [_recall(world.large, "dense", 1.3)]


def hybrid(world: World) -> list[Row]:
    """Measure hybrid recall of one query.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against raw ``faiss.knn``, a raw bm25s query and encoding.
    """
    return [_recall(world.large, "hybrid", 1.5)]


def _recall(place: Place, method: str, at_most: float) -> Row:
    store, flat, encoder = place.store, place.flat, place.encoder
    terms = [flat.terms(query) for query in place.queries]

    def raw(i: int) -> None:
        flat.dense(encoder.encode([place.queries[i]], "query"), K)
        if method == "hybrid":
            flat.lexical(terms[i], K)

    return compare(
        f"{method} recall",
        at_most,
        lambda i: seconds(lambda: store.recall(place.queries[i], K, method=method)),
        lambda i: seconds(lambda: raw(i)),
        ROUNDS,
        _fault(place, method, place.everything()),
    )


def _fault(place: Place, method: str, fits: npt.NDArray[np.bool_], **bounds: Any) -> str | None:
    """Look for a wrong ranking, by the unfiltered scores of all memories restricted to those that fit."""
    for query in place.queries[:CHECKED]:
        found = place.store.recall(query, K, method=method, **bounds)
        right = place.flat.scores(method, query, place.encoder.encode([query], "query"), fits)
        fault = fault_in([place.ids[hit.memory_id] for hit in found], right, K)
        if fault:
            return f"{method} recall of {query!r} with {bounds or 'no filter'}: {fault}"
    return None


def filtered(world: World) -> list[Row]:
    """Measure recall under filters that let half, a tenth and a hundredth through.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against the same recall unfiltered, for dense and hybrid recall.
    """
    place, rows = world.large, []
    store, queries = place.store, place.queries
    for method in ("dense", "hybrid"):
        for (share, bounds), at_most in zip(FILTERS.items(), (1.0, 0.5, 0.2), strict=True):

            def ours(i: int, method: str = method, bounds: dict[str, Any] = bounds) -> float:
                return seconds(lambda: store.recall(queries[i], K, method=method, **bounds))

            def unfiltered(i: int, method: str = method) -> float:
                return seconds(lambda: store.recall(queries[i], K, method=method))

            fault = _fault(place, method, place.fits[share], **bounds)
            what = f"{method} recall under a {share} filter"
            rows.append(compare(what, at_most, ours, unfiltered, ROUNDS, fault))
    return rows


def batch(world: World) -> list[Row]:
    """Measure a batch of 64 queries, per query.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against recalls one by one, for dense and hybrid recall.
    """
    store, queries, rows = world.large.store, world.large.queries[:BATCH], []
    for method in ("dense", "hybrid"):

        def together(i: int, method: str = method) -> float:
            return seconds(lambda: store.recall(queries, K, method=method)) / len(queries)

        def alone(i: int, method: str = method) -> float:
            some = [queries[(i * SINGLES + j) % len(queries)] for j in range(SINGLES)]
            return seconds(lambda: [store.recall(query, K, method=method) for query in some]) / len(some)

        rows.append(compare(f"{method} recall, a query of a batch of {BATCH}", 0.2, together, alone, 7))
    return rows


def add(world: World) -> list[Row]:
    """Measure one add, without encoding.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against raw inserts of the same rows; in a larger store than one of a thousand also there, and the larger
        against the smaller. For "the same at both" half as much again is allowed, since a larger file's index has
        a deeper tree.
    """
    places = [world.large] if world.n <= SMALL else [world.small, world.large]
    pairs: list[list[tuple[float, float]]] = []
    for turn in range(ROUNDS + 1):
        found = [_add_some(place) for place in places]
        if turn:
            pairs.append(found)
    rows = [row_of("one add", 3, [found[-1] for found in pairs])]
    if len(places) == 2:
        rows.append(row_of(f"one add at {SMALL:,} memories", 3, [found[0] for found in pairs]))
        against = [(found[1][0], found[0][0]) for found in pairs]
        rows.append(row_of(f"one add against one at {SMALL:,} memories", 1.5, against))
    return rows


def _add_some(place: Place) -> tuple[float, float]:
    """Time some adds and the raw inserts of the same rows, per row."""
    store, encoder, items = place.store, place.encoder, place.more(ADDS)
    encoding = encoder.seconds
    ours = seconds(lambda: [store.add(**item) for item in items]) - (encoder.seconds - encoding)
    rows = place.raw_rows([item["memory_id"] for item in items])

    def write_raw() -> None:
        for row in rows:
            place.raw.insert(row)

    reference = seconds(write_raw)
    return ours / ADDS, reference / ADDS


def add_many(world: World) -> list[Row]:
    """Measure 10,000 memories in one add_many, without encoding.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against one raw ``executemany`` of the same rows.
    """
    place, count = world.large, 10_000
    store, encoder = place.store, place.encoder
    pending: list[list[tuple[Any, ...]]] = []

    def ours(i: int) -> float:
        items, encoding = place.more(count), encoder.seconds
        taken = seconds(lambda: store.add_many(items, progress=False)) - (encoder.seconds - encoding)
        pending.append(place.raw_rows([item["memory_id"] for item in items]))
        return taken

    def raw(i: int) -> float:
        rows = pending.pop()
        return seconds(lambda: place.raw.insert_many(rows))

    return [compare(f"{count:,} in one add_many", 3, ours, raw, 3)]


def memories(world: World) -> list[Row]:
    """Measure the live frame after an add.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against one ``pd.concat`` of a row at that size.
    """
    place = world.large
    store = place.store
    frame = store.memories
    row = frame.iloc[[-1]].copy()

    def ours(i: int) -> float:
        store.add(**place.more(1)[0])
        return seconds(lambda: store.memories)

    def concat(i: int) -> float:
        return seconds(lambda: pd.concat([frame, row], ignore_index=True))

    return [compare(".memories after one add", 0.6, ours, concat, ROUNDS)]


def opening(world: World) -> list[Row]:
    """Measure opening until the first hybrid recall is answered, in a process of its own.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against reading the same rows and vectors raw.
    """
    place = world.large
    pairs = apart("open", str(place.path), str(place.raw_path), place.queries[0], "3")
    return [row_of("open until the first hybrid recall", 4, pairs)]


def memory(world: World) -> list[Row]:
    """Measure the memory that a process takes for an open store after its first hybrid recall.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against the bytes of vectors and contents.
    """
    place = world.large
    taken = float(apart("memory", str(place.path), place.queries[0]))
    least = float(place.vectors.nbytes + place.text_bytes)
    return [Row("memory of the process", 2.5, taken / least, taken, least, unit="B")]


def encode(world: World) -> list[Row]:
    """Measure encoding 2,000 real texts of mixed length with all-MiniLM-L6-v2, and storing them once more.

    Parameters
    ----------
    world : World
        What to measure on.

    Returns
    -------
    list of Row
        Against one ``SentenceTransformer.encode`` of all.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    from memlab.model_files import DEFAULT_MODEL, find_model
    from memlab.sentence_encoder import SentenceTransformerEncoder
    from memlab.store import MemoryStore

    threads, texts = torch.get_num_threads(), real_texts()
    torch.set_num_threads(1)
    try:
        encoder = SentenceTransformerEncoder(DEFAULT_MODEL, device="cpu")
        model = SentenceTransformer(str(find_model(DEFAULT_MODEL).path), device="cpu")
        encoder.encode(texts[:BATCH])  # loads the model
        model.encode(texts[:BATCH], show_progress_bar=False)
        pairs, again = [], []
        with MemoryStore(encoder=encoder) as store:
            store.add_many(texts, progress=world.progress)
            for _ in range(3):
                mine = seconds(lambda: encoder.encode(texts, progress=world.progress))
                whole = seconds(lambda: model.encode(texts, show_progress_bar=False))
                pairs.append((mine, whole))
                again.append((seconds(lambda: store.add_many(texts, progress=False)), whole))
    finally:
        torch.set_num_threads(threads)
    count = f"{len(texts):,} real texts"
    return [row_of(f"encoding {count}", 1.05, pairs), row_of(f"storing the same {count} again", 0.05, again)]


# In the order in which they are measured: what writes comes after what reads, so that all reading is of n memories.
ROWS: dict[str, Callable[[World], list[Row]]] = {
    "dense": dense,
    "hybrid": hybrid,
    "filter": filtered,
    "batch": batch,
    "open": opening,
    "memory": memory,
    "add": add,
    "memories": memories,
    "add_many": add_many,
    "encode": encode,
}
