"""Memories from rows that are known to be as they were written.

What stands in the file was checked when it was written, and each row has a checksum that was compared when it was
read. Checking every field once more would take most of the time of opening a store.
"""

from collections.abc import Mapping
from sys import intern
from typing import Any

from memlab.records import FIELDS, Memory
from memlab.times import from_micros
from memlab.values import seal

_WRITE = [(name, getattr(Memory, name).__set__) for name in FIELDS]
_TIMES = ("happened_at", "valid_from", "valid_until")
_REPEATED = ("type", "role", "session_id", "content_type")  # one text in memory for all that say the same


def kept_memory(row: Mapping[str, Any], space: str) -> Memory:
    """Make a memory of its row, without checking it again.

    Parameters
    ----------
    row : mapping
        As :func:`memlab.records.memory_row` gives, read by the journal.
    space : str
        The name of its space.

    Returns
    -------
    Memory
        As :func:`memlab.records.memory_from` would make it.

    Raises
    ------
    TypeError, KeyError, TimeError
        Where a row that wasn't compared with its checksum has another form.

    Examples
    --------
    >>> from memlab.records import memory_from, memory_row
    >>> memory = memory_from({"memory_id": "m", "content": "Tea.", "created_at": 1_000_000, "updated_at": 1_000_000})
    >>> kept_memory(memory_row(memory), memory.space) == memory
    True
    """
    fields = {**row, "space": space, "access_count": 0, "accessed_at": None}
    for name in _TIMES:
        if fields[name] is not None:
            fields[name] = from_micros(fields[name])
    for name in _REPEATED:
        if fields[name] is not None:
            fields[name] = intern(fields[name])
    created = from_micros(row["created_at"])
    fields["updated_at"] = created if row["updated_at"] == row["created_at"] else from_micros(row["updated_at"])
    fields["created_at"] = created
    fields["tags"], fields["aliases"] = tuple(map(intern, row["tags"])), tuple(row["aliases"])
    fields["metadata"] = seal(row["metadata"])
    memory = object.__new__(Memory)
    for name, write in _WRITE:
        write(memory, fields[name])
    return memory
