"""The parts that a reading needs, complete: indexes are made or filled at the first need."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memlab.errors import StoreBusy, UnknownMemory, shown
from memlab.index import DenseIndex
from memlab.lexical import LexicalIndex
from memlab.recall.channels import Parts
from memlab.records import Memory
from memlab.store_commit import Committing
from memlab.store_vectors import Embedding
from memlab.times import from_micros


class Parting(Committing):
    """Access to the parts, for the verbs."""

    def _counted(self, memory: Memory) -> Memory:
        return joined(memory, *self._telemetry.access_of(memory.memory_id))

    def _found(self, memory_id: Any) -> Memory:
        """Find a memory by its id or an alias."""
        if not isinstance(memory_id, str):
            raise UnknownMemory(f"no memory has the id {shown(memory_id)}: ids are str, not {type(memory_id).__name__}")
        return self._table.get(memory_id)

    def _dense(self) -> dict[str, DenseIndex]:
        """Give the dense indexes, complete; call it while reading."""
        self._embedder.check(self._active)
        made = self._embedder.missing(self._table, progress=True)
        if made and not self._journal.read_only:
            # Vectors are a cache: a reading needn't fail because others write for long.
            with suppress(StoreBusy):
                self._keep(made)
        return self._embedder.indexes

    def _keep(self, made: Mapping[str, Embedding]) -> None:
        """Keep vectors that a reading made. What is written is applied when the store catches up next, in order."""
        with self._journal.transaction():
            active = next((row for row in self._journal.current("encoder") if row["active"]), None)
            self._write(self._name_encoder(made, active), "memlab")
            self._embedder.keep(made)

    def _words(self) -> dict[str, LexicalIndex]:
        """Give the lexical indexes, made at the first need; call it while reading."""
        return self._take_words() if self._lexical is None or self._unsaid else self._lexical

    def _parts(self, dense: dict[str, DenseIndex], lexical: dict[str, LexicalIndex]) -> Parts:
        return Parts(self._table, self._graph, dense, lexical, self._relations, self._held)


def joined(memory: Memory, count: int, last: int) -> Memory:
    """Join a memory with how often it was recalled.

    Parameters
    ----------
    memory : Memory
        The memory.
    count, last : int
        How often, and when last in microseconds.

    Returns
    -------
    Memory
        With its access counts.
    """
    return replace(memory, access_count=count, accessed_at=from_micros(last)) if count else memory
