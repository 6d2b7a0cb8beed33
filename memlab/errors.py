"""Everything memlab raises, as one tree.

::

    MemlabError
    ├── InvalidArgument      (ValueError)    an argument of a verb that makes no sense
    ├── InvalidMemory        (ValueError)    a memory's content or a field can't be stored
    │   └── DuplicateMemory                  the id is taken, or was
    ├── InvalidAssociation   (ValueError)    an association's ends, relation or properties
    ├── UnknownMemory        (KeyError)      no memory of that id
    ├── UnknownAssociation   (KeyError)      no association of that triple
    ├── UnknownSpace         (KeyError)      no space of that name or id
    ├── UnknownChange        (KeyError)      no change of that number in the log
    ├── FilterError          (ValueError)    a `where`, tag or time filter that can't be read
    ├── TimeError            (ValueError)    a time or date phrase that can't be read
    ├── MethodError          (ValueError)    a recall method or its arguments
    ├── DatasetError         (ValueError)    a data set's file isn't as documented
    ├── MissingExtra         (ImportError)   an optional dependency isn't installed
    ├── EncoderError         (RuntimeError)  an encoder gave something unusable
    │   ├── EncoderMismatch  (ValueError)    the store's embeddings are another encoder's
    │   └── ModelUnavailable (OSError)       the model's files can't be had, or aren't the pinned ones
    └── StoreError           (RuntimeError)  the store as a whole
        ├── StoreBusy        (TimeoutError)  another process holds the file beyond the timeout
        ├── StoreClosed                      used after close()
        ├── ReadOnlyStore    (PermissionError) a write to a store opened for reading
        ├── StorageError     (OSError)       the disk refused: full, failing, no permission
        ├── CorruptStore                     the file is damaged, or isn't memlab's
        ├── NewerStore                       the file was written by a newer memlab
        └── UndoConflict                     later changes stand on what should be undone

Each message says what was found, what was expected and what to do. Each error is also the builtin
that Python's users would catch for it.
"""


class MemlabError(Exception):
    """Any error that memlab raises on purpose."""

    def __str__(self) -> str:
        # KeyError prints the repr of its message; a sentence should read as one.
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class InvalidArgument(MemlabError, ValueError):
    """An argument makes no sense."""


class InvalidMemory(MemlabError, ValueError):
    """A memory can't be stored as given."""


class DuplicateMemory(InvalidMemory):
    """The memory id names another memory, now or before."""


class InvalidAssociation(MemlabError, ValueError):
    """An association can't be stored as given."""


class UnknownMemory(MemlabError, KeyError):
    """No memory has this id."""


class UnknownAssociation(MemlabError, KeyError):
    """No association has this source, relation and target."""


class UnknownSpace(MemlabError, KeyError):
    """No space has this name or id."""


class UnknownChange(MemlabError, KeyError):
    """The log holds no change of this number."""


class FilterError(MemlabError, ValueError):
    """A filter can't be read."""


class TimeError(MemlabError, ValueError):
    """A time or a date phrase can't be read."""


class MethodError(MemlabError, ValueError):
    """A recall method, or an argument to it, makes no sense."""


class DatasetError(MemlabError, ValueError):
    """A data set's file isn't as documented."""


class MissingExtra(MemlabError, ImportError):
    """An optional dependency isn't installed."""


class EncoderError(MemlabError, RuntimeError):
    """An encoder gave something unusable."""


class EncoderMismatch(EncoderError, ValueError):
    """The store's embeddings were made by another encoder."""


class ModelUnavailable(EncoderError, OSError):
    """A model's files can't be had, or aren't the pinned ones."""


class StoreError(MemlabError, RuntimeError):
    """The store as a whole can't do this."""


class StoreBusy(StoreError, TimeoutError):
    """Another process holds the store beyond the timeout."""


class StoreClosed(StoreError):
    """The store was closed."""


class ReadOnlyStore(StoreError, PermissionError):
    """The store was opened for reading."""


class StorageError(StoreError, OSError):
    """The disk refused."""


class CorruptStore(StoreError):
    """The store's file is damaged, or isn't memlab's."""


class NewerStore(StoreError):
    """The store's file was written by a newer memlab."""


class UndoConflict(StoreError):
    """Later changes stand on what should be undone."""
