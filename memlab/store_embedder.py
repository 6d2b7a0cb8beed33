"""The store's embeddings: from texts to vectors in the dense indexes, through the cache in the file.

Opening a store never loads a model, the first encoding does. Vectors are read from the file when a recall first
needs them; what has none yet is encoded then and kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memlab.encoders import Encoder, encode_checked, spec_of, store_fingerprint
from memlab.errors import EncoderMismatch
from memlab.index import DenseIndex
from memlab.journal import Journal
from memlab.journal_vectors import Kept, VectorCache
from memlab.records import TEMPLATE, Memory
from memlab.store_vectors import Embedding, Vectors, read_indexes, text_key
from memlab.table import Table
from memlab.values import dumps
from memlab.windows import windows_of


def _mark(key: bytes) -> int:
    """Shorten a key: two that share it cost a question to the file, no more."""
    return int.from_bytes(key[:8], "little")


class Embedder:
    """One store's encoder, its vector cache and its dense indexes.

    Parameters
    ----------
    journal : Journal
        Where vectors are kept.
    encoder : Encoder or None
        None for a store without a dense channel.
    """

    def __init__(self, journal: Journal, encoder: Encoder | None) -> None:
        self.encoder = encoder
        self.cache = VectorCache(journal)
        self.journal = journal
        self.indexes: dict[str, DenseIndex] = {}
        self.loaded = False
        self._waiting: set[str] = set()  # ids of memories whose vectors are still to be found or made
        # By slot: space and vectors that the next recall brings into the indexes, many at once for less.
        self._late: dict[int, tuple[str, Embedding]] = {}
        self._seen: set[int] | None = None  # marks of the keys that the cache held; None until it was read
        self._fingerprint: str | None = None

    @property
    def fingerprint(self) -> str:
        """What the vectors depend on: the encoder and the text template."""
        if self._fingerprint is None:
            self._fingerprint = store_fingerprint(self._need(), TEMPLATE)
        return self._fingerprint

    @property
    def row(self) -> dict[str, Any]:
        """The encoder as a row of the file, active."""
        encoder = self._need()
        return {
            "fingerprint": self.fingerprint,
            "name": encoder.name,
            "dimension": encoder.dimension,
            "spec": dumps(spec_of(encoder)),
            "active": 1,
        }

    def _need(self) -> Encoder:
        if self.encoder is None:
            raise EncoderMismatch("the store was opened without an encoder; open it with encoder=... for dense recall")
        return self.encoder

    def check(self, active: Mapping[str, Any] | None) -> None:
        """Refuse an encoder that didn't make the file's vectors.

        Parameters
        ----------
        active : mapping, optional
            The row of the encoder that the file names; None where it names none.

        Raises
        ------
        EncoderMismatch
            If it is another one.
        """
        if active is None or self.encoder is None or active["fingerprint"] == self.fingerprint:
            return
        raise EncoderMismatch(
            f"the store's embeddings were made by {active['name']} ({active['dimension']} numbers, fingerprint "
            f"{active['fingerprint'][:12]}), and the encoder given is {self.encoder.name} ({self.encoder.dimension} "
            f"numbers, fingerprint {self.fingerprint[:12]}). Open it with the first, or with encoder=None, or open "
            "it with the first and call store.reencode(other)"
        )

    def embed(self, texts: Iterable[str], progress: bool = False) -> dict[str, Embedding]:
        """Find or make the embeddings of texts.

        Parameters
        ----------
        texts : iterable of str
            Texts as the encoder reads them; repeats are encoded once.
        progress : bool, default False
            Whether to show a bar when it takes long.

        Returns
        -------
        dict of str to Embedding
            By text; empty without an encoder.
        """
        if self.encoder is None:
            return {}
        wanted = list(dict.fromkeys(texts))
        if not wanted:
            return {}
        found = self._kept(wanted)
        missing = [text for text in wanted if text not in found]
        spans = {text: tuple(windows_of(self.encoder, text)) for text in missing}
        pieces = [text[a:b] for text in missing for a, b in spans[text]]
        vectors = encode_checked(self.encoder, pieces, "passage", progress)
        at = 0
        for text in missing:
            found[text] = Embedding(vectors[at : at + len(spans[text])], spans[text])
            at += len(spans[text])
        return found

    def _kept(self, texts: Sequence[str]) -> dict[str, Embedding]:
        """Read what the cache holds of texts."""
        dimension = self._need().dimension
        by_key = {text_key(text): text for text in texts}
        if self._seen is not None:
            # What another process kept since is made once more, which costs less than asking for each new text.
            by_key = {key: text for key, text in by_key.items() if _mark(key) in self._seen}
        found = {}
        for key, spans, blob in self.cache.find(self.fingerprint, list(by_key)):
            embedding = Embedding.read(spans, blob, dimension, len(by_key[key]))
            if embedding is not None:
                found[by_key[key]] = embedding
        return found

    def encode_queries(self, queries: Sequence[str]) -> Vectors:
        """Encode queries.

        Parameters
        ----------
        queries : sequence of str
            The queries.

        Returns
        -------
        ndarray of float32, shape (len(queries), dimension)
            Unit rows, or zero.
        """
        return encode_checked(self._need(), queries, "query")

    def keep(self, embeddings: Mapping[str, Embedding]) -> None:
        """Write embeddings to the cache; call it inside a transaction.

        Parameters
        ----------
        embeddings : mapping of str to Embedding
            By text.
        """
        if embeddings:
            rows = [embedding.row(text) for text, embedding in embeddings.items()]
            self.cache.put(self.fingerprint, rows)
            if self._seen is not None:
                self._seen.update(_mark(key) for key, _, _ in rows)

    def put(self, memory: Memory, slot: int, fresh: Mapping[str, Embedding]) -> None:
        """Bring a memory that is new, or whose text is new, into the index.

        Parameters
        ----------
        memory : Memory
            The memory.
        slot : int
            Its slot.
        fresh : mapping of str to Embedding
            Embeddings just made; one that isn't there is found when a recall needs it.
        """
        if not self.loaded:
            return
        embedding = fresh.get(memory.text)
        if embedding is None:
            self._waiting.add(memory.memory_id)
        else:
            self._late[slot] = (memory.space, embedding)

    def settle(self) -> None:
        """Bring the vectors that came since the last recall into the indexes."""
        by_space: dict[str, list[int]] = {}
        for slot, (space, _) in self._late.items():
            by_space.setdefault(space, []).append(slot)
        for space, slots in by_space.items():
            embeddings = [self._late[slot][1] for slot in slots]
            self._index(space).add(slots, [e.vectors for e in embeddings], [e.spans for e in embeddings])
        self._late = {}

    def remove(self, memory: Memory, slot: int) -> None:
        """Take a memory out of the index.

        Parameters
        ----------
        memory : Memory
            The memory.
        slot : int
            Its slot.
        """
        self._waiting.discard(memory.memory_id)
        if self._late.pop(slot, None) is None and memory.space in self.indexes:
            self.indexes[memory.space].remove(slot)

    def waits(self, memory_id: str) -> bool:
        """Say whether a memory's vectors are still to be found or made.

        Parameters
        ----------
        memory_id : str
            The memory.

        Returns
        -------
        bool
            True where the next dense recall brings them.
        """
        return memory_id in self._waiting

    def rename(self, old: str, new: str) -> None:
        """Follow a space to its new name.

        Parameters
        ----------
        old, new : str
            The names.
        """
        if old in self.indexes:
            self.indexes[new] = self.indexes.pop(old)
        for slot, (space, embedding) in self._late.items():
            if space == old:
                self._late[slot] = (new, embedding)

    def _index(self, space: str) -> DenseIndex:
        if space not in self.indexes:
            self.indexes[space] = DenseIndex(self._need().dimension)
        return self.indexes[space]

    def drop(self) -> None:
        """Empty the indexes; the next recall reads them from the file."""
        self.indexes, self.loaded, self._waiting, self._late, self._seen = {}, False, set(), {}, None

    def missing(self, table: Table, progress: bool) -> dict[str, Embedding]:
        """Fill the indexes from the cache, and make what it lacks.

        Parameters
        ----------
        table : Table
            The memories.
        progress : bool
            Whether to show a bar when it takes long.

        Returns
        -------
        dict of str to Embedding
            What was made, for the caller to keep.
        """
        try:
            if not self.loaded:
                self._waiting = self._load(table)
                self.loaded = True
            self.settle()
            if not self._waiting:
                return {}
            memories = [table.get(memory_id) for memory_id in sorted(self._waiting, key=table.slots.__getitem__)]
            made = self.embed((memory.text for memory in memories), progress)
            self._waiting = set()
            for memory in memories:
                self.put(memory, table.slots[memory.memory_id], made)
            self.settle()
        except BaseException:
            self.drop()  # half-filled: begin anew
            raise
        return made

    def _load(self, table: Table) -> set[str]:
        """Index what the cache holds; give the ids of those that it lacks."""
        seen = self._seen = set()

        def kept() -> Iterator[Kept]:
            for row in self.cache.read(self.fingerprint):
                seen.add(_mark(row[0]))
                yield row

        self.indexes, missing = read_indexes(table, kept(), self._need().dimension)
        return missing
