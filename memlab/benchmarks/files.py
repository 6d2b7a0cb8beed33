"""Reading a data set's files so that every fault is told with its place.

A place is written as it would be typed: ``locomo10.json: $[0].qa[12].evidence``, ``queries.jsonl, line 7``.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from memlab.errors import DatasetError
from memlab.values import loads

Kind = TypeVar("Kind")

NAMES = {str: "a string", int: "a whole number", list: "a list", dict: "an object", bool: "true or false"}


def read_text(path: Path) -> str:
    """Read a UTF-8 file; a byte-order mark is skipped.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Its text.

    Raises
    ------
    DatasetError
        If there is no such file, it can't be read, or it isn't UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DatasetError(
            f"{path} can't be read: {error.strerror}. Give its place with path=; memlab downloads nothing"
        ) from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} isn't UTF-8 (byte {error.start}); save it as UTF-8") from error


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    object
        The value.

    Raises
    ------
    DatasetError
        If it can't be read or isn't JSON.
    """
    return _parse(read_text(path), str(path))


def read_jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read a file with one JSON object a line; blank lines are skipped.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    (str, dict)
        The place of the line, and the object.

    Raises
    ------
    DatasetError
        If it can't be read, or a line isn't a JSON object.
    """
    # Only a newline ends a line of JSONL: text may hold U+2028 and others that splitlines would cut at.
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            place = f"{path.name}, line {number}"
            yield place, of_kind(_parse(line, place), dict, place)


def read_tsv(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Read a tab-separated file whose first line names its columns; blank lines are skipped.

    Parameters
    ----------
    path : Path
        The file.
    columns : tuple of str
        What the first line has to say.

    Yields
    ------
    (str, list of str)
        The place of the line, and its cells.

    Raises
    ------
    DatasetError
        If it can't be read, the header is another, or a line has more or fewer cells.
    """
    head, *lines = read_text(path).replace("\r\n", "\n").split("\n")
    if tuple(head.split("\t")) != columns:
        raise DatasetError(f"{path.name} has the header {head!r}; expected {chr(9).join(columns)!r}")
    for number, line in enumerate(lines, 2):
        if line.strip():
            cells = line.split("\t")
            if len(cells) != len(columns):
                raise DatasetError(
                    f"{path.name}, line {number} has {len(cells)} cells; expected {len(columns)}: {', '.join(columns)}"
                )
            yield f"{path.name}, line {number}", cells


def of_kind(value: Any, kind: type[Kind], place: str) -> Kind:
    """Refuse a value of another kind.

    Parameters
    ----------
    value : object
        What was found.
    kind : type
        str, int, list, dict or bool; a bool is no int.
    place : str
        Where.

    Returns
    -------
    object
        The value.

    Raises
    ------
    DatasetError
        If it is of another kind.

    Examples
    --------
    >>> of_kind(True, int, "$.qa[0].category")
    Traceback (most recent call last):
        ...
    memlab.errors.DatasetError: $.qa[0].category is true; expected a whole number
    """
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        shown = json.dumps(value, ensure_ascii=False, default=repr)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise DatasetError(f"{place} is {shown}; expected {NAMES[kind]}")
    return value


def take(value: Mapping[str, Any], key: str, kind: type[Kind], place: str) -> Kind:
    """Take what an object has to have.

    Parameters
    ----------
    value : mapping
        The object.
    key : str
        Its key.
    kind : type
        What the item has to be, as in :func:`of_kind`.
    place : str
        Where the object is.

    Returns
    -------
    object
        The item.

    Raises
    ------
    DatasetError
        If the key is missing or its item is of another kind.

    Examples
    --------
    >>> take({"speaker": "Ana"}, "text", str, "$[0]")
    Traceback (most recent call last):
        ...
    memlab.errors.DatasetError: $[0] has no 'text' (it has 'speaker'); expected a string
    """
    if key not in value:
        has = ", ".join(map(repr, value)) or "nothing"
        raise DatasetError(f"{place} has no {key!r} (it has {has}); expected {NAMES[kind]}")
    return of_kind(value[key], kind, f"{place}.{key}")


def _parse(text: str, place: str) -> Any:
    try:
        return loads(text)
    except ValueError as error:
        raise DatasetError(f"{place} isn't JSON: {error}") from error
