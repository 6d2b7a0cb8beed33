"""Benchmarks by name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memlab.benchmarks.locomo import load_locomo
from memlab.benchmarks.own import load_own, own_names
from memlab.benchmarks.synthetic import synthetic
from memlab.errors import DatasetError
from memlab.trials import Benchmark

# The loaders of files that memlab doesn't have: each takes a path first.
FILES: dict[str, Callable[..., Benchmark]] = {"locomo": load_locomo}
MADE: dict[str, Callable[..., Benchmark]] = {"synthetic": synthetic}


def benchmark_names() -> list[str]:
    """List what :func:`load_benchmark` knows.

    Returns
    -------
    list of str
        The names, sorted.
    """
    return sorted({*FILES, *MADE, *own_names()})


def load_benchmark(name: str, path: str | Path | None = None, **options: Any) -> Benchmark:
    """Load a benchmark by its name. Nothing is ever downloaded.

    Parameters
    ----------
    name : str
        ``"locomo"``, one of memlab's own sets, such as ``"diary"``, or ``"synthetic"``.
    path : str or Path, optional
        Where the files are. Needed for sets that memlab doesn't bring; for its own sets another folder of
        the same form; not for what is made.
    **options : object
        What the loader takes: ``level`` and ``audit`` (:func:`memlab.benchmarks.locomo.load_locomo`), ``n``,
        ``seed`` and ``queries`` (:func:`memlab.benchmarks.synthetic.synthetic`).

    Returns
    -------
    Benchmark
        ``print(benchmark)`` says what is in it and what was repaired.

    Raises
    ------
    DatasetError
        If the name is unknown, a path is missing or too much, or a file isn't as documented.
    TypeError
        If the loader doesn't take an option.

    Examples
    --------
    >>> load_benchmark("synthetic", n=100, seed=3)
    Benchmark('synthetic', level='memory', 100 memories, 59 queries: 52 scored of 52 asked)
    """
    if name in FILES:
        if path is None:
            raise DatasetError(f"{name!r} isn't part of memlab and is never downloaded; give its file as path=")
        return FILES[name](path, **options)
    if name in MADE:
        if path is not None:
            raise DatasetError(f"{name!r} is made, not read; leave path= out")
        return MADE[name](**options)
    if name in own_names():
        return load_own(name, path, **options)
    raise DatasetError(f"there is no benchmark {name!r}; there are {', '.join(benchmark_names())}")
