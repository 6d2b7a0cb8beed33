"""The error tree: drawn as it is, each leaf also the builtin that its users would catch."""

import builtins
import inspect
import pickle
import re

import pytest

from memlab import errors
from memlab.errors import MemlabError, UnknownMemory

LEAVES = [thing for _, thing in inspect.getmembers(errors, inspect.isclass) if issubclass(thing, MemlabError)]


def drawn() -> dict[str, tuple[int, str | None]]:
    """Each name in the picture at the head of the file: its depth, and the builtin beside it."""
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"    (?P<lead>[│ ]*[├└]── )?(?P<name>[A-Z]\w+) *(\((?P<builtin>\w+)\))?", line):
            found[match["name"]] = (len(match["lead"] or "") // 4, match["builtin"])
    return found


def test_the_picture_names_every_error_and_no_other() -> None:
    assert sorted(drawn()) == sorted(error.__name__ for error in LEAVES)


@pytest.mark.parametrize("error", LEAVES, ids=lambda error: error.__name__)
def test_an_error_is_what_the_picture_says(error: type[MemlabError]) -> None:
    depth, builtin = drawn()[error.__name__]
    mine = [base for base in error.__mro__ if issubclass(base, MemlabError)]
    assert len(mine) - 1 == depth
    if builtin is not None:
        assert issubclass(error, getattr(builtins, builtin))


@pytest.mark.parametrize("error", LEAVES, ids=lambda error: error.__name__)
def test_a_message_reads_as_a_sentence_and_survives_pickling(error: type[MemlabError]) -> None:
    made = error("no memory has the id 'x'; see store.memories")
    assert str(made) == "no memory has the id 'x'; see store.memories"
    assert str(pickle.loads(pickle.dumps(made))) == str(made)


def test_an_unknown_memory_is_caught_as_a_key_error_without_quotes_round_its_message() -> None:
    with pytest.raises(KeyError) as caught:
        raise UnknownMemory("no memory")
    assert str(caught.value) == "no memory"
