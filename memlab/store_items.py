"""What callers hand in: frames, mappings, ids and patches, brought into one form."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from memlab.errors import InvalidArgument, InvalidMemory, shown
from memlab.records import Memory
from memlab.text import check_text
from memlab.values import freeze, thaw


def as_items(items: Any) -> Iterable[Any]:
    """Give the items of a frame or of any iterable.

    Parameters
    ----------
    items : DataFrame or iterable
        A frame's rows become mappings without their missing values.

    Returns
    -------
    iterable
        The items.

    Raises
    ------
    InvalidArgument
        If it is one text or one mapping, which would be taken apart.

    Examples
    --------
    >>> list(as_items(pd.DataFrame({"content": ["a", "b"], "sequence": [1, None]})))
    [{'content': 'a', 'sequence': 1}, {'content': 'b'}]
    """
    if isinstance(items, pd.DataFrame):
        return [_without_missing(row) for row in items.to_dict("records")]
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidArgument(f"a {type(items).__name__} isn't many items; give a list of them, or a DataFrame")
    return items


def _without_missing(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Drop the cells that pandas holds as missing; a whole number beside a missing one comes as a float."""
    kept = {str(k): v for k, v in row.items() if not (pd.api.types.is_scalar(v) and pd.isna(v))}
    if isinstance(kept.get("sequence"), float) and kept["sequence"].is_integer():
        kept["sequence"] = int(kept["sequence"])
    return kept


def as_ids(ids: str | Iterable[str]) -> list[str]:
    """Give the ids of one id or of many.

    Parameters
    ----------
    ids : str or iterable of str
        One id, or several.

    Returns
    -------
    list of str
        The ids.

    Examples
    --------
    >>> as_ids("m1"), as_ids(("m1", "m2"))
    (['m1'], ['m1', 'm2'])
    """
    if not isinstance(ids, str | Iterable) or isinstance(ids, bytes | Mapping):
        raise InvalidArgument(f"ids is a {type(ids).__name__}; give an id or a list of ids")
    names = [ids] if isinstance(ids, str) else ids
    return [check_text(memory_id, "an id", error=InvalidArgument) for memory_id in names]


def as_number(value: Any) -> int | None:
    """Give a place in the log, or the number of a change, as a plain int; None for anything else.

    Parameters
    ----------
    value : object
        What a caller gave; frames hold numpy's integers.

    Returns
    -------
    int or None
        The number.

    Examples
    --------
    >>> as_number(np.int64(3)), as_number("2024-05-20"), as_number(True)
    (3, None, None)
    """
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None


def choice(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that isn't among the allowed ones.

    Parameters
    ----------
    what : str
        The argument's name.
    value : str
        What was given.
    allowed : tuple of str
        What can be given.

    Raises
    ------
    InvalidArgument
        If it is another word.
    """
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgument(f"{what} is {shown(value)}; it is one of {', '.join(map(repr, allowed))}")


def switch(what: str, value: Any) -> bool:
    """Refuse what is neither True nor False: a word such as "no" would count as yes.

    Parameters
    ----------
    what : str
        The argument's name.
    value : bool
        What was given; numpy's too.

    Returns
    -------
    bool
        The value.

    Raises
    ------
    InvalidArgument
        If it is anything else.
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidArgument(f"{what} is {shown(value)}; it is True or False")
    return bool(value)


def counting(what: str, value: Any) -> int:
    """Refuse what isn't a whole number from 1 up.

    Parameters
    ----------
    what : str
        The argument's name.
    value : int
        What was given; numpy's integers too, no bool and no float.

    Returns
    -------
    int
        The number.

    Raises
    ------
    InvalidArgument
        If it is anything else; it is never rounded, and 0 isn't taken for 1.

    Examples
    --------
    >>> counting("k", np.int64(3))
    3
    """
    number = as_number(value)
    if number is None or number < 1:
        raise InvalidArgument(f"{what} is {shown(value)}; it must be a whole number from 1 up")
    return number


def changed(memory: Memory, **fields: Any) -> Memory:
    """Give a memory that differs in some fields, checked like any other.

    Parameters
    ----------
    memory : Memory
        The memory.
    **fields : object
        New values.

    Returns
    -------
    Memory
        The other one.
    """
    return dataclasses.replace(memory, **fields)


def merge(old: Mapping[str, Any], patch: Any) -> dict[str, Any]:
    """Merge a patch into metadata by RFC 7386.

    Parameters
    ----------
    old : mapping
        What is there.
    patch : mapping
        None deletes a key, mappings are merged, everything else replaces.

    Returns
    -------
    dict
        The merged metadata.

    Raises
    ------
    InvalidMemory
        If the patch isn't a JSON object.

    References
    ----------
    P. Hoffman, J. Snell, "JSON Merge Patch", RFC 7386, 2014.

    Examples
    --------
    >>> merge({"a": 1, "b": {"c": 2}}, {"a": None, "b": {"d": 3}})
    {'b': {'c': 2, 'd': 3}}
    """
    if patch is None:
        return {}
    if not isinstance(patch, Mapping):
        raise InvalidMemory(f"metadata is a {type(patch).__name__}; it must be a dict (a JSON object)")
    # Checked before it is walked: a patch may hold itself.
    return _merge(old, freeze(patch))


def _merge(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(thaw(old))
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            inner = merged.get(key)
            merged[key] = _merge(inner if isinstance(inner, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged
