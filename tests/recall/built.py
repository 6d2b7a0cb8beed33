"""Parts of a store built by hand, for tests of the room that never sees a store."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from memlab.encoders import HashEncoder
from memlab.filters import Filter
from memlab.graph import Graph
from memlab.index import DenseIndex
from memlab.lexical import LexicalIndex
from memlab.recall.channels import Parts
from memlab.recall.engine import Answer, Request, answer
from memlab.recall.method import Method, preset
from memlab.records import Association, Memory
from memlab.table import Table
from memlab.vocabulary import RELATIONS

START = datetime(2024, 5, 1, tzinfo=UTC)
NOW = datetime(2024, 6, 12, tzinfo=UTC)
ENCODER = HashEncoder(dimension=64)


def day(n: float) -> datetime:
    """So many days after the first of May 2024."""
    return START + timedelta(days=n)


def memory(memory_id: str, content: str = "something", **fields) -> Memory:
    """A memory of the first of May, or of `on` days later."""
    at = day(fields.pop("on", 0))
    return Memory(memory_id=memory_id, content=content, **{"created_at": at, "updated_at": at, **fields})


def link(source: str, relation: str, target: str, strength: float = 0.5) -> Association:
    """An association."""
    return Association(
        source=source, relation=relation, target=target, strength=strength, created_at=START, updated_at=START
    )


def parts(
    memories: Iterable[Memory], links: Iterable[Association] = (), *, encoder: HashEncoder | None = ENCODER, **relations
) -> Parts:
    """The parts that hold these memories and associations."""
    table, graph = Table(), Graph()
    dense: dict[str, DenseIndex] = {}
    lexical: dict[str, LexicalIndex] = {}
    for one in memories:
        slot = table.put(one)
        lexical.setdefault(one.space, LexicalIndex()).add([slot], [one.text])
        if encoder is not None:
            index = dense.setdefault(one.space, DenseIndex(encoder.dimension))
            index.add([slot], [encoder.encode([one.text])], [[(0, len(one.text))]])
    for association in links:
        graph.put(association)
    return Parts(table, graph, dense, lexical, {**RELATIONS, **relations})


def ask(
    made: Parts, queries: str | Sequence[str], method: str | Method = "default", *, encoder=ENCODER, **options
) -> list[Answer]:
    """Answer queries; options are those of a request."""
    queries = [queries] if isinstance(queries, str) else list(queries)
    chosen = preset(method) if isinstance(method, str) else method
    plain = {
        "k": 10, "spaces": ("default",), "wanted": Filter(), "state": "current", "at": NOW, "now": NOW,
        "zone": "UTC", "min_relevance": 0.0,
    }  # fmt: skip
    vectors = encoder.encode(queries) if chosen.dense else None
    return list(answer(made, Request(method=chosen, **{**plain, **options}), queries, vectors))


def ids(found: Answer) -> list[str]:
    """The ids of the hits, best first."""
    return [hit.memory_id for hit in found.hits]


def slots_of(made: Parts, *memory_ids: str) -> np.ndarray:
    """The slots of memories."""
    return np.array([made.table.slot(memory_id) for memory_id in memory_ids], dtype=np.intp)
