"""Small stores to do harm to, and ways to see that none was done."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memlab.encoders import HashEncoder
from memlab.store import MemoryStore

METHODS = ("lexical", "dense", "hybrid", "default")


def diary(**options: Any) -> MemoryStore:
    """A store of three memories, two of them associated, in two spaces."""
    store = MemoryStore(**{"encoder": HashEncoder(dimension=32), **options})
    store.add("Ana moved to Oslo.", memory_id="move", tags=["home"], metadata={"city": "Oslo", "n": 1})
    store.add("Ben grows tomatoes.", memory_id="garden", metadata={"n": 2})
    store.add("Cleo hides the key.", memory_id="key", space="attic")
    store.associate("move", "LEADS_TO", "garden")
    return store


def state(store: MemoryStore) -> str:
    """Everything a store holds and its log, as one text; telemetry aside."""
    parts: list[object] = [replace(memory, access_count=0, accessed_at=None) for memory in store]
    parts += [repr(store.spaces), *(frame.to_numpy().tolist() for frame in (store.associations, store.log()))]
    return repr(parts)


def found(store: MemoryStore, query: str, **options: Any) -> list[str]:
    """The ids that a recall gives, best first."""
    return [hit.memory_id for hit in store.recall(query, **options)]


class Given:
    """An encoder whose vectors a test decides, text by text."""

    name = fingerprint = "given"

    def __init__(self, give: Callable[[str], Sequence[float]], dimension: int = 2) -> None:
        self.give, self.dimension = give, dimension

    def encode(self, texts: Sequence[str], kind: str = "passage", progress: bool = False) -> npt.NDArray[np.float32]:
        """Give them."""
        return np.array([self.give(text) for text in texts], dtype=np.float32).reshape(len(texts), -1)
