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
    ├── EncoderError         (RuntimeError)  an encoder, or what it gave, is of no use
    │   ├── EncoderOutput    (ValueError)    it gave NaN, or no matrix of a row a text
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

import reprlib
from typing import Final


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
    """An encoder, or what it gave, is of no use."""


class EncoderOutput(EncoderError, ValueError):
    """An encoder gave NaN, or no matrix of one row a text."""


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


class _Shown(reprlib.Repr):
    """How values stand in messages: cut where they are long, and never failing themselves."""

    def repr_int(self, value: int, level: int) -> str:
        """Python refuses to write out integers of more than 4,300 digits."""
        return f"an integer of {value.bit_length()} bits" if value.bit_length() > 512 else repr(value)

    def repr_instance(self, value: object, level: int) -> str:
        """A frame or an array stands in one line."""
        return " ".join(super().repr_instance(value, level).split())


_SHOWN: Final = _Shown()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 160


def shown(value: object) -> str:
    """Write what a caller gave for the message of an error.

    Parameters
    ----------
    value : object
        Anything, also what can't be written: an integer of thousands of digits, an object whose ``repr`` fails.

    Returns
    -------
    str
        Its repr, on one line, its middle cut out where it is long.

    Examples
    --------
    >>> shown("tea"), shown(10**5000)
    ("'tea'", 'an integer of 16610 bits')
    """
    return _SHOWN.repr(value)
