"""JSON values: what metadata may hold, and copies of it that nobody can change by accident.

A value goes in as plain Python (or numpy scalars) and comes out equal. What JSON can't hold exactly, such as
NaN, infinities, sets, bytes or keys that aren't strings, is refused by name instead of being bent into shape.
The containers that memlab hands out are :class:`FrozenDict` and :class:`FrozenList`: equal to the plain ones,
printable and JSON-able like them, but they refuse to be changed, so that one object can safely stand in the
store, in a frame's cell and in a recall at once.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from memlab.errors import InvalidMemory, MemlabError, shown
from memlab.text import check_text, match_key

# Deeper nesting is a mistake (or an attack): Python's own JSON reader stops near a thousand levels.
MAX_DEPTH = 64
# SQLite and most JSON readers hold what IEEE doubles or 64 bits hold; Python's integers go on for ever, and
# turning huge ones into text is quadratic, so they end here.
MAX_INTEGER_BITS = 4096


_ADVICE = (
    "belongs to a memory and can't be changed in place; copy.deepcopy(value) is a plain copy: "
    "change that and pass it to store.update"
)


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refuse a change, saying what to do instead."""
    raise TypeError(f"this {'dict' if isinstance(self, dict) else 'list'} {self._advice}")


class FrozenDict(dict[str, Any]):
    """A dict that refuses to be changed."""

    __slots__ = ()
    _advice = _ADVICE
    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
    __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return dict(thaw(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A list that refuses to be changed."""

    __slots__ = ()
    _advice = _ADVICE
    __setitem__ = __delitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __iadd__ = __imul__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return list(thaw(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)


EMPTY = FrozenDict()


def freeze(value: Any, where: str = "metadata", error: type[MemlabError] = InvalidMemory) -> Any:
    """Check that a value is JSON and return an unchangeable equal of it.

    Parameters
    ----------
    value : object
        None, bool, int, float, str, a list or tuple, a mapping with string keys, or a numpy scalar of these.
    where : str, default "metadata"
        What the value is called in messages; nested places are written ``metadata.a[2]``.
    error : type, default InvalidMemory
        What to raise.

    Returns
    -------
    object
        The value with numpy scalars turned into Python's, mappings into :class:`FrozenDict` and lists and
        tuples into :class:`FrozenList`. Integers stay exact.

    Raises
    ------
    InvalidMemory
        For NaN, infinities, keys that aren't strings, text that isn't valid Unicode, nesting beyond 64
        levels, or any other type; the message names the place.

    Examples
    --------
    >>> freeze({"n": 2**53 + 1, "tags": ("a", "b")})
    {'n': 9007199254740993, 'tags': ['a', 'b']}
    """
    return _freeze(value, where, error, MAX_DEPTH)


def _freeze(value: Any, where: str, error: type[MemlabError], depth: int) -> Any:
    if depth == 0:
        raise error(f"{where} is nested deeper than {MAX_DEPTH} levels; flatten it")
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(value, what=where, allow_blank=True, error=error)
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise error(f"{where} is an integer of {value.bit_length()} bits; the limit is {MAX_INTEGER_BITS}")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise error(f"{where} is {value}, which JSON can't hold; leave the key out or use None")
        return float(value)
    if isinstance(value, Mapping):
        return _freeze_mapping(value, where, error, depth)
    if isinstance(value, list | tuple):
        return FrozenList(_freeze(v, f"{where}[{i}]", error, depth - 1) for i, v in enumerate(value))
    raise error(
        f"{where} is a {type(value).__name__}, which JSON can't hold; "
        "use str, int, float, bool, None, lists and dicts of these"
    )


def _freeze_mapping(value: Mapping[Any, Any], where: str, error: type[MemlabError], depth: int) -> FrozenDict:
    frozen = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise error(f"{where} has the key {shown(key)} ({type(key).__name__}); keys must be strings")
        name = check_text(key, what=f"a key of {where}", allow_blank=True, error=error)
        frozen[name] = _freeze(item, f"{where}.{name}", error, depth - 1)
    return FrozenDict(frozen) if frozen else EMPTY


def seal(value: Any) -> Any:
    """Return an unchangeable equal of a value that is known to be JSON, without checking it.

    Parameters
    ----------
    value : object
        What :func:`loads` gave of what :func:`freeze` let through.

    Returns
    -------
    object
        As :func:`freeze` would return it.

    Examples
    --------
    >>> seal({"a": [1, {}]}) == freeze({"a": [1, {}]})
    True
    """
    if type(value) is dict:
        return FrozenDict((key, seal(item)) for key, item in value.items()) if value else EMPTY
    return FrozenList(map(seal, value)) if type(value) is list else value


def thaw(value: Any) -> Any:
    """Return a plain, changeable copy of a frozen value.

    Parameters
    ----------
    value : object
        What :func:`freeze` gave.

    Returns
    -------
    object
        The same with plain dicts and lists, all the way down.

    Examples
    --------
    >>> copy = thaw(freeze({"a": [1]}))
    >>> copy["a"].append(2)
    >>> copy
    {'a': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def dumps(value: Any) -> str:
    """Write a value as compact JSON: exact integers, sorted keys left as they are, never NaN.

    Parameters
    ----------
    value : object
        A JSON value.

    Returns
    -------
    str
        JSON text. Equal values with equal key order give equal text.

    Examples
    --------
    >>> dumps({"a": [1, "ü"]})
    '{"a":[1,"ü"]}'
    """
    return _WRITER.encode(value)


def loads(text: str) -> Any:
    """Read JSON text, refusing the NaN and Infinity that JSON doesn't have.

    Parameters
    ----------
    text : str
        JSON text.

    Returns
    -------
    object
        The value, in plain Python.

    Raises
    ------
    ValueError
        If the text isn't JSON, has a number that no float can hold, or is nested too deeply to be read.

    Examples
    --------
    >>> loads('{"a":1}')
    {'a': 1}
    """
    try:
        return _READER.decode(text)
    except RecursionError as error:
        raise ValueError(f"the JSON is nested too deeply; {MAX_DEPTH} levels are the limit") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} isn't JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        # "1e999" is JSON, but reading it as infinity would bend it.
        raise ValueError(f"{digits} is beyond what a float holds")
    return number


# json.dumps and json.loads would make a writer or a reader for each value.
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_READER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def share(value: Any, what: str, error: type[MemlabError] = InvalidMemory) -> float:
    """Check a number from 0 to 1.

    Parameters
    ----------
    value : float
        Python or numpy number, not a bool.
    what : str
        What the number is called in the message.
    error : type, default InvalidMemory
        What to raise.

    Returns
    -------
    float
        The value.

    Raises
    ------
    InvalidMemory
        Or `error`: another type, NaN, or out of bounds.

    Examples
    --------
    >>> share(1, "importance")
    1.0
    """
    if type(value) is float and 0 <= value <= 1:
        return value
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise error(f"{what} is {shown(value)}; it must be a number from 0 to 1")
    if not 0 <= number <= 1:  # NaN fails every comparison
        raise error(f"{what} is {_shown(number)}; it must be from 0 to 1")
    return float(number)


def distinct_texts(
    value: Any, what: str, key: Callable[[str], str] = match_key, error: type[MemlabError] = InvalidMemory
) -> tuple[str, ...]:
    """Check an iterable of texts and drop repeats, keeping the first spelling and the order.

    Parameters
    ----------
    value : iterable of str
        Not a single string, nor a mapping. A set, which has no order, is sorted.
    what : str
        What they are called in the message.
    key : callable, default match_key
        Texts with the same key are the same.
    error : type, default InvalidMemory
        What to raise.

    Returns
    -------
    tuple of str
        The distinct texts.

    Raises
    ------
    InvalidMemory
        Or `error`: not an iterable of texts, or one of them is blank or not valid Unicode.

    Examples
    --------
    >>> distinct_texts(["Home", "home", "work"], "tags")
    ('Home', 'work')
    """
    if type(value) is tuple and not value:
        return ()
    if isinstance(value, str):
        raise error(f"{what} is {shown(value)}; give a list of texts, such as [{shown(value)}]")
    if isinstance(value, Mapping | bytes | pd.DataFrame) or not isinstance(value, Iterable):
        raise error(f"{what} is a {type(value).__name__}; give a list of texts")
    # A set has no order of its own; what is stored must not depend on the process's hash seed.
    items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
    seen: dict[str, str] = {}
    for item in items:
        text = check_text(item, f"an item of {what}", error=error)
        seen.setdefault(key(text), text)
    return tuple(seen.values())


def flag(value: Any, what: str) -> bool:
    """Check a truth value; anything else, such as ``"no"`` or 0, is refused.

    Parameters
    ----------
    value : bool
        Python or numpy bool.
    what : str
        What it is called in the message.

    Returns
    -------
    bool
        The value.
    """
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise InvalidMemory(f"{what} is {shown(value)}; it must be True or False")
    return bool(value)


def whole(value: Any, what: str) -> int:
    """Check a whole number from 0 up that fits 64 bits.

    Parameters
    ----------
    value : int
        Python or numpy integer, not a bool.
    what : str
        What it is called in the message.

    Returns
    -------
    int
        The value.
    """
    if type(value) is int and 0 <= value < 2**63:
        return value
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidMemory(f"{what} is {shown(value)}; it must be a whole number from 0 up")
    if not 0 <= number < 2**63:
        raise InvalidMemory(f"{what} is {_shown(number)}; it must be from 0 to 2**63 - 1")
    return int(number)


def _shown(number: float) -> str:
    """Write a number for a message; Python refuses to write out integers of more than 4,300 digits."""
    huge = isinstance(number, int) and number.bit_length() > MAX_INTEGER_BITS
    return f"an integer of {int(number).bit_length()} bits" if huge else str(number)
