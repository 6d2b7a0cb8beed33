"""Measuring speed: each figure as a ratio to a reference that does the same work raw, in the same run."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memlab.bench.speed_picture import check_drawable, draw_growth
from memlab.bench.speed_references import one_thread
from memlab.bench.speed_rows import ROWS
from memlab.bench.speed_world import Row, World
from memlab.errors import InvalidArgument

LEAST = 100  # memories
SIZES = (1_000, 3_000, 10_000, 30_000)  # of the smaller stores in the picture
SAME_AT_EVERY_SIZE = frozenset({"encode"})


def bench_speed(
    n: int = 100_000,
    *,
    json_path: str | Path | None = None,
    picture: str | Path | None = None,
    rows: Iterable[str] | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Measure how fast memlab is, print a table, and write JSON and a picture if asked.

    Parameters
    ----------
    n : int, default 100,000
        How many memories the store has; from 100 up.
    json_path : str or Path, optional
        Where to write the figures.
    picture : str or Path, optional
        Where to draw the growth of each figure: it is then measured at 1,000, 3,000, 10,000 and 30,000 memories
        too, as far as they are fewer than n.
    rows : iterable of str, optional
        Which rows of :data:`memlab.bench.speed_rows.ROWS`; by default all of them.
    progress : bool, default True
        Show bars for what takes long.

    Returns
    -------
    dict
        ``{"n", "rows": [{"what", "ratio", "at_most"}]}``, what the JSON holds too. The ratio is None where an
        answer was wrong; with a picture there is ``"growth"``, a list of what was measured at each size.

    Raises
    ------
    InvalidArgument
        If n is too small, a row is unknown, or a file couldn't be written.
    MissingExtra
        If bm25s, or for the picture matplotlib, isn't installed.

    Notes
    -----
    Everything runs in one thread, on a store in a temporary folder, with vectors of 384 numbers from the hashing
    encoder. Absolute times say as much of the machine as of memlab; only ratios are figures. A ratio is the median
    over rounds that time memlab and its reference in turn (see :func:`memlab.bench.speed_world.row_of`).
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < LEAST:
        raise InvalidArgument(f"n is {n!r}; it must be a whole number from {LEAST} up")
    _check_places(json_path, picture)
    chosen = tuple(dict.fromkeys(ROWS if rows is None else rows))
    unknown = [name for name in chosen if name not in ROWS]
    if unknown or not chosen:
        raise InvalidArgument(
            f"there is no row {', '.join(map(repr, unknown)) or 'chosen'}; there are {', '.join(ROWS)}"
        )
    smaller = [size for size in SIZES if size < n] if picture else []
    growing = [name for name in chosen if name not in SAME_AT_EVERY_SIZE]
    with one_thread():
        sizes = {size: _measure(size, growing, progress) for size in smaller}
        found = _measure(n, chosen, progress)
    print(f"speed at {n:,} memories")
    print(table(found))
    figures: dict[str, Any] = {"n": n, "rows": [_figure(row) for row in found]}
    if picture:
        sizes[n] = found
        # What the smallest store has no row of doesn't grow: encoding, and the comparisons with a store of a thousand.
        kept = {row.what for row in sizes[min(sizes)]}
        sizes = {size: [row for row in rows if row.what in kept] for size, rows in sizes.items()}
        figures["growth"] = _growth(sizes)
        draw_growth(sizes, picture)
        print(f"drawn in {picture}")
    if json_path is not None:
        text = json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
        Path(json_path).write_text(text + "\n", encoding="utf-8")
        print(f"written to {json_path}")
    return figures


def _check_places(json_path: str | Path | None, picture: str | Path | None) -> None:
    """Refuse a file that couldn't be written, before anything is measured."""
    if picture is not None:
        check_drawable(picture)
    for path in (json_path, picture):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise InvalidArgument(f"{path} can't be written: there is no folder {Path(path).absolute().parent}")


def _measure(n: int, chosen: Sequence[str], progress: bool) -> list[Row]:
    from tqdm.auto import tqdm

    found = []
    with TemporaryDirectory(prefix="memlab-speed-") as folder, World(Path(folder), n, progress) as world:
        bar = tqdm([name for name in ROWS if name in chosen], unit=" rows", disable=not progress)
        for name in bar:
            bar.set_description(f"{n:,} memories: {name}")
            found += ROWS[name](world)
    return found


def _figure(row: Row) -> dict[str, Any]:
    ratio = round(row.ratio, 4) if math.isfinite(row.ratio) else None
    return {"what": row.what, "ratio": ratio, "at_most": row.at_most}


def _growth(sizes: dict[int, list[Row]]) -> list[dict[str, Any]]:
    return [
        {"what": row.what, "n": n, "ours": row.ours, "reference": row.reference, "unit": row.unit}
        for n, rows in sorted(sizes.items())
        for row in rows
    ]


def table(rows: Sequence[Row]) -> str:
    """Write rows as a table, with what was wrong below it.

    Parameters
    ----------
    rows : sequence of Row
        What was measured.

    Returns
    -------
    str
        What, memlab's and the reference's median, their ratio, the limit, and whether it holds.

    Examples
    --------
    >>> print(table([Row("dense recall", 1.3, 1.1, 0.0022, 0.002)]))
    what               ours  reference  ratio  at most   ok
    dense recall    2.20 ms    2.00 ms   1.10     1.30  yes
    """
    lines = [("what", "ours", "reference", "ratio", "at most", "ok")]
    for row in rows:
        shown = (_amount(row.ours, row.unit), _amount(row.reference, row.unit))
        ratio = f"{row.ratio:.2f}" if math.isfinite(row.ratio) else "wrong"
        lines.append((row.what, *shown, ratio, f"{row.at_most:.2f}", "yes" if row.ok else "NO"))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return "\n".join([*written, *(f"WRONG: {row.fault}" for row in rows if row.fault)])


def _amount(value: float, unit: str) -> str:
    if unit == "B":
        return f"{value / 1e6:.1f} MB"
    for factor, name in ((1, "s"), (1e3, "ms")):
        if value * factor >= 1:
            return f"{value * factor:.2f} {name}"
    return f"{value * 1e6:.1f} µs"
