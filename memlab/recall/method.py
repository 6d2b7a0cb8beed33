"""A recall method: the frozen, printable configuration of how memories are ranked.

Methods that print alike rank alike, and equal methods print alike, so that a run's name says how it was made.
"""

import json
import math
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np

from memlab.errors import MethodError, shown
from memlab.text import check_text

CHANNELS = ("dense", "lexical", "temporal", "salience")
FUSIONS = ("score", "rrf")
STATES = ("current", "history")


@dataclass(frozen=True, slots=True)
class Method:
    """How memories are ranked.

    Parameters
    ----------
    name : str
        What the method is called.
    dense, lexical, temporal, salience : float, default 0.0
        Weight of each channel; 0 leaves it out. At least one of dense, lexical and temporal takes part. Only
        their proportions count: they are divided by the sum of those that have something to say.
    fusion : {"score", "rrf"}, default "score"
        Whether normalised scores or reciprocal ranks are added: see :mod:`memlab.recall.fuse`.
    rrf_k : int, default 60
        The constant of reciprocal rank fusion.
    neighbours : float, default 0.0
        Share of a turn's score that spreads to the turns right before and after it in the session.
    associations : float, default 0.0
        Share of a memory's score that spreads over one association: see :mod:`memlab.recall.spread`.
    diversify : float, default 0.0
        From 0 (off) to 1: how much a hit must differ from those above it (MMR).

    Raises
    ------
    MethodError
        If a number is out of range, or nothing would rank.

    Examples
    --------
    >>> Method("mine", dense=0.7, lexical=0.3, fusion="rrf")
    mine(dense=0.7, lexical=0.3, fusion='rrf')
    """

    name: str
    dense: float = 0.0
    lexical: float = 0.0
    temporal: float = 0.0
    salience: float = 0.0
    fusion: str = "score"
    rrf_k: int = 60
    neighbours: float = 0.0
    associations: float = 0.0
    diversify: float = 0.0

    def __post_init__(self) -> None:
        check_text(self.name, "a method's name", error=MethodError)
        fix = object.__setattr__
        for channel in CHANNELS:
            fix(self, channel, _number(channel, getattr(self, channel), math.inf))
        for part in ("neighbours", "associations", "diversify"):
            fix(self, part, _number(part, getattr(self, part), 1))
        if self.fusion not in FUSIONS:
            raise MethodError(f"fusion is {shown(self.fusion)}; it is 'score' or 'rrf'")
        if isinstance(self.rrf_k, bool) or not isinstance(self.rrf_k, Integral) or self.rrf_k < 1:
            raise MethodError(f"rrf_k is {shown(self.rrf_k)}; it must be a whole number from 1 up")
        fix(self, "rrf_k", int(self.rrf_k))
        if not (self.dense or self.lexical or self.temporal):
            raise MethodError("nothing would rank: give dense, lexical or temporal a weight above 0")

    def __repr__(self) -> str:
        said = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)[1:] if getattr(self, f.name) != f.default)
        return f"{self.name}({', '.join(said)})"

    @property
    def weights(self) -> dict[str, float]:
        """The channels that take part, with their weights."""
        return {name: getattr(self, name) for name in CHANNELS if getattr(self, name)}

    def but(self, **changes: Any) -> "Method":
        """Make a method that differs in some places.

        Parameters
        ----------
        **changes : object
            Parameters of :class:`Method`.

        Returns
        -------
        Method
            The other method; its name is kept unless one is given.

        Raises
        ------
        MethodError
            If there is no such parameter, or it is out of range.

        Examples
        --------
        >>> preset("hybrid").but(lexical=0.2)
        hybrid(dense=0.5, lexical=0.2)
        """
        known = {f.name for f in fields(self)}
        if not known.issuperset(changes):
            raise MethodError(f"a method has no {sorted(set(changes) - known)}; it has {sorted(known)}")
        return replace(self, **changes)


def _number(what: str, value: Any, most: float) -> float:
    """Check a number and make it Python's own, which prints as it is written."""
    number = value.item() if isinstance(value, np.generic) else value
    sound = isinstance(number, int | float) and not isinstance(number, bool)
    if not sound or not 0 <= number <= most or number == math.inf:
        limit = f"from 0 to {most:g}" if most < math.inf else "from 0 up"
        raise MethodError(f"{what} is {shown(value)}; it must be a number {limit}")
    return float(number)


@cache
def presets() -> MappingProxyType[str, Method]:
    """Read memlab's own methods.

    Returns
    -------
    mapping of str to Method
        ``lexical``, ``dense``, ``hybrid`` and ``default``, from ``defaults.json``.
    """
    text = files("memlab.recall").joinpath("defaults.json").read_text(encoding="utf-8")
    return MappingProxyType({name: Method(name, **options) for name, options in json.loads(text)["methods"].items()})


def preset(name: str) -> Method:
    """Find one of memlab's own methods.

    Parameters
    ----------
    name : str
        Such as ``"default"``.

    Returns
    -------
    Method
        The method.

    Raises
    ------
    MethodError
        If there is none of that name.

    Examples
    --------
    >>> preset("hybrid")
    hybrid(dense=0.5, lexical=0.5)
    """
    if not isinstance(name, str) or name not in presets():
        raise MethodError(f"no method is called {shown(name)}; there are {', '.join(presets())}, or make a Method")
    return presets()[name]
