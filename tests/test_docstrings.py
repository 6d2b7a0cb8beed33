"""Docstrings keep to numpydoc; those of the public names also leave nothing out."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest
from numpydoc.validate import validate

import memlab

# What a docstring documents is there, with a type and a description.
TRUE = {"PR02", "PR04", "PR07", "RT03"}
# It has a summary, and documents every parameter and what comes back.
COMPLETE = {"GL08", "SS01", "SS03", "PR01", "RT01", "YD01"}


def public_members(name: str, thing: object) -> Iterator[str]:
    """The full names of a class's own public methods and properties."""
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
                yield f"{name}.{member}"


def everything() -> dict[str, object]:
    """All functions and classes without a leading underscore, by full name, each where it's defined."""
    modules = [module.name for module in pkgutil.walk_packages(memlab.__path__, "memlab.")]
    return {
        f"{name}.{member}": thing
        for name in modules
        if not name.endswith("__main__")
        for member, thing in vars(importlib.import_module(name)).items()
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__ == name
        if not member.startswith("_") and thing.__name__ == member
    }


EVERYTHING = everything()
PUBLIC = {name for name, thing in EVERYTHING.items() if getattr(memlab, name.split(".")[-1], None) is thing}


def faults(name: str, wanted: set[str]) -> list[str]:
    """What numpydoc finds wrong with one docstring."""
    return [f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code in wanted]


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_docstrings_are_true_and_public_ones_complete(name: str) -> None:
    thing = EVERYTHING[name]
    wanted = TRUE | COMPLETE if name in PUBLIC else TRUE
    # A protocol isn't made, so what its signature says of making one means nothing.
    found = faults(name, wanted - {"PR01"} if getattr(thing, "_is_protocol", False) else wanted)
    for member in public_members(name, thing):
        found += faults(member, wanted)
    assert not found
