"""The growth of each figure with the size of the store, as a picture."""

import math
from collections.abc import Mapping
from pathlib import Path

from memlab.bench.speed_world import Row
from memlab.errors import InvalidArgument, MissingExtra

# From the palette of Okabe and Ito, which colour-blind readers can tell apart; marks and dashes differ as well.
OURS, REFERENCE = "#0072B2", "#D55E00"
COLUMNS = 4
UNITS = {"s": ("time / ms", 1e3), "B": ("memory / MB", 1e-6)}


def check_drawable(path: str | Path) -> None:
    """Refuse a picture that couldn't be drawn, before anything is measured.

    Parameters
    ----------
    path : str or Path
        Where it would go.

    Raises
    ------
    MissingExtra
        If matplotlib isn't installed.
    InvalidArgument
        If matplotlib can't write this format.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise MissingExtra("the picture is drawn by matplotlib; pip install 'memlab[lab]'") from error
    known = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in known:
        raise InvalidArgument(f"{path} can't be drawn: its ending must be one of {', '.join(sorted(known))}")


def draw_growth(sizes: Mapping[int, list[Row]], path: str | Path) -> None:
    """Draw how each figure grows, one panel a figure.

    Parameters
    ----------
    sizes : mapping of int to list of Row
        The rows by number of memories.
    path : str or Path
        The picture; its ending says its format, such as ``.png`` or ``.svg``.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    lines: dict[str, list[tuple[int, Row]]] = {}
    for n in sorted(sizes):
        for row in sizes[n]:
            lines.setdefault(row.what, []).append((n, row))
    depth = -(-len(lines) // COLUMNS)
    figure = Figure(figsize=(3.4 * COLUMNS, 2.6 * depth + 0.5), layout="constrained")
    figure.suptitle("memlab (circles, solid) and its reference (squares, dashed) by size of the store")
    for axes, (what, line) in zip(figure.subplots(depth, COLUMNS, squeeze=False).flat, lines.items(), strict=False):
        label, scale = UNITS[line[0][1].unit]
        numbers = [n for n, _ in line]
        axes.plot(numbers, [scale * row.ours for _, row in line], "o-", color=OURS, label="memlab")
        axes.plot(numbers, [scale * row.reference for _, row in line], "s--", color=REFERENCE, label="reference")
        drawn = [scale * value for _, row in line for value in (row.ours, row.reference)]
        # Whole decades, so that each axis has at least two numbers on it.
        bounds = (10 ** math.floor(math.log10(min(drawn))), 10 ** math.ceil(math.log10(max(drawn)) + 1e-9))
        axes.set(xscale="log", yscale="log", xlabel="memories", ylabel=label, ylim=bounds)
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_title(what, fontsize="small")
        axes.grid(alpha=0.3)
    for axes in figure.axes[len(lines) :]:
        axes.remove()
    figure.axes[0].legend(fontsize="small")
    figure.savefig(path, dpi=150)
