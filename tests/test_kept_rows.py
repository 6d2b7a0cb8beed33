"""Rows of the file become the memories that were written, without a second check."""

from hypothesis import given
from strategies import memories

from memlab.kept_rows import kept_memory
from memlab.records import FIELDS, Memory, memory_from, memory_row
from memlab.values import dumps, loads


@given(memories())
def test_a_kept_memory_is_the_one_that_a_checked_row_gives(memory: Memory) -> None:
    row = loads(dumps(memory_row(memory)))
    kept, checked = kept_memory(row, memory.space), memory_from(row)
    assert kept == checked
    assert hash(kept) == hash(checked)
    for name in FIELDS:
        assert type(getattr(kept, name)) is type(getattr(checked, name))
    assert memory_row(kept) == row
