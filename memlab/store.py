"""MemoryStore: the front desk of memlab.

One object that the notebook holds. Each verb is a few lines in the file of its subject (``store_add.py``,
``store_recall.py`` and so on), over the parts below; this file opens stores and shows them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memlab.encoder_choice import default_encoder, encoder_from, resolve_encoder
from memlab.encoders import Encoder
from memlab.errors import EncoderError, EncoderMismatch, InvalidArgument
from memlab.journal import Journal
from memlab.journal_company import SharedJournal
from memlab.markup import table
from memlab.store_care import Caring
from memlab.store_spaces import Spaces
from memlab.text import snippet
from memlab.values import loads

if TYPE_CHECKING:
    from memlab.records import Memory

DEFAULT_ENCODER = "default"
SHOWN = 8  # memories in a cell's picture of a store


class MemoryStore(Caring):
    """A store of memories and their associations, in memory; :meth:`open` for one in a file.

    Parameters
    ----------
    encoder : Encoder, str or None, default "default"
        What turns texts into vectors: an encoder, or the name or folder of a sentence-transformers model;
        ``"default"`` is all-MiniLM-L6-v2. None for a store without a dense channel. Nothing is loaded
        before the first text is encoded.
    zone : str, optional
        The zone of times that name none, such as ``"Europe/Oslo"``. Without it such times are refused.

    Examples
    --------
    >>> from memlab.encoders import HashEncoder
    >>> store = MemoryStore(encoder=HashEncoder())
    >>> move = store.add("Ana moved from Porto to Oslo.", happened_at="2024-05-20T09:00+01:00")
    >>> job = store.add("Ana started at the fish lab in Oslo.", type="Context")
    >>> _ = store.associate(job, "DERIVED_FROM", move, strength=0.8)
    >>> found = store.recall("Where does Ana work?", k=2)
    >>> found[0].memory_id == job
    True
    """

    def __init__(self, encoder: Encoder | str | None = DEFAULT_ENCODER, *, zone: str | None = None) -> None:
        self._start(Journal(), encoder, zone)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        encoder: Encoder | str | None = DEFAULT_ENCODER,
        read_only: bool = False,
        durability: str = "full",
        timeout: float = 30.0,
        zone: str | None = None,
    ) -> Self:
        """Open a store's file, made the first time.

        Several processes may have one file open; each sees what any of them has written.

        Parameters
        ----------
        path : str or Path
            The file.
        encoder : Encoder, str or None, default "default"
            As for :class:`MemoryStore`; ``"default"`` is the encoder that the file names, all-MiniLM-L6-v2 for
            a new one.
        read_only : bool, default False
            Refuse to write; the file must exist.
        durability : {"full", "normal"}, default "full"
            Whether what was written survives a power cut, or only the end of the process.
        timeout : float, default 30.0
            Seconds to wait for another process's write before StoreBusy.
        zone : str, optional
            As for :class:`MemoryStore`.

        Returns
        -------
        MemoryStore
            The open store; a context manager that closes it.

        Raises
        ------
        EncoderMismatch
            If the encoder given didn't make the file's embeddings.
        CorruptStore, NewerStore, StorageError
            If the file can't be read; it is left as it is.
        StoreBusy
            If another process keeps the file locked beyond the timeout.
        ReadOnlyStore
            If the file can't be written and read_only wasn't said.

        Notes
        -----
        Where another file takes the name while it is open, such as a backup, or one that was removed and made
        anew, the next reading or write goes to that one and all is read anew; where no file has the name, each
        use raises StorageError. A forked child gets a connection of its own at its first use. On a network folder
        one process at a time can have the file, with a rollback journal, and a UserWarning says so. A read-only
        store in a folder that can't be written is read as a file that nobody writes; if somebody did, the next
        reading reads it anew. Before a backup is put in the place of a file that was not closed, say after a
        crash, what SQLite left beside that (``-wal``, ``-shm``) has to be removed.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with MemoryStore.open(folder + "/diary.memlab", encoder=None) as store:
        ...         tea = store.add("Tea at four.")
        ...     with MemoryStore.open(folder + "/diary.memlab") as store:
        ...         tea in store
        True
        """
        if not isinstance(path, str | Path) or not str(path):
            raise InvalidArgument(f"path is {path!r}; give the name of a file")
        store = cls.__new__(cls)
        journal = SharedJournal(path, read_only=read_only, durability=durability, timeout=timeout)
        try:
            store._start(journal, encoder, zone)
        except BaseException:
            journal.close()
            raise
        return store

    def _start(self, journal: Journal, encoder: Encoder | str | None, zone: str | None) -> None:
        active = next((row for row in journal.current("encoder") if row["active"]), None)
        by_default = isinstance(encoder, str) and encoder == DEFAULT_ENCODER
        chosen = _named_or_default(active) if by_default else _given(encoder)
        super()._start(journal, chosen, zone)
        if not by_default:
            self._embedder.check(active)
        self.spaces = Spaces(self)

    @property
    def encoder(self) -> Encoder | None:
        """The encoder, None for a store without a dense channel."""
        return self._embedder.encoder

    @property
    def path(self) -> Path | None:
        """The file, None for a store in memory."""
        return self._journal.path

    def __repr__(self) -> str:
        if self._closed:
            return f"MemoryStore({self._journal.name}, closed)"
        with self._reading():
            counts = f"{len(self._table):,} memories, {len(self._graph):,} associations, {len(self._spaces)} spaces"
            return f"MemoryStore({self._journal.name}: {counts}, encoder {self._encoder_name()})"

    def _repr_html_(self) -> str:
        if self._closed:
            return table(("store",), [(repr(self),)])
        with self._reading():
            newest = list(self._table)[-SHOWN:][::-1]
            total = len(self._table)
        rows = [_line(memory) for memory in newest]
        note = (
            f"the newest {len(rows)} of {total:,} memories; all of them: store.memories" if total else "no memories yet"
        )
        headers = ("memory_id", "space", "type", "when", "content")
        return table(headers, rows, caption=repr(self), note=note)


def _line(memory: "Memory") -> tuple[str, ...]:
    when = memory.happened_at.strftime("%Y-%m-%d") if memory.happened_at else ""
    return memory.memory_id, memory.space, memory.type or "", when, snippet(memory.content, 160)


def _given(encoder: Encoder | str | None) -> Encoder | None:
    return None if encoder is None else resolve_encoder(encoder)


def _named_or_default(active: Mapping[str, Any] | None) -> Encoder:
    """Give the encoder that the file names, else memlab's own."""
    if active is None:
        return default_encoder()
    try:
        return encoder_from(loads(active["spec"]))
    except (EncoderError, ValueError, TypeError) as error:
        raise EncoderMismatch(
            f"the file's embeddings were made by {active['name']}, which memlab can't make again ({error}); "
            "open it with encoder=that encoder, or with encoder=None for no dense recall"
        ) from error
