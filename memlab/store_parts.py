"""The parts that a reading needs, complete: indexes are made or filled at the first need."""

from dataclasses import replace

from memlab.index import DenseIndex
from memlab.lexical import LexicalIndex
from memlab.recall.channels import Parts
from memlab.records import Memory
from memlab.store_state import State
from memlab.times import from_micros


class Parting(State):
    """Access to the parts, for the verbs."""

    def _counted(self, memory: Memory) -> Memory:
        return joined(memory, *self._telemetry.access_of(memory.memory_id))

    def _dense(self) -> dict[str, DenseIndex]:
        """Give the dense indexes, complete; call it while reading."""
        self._embedder.check(self._active)
        made = self._embedder.missing(self._table, progress=True)
        if made and not self._journal.read_only:
            with self._journal.transaction():
                self._embedder.keep(made)
                written = self._write(self._name_encoder(made), "memlab")
            self._apply_all(written, {})
        return self._embedder.indexes

    def _words(self) -> dict[str, LexicalIndex]:
        """Give the lexical indexes, made at the first need; call it while reading."""
        if self._lexical is None:
            by_space: dict[str, list[int]] = {}
            for memory in self._table:
                by_space.setdefault(memory.space, []).append(self._table.slots[memory.memory_id])
            self._lexical = {space: LexicalIndex() for space in by_space}
            for space, slots in by_space.items():
                self._lexical[space].add(slots, [self._table.at(slot).text for slot in slots])
        return self._lexical

    def _parts(self, dense: dict[str, DenseIndex], lexical: dict[str, LexicalIndex]) -> Parts:
        return Parts(self._table, self._graph, dense, lexical, self._relations)


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
