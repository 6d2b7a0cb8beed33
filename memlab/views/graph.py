"""The graph of a store, a recall or frames, as a page, a drawing, or a notebook's output."""

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from memlab.errors import StorageError
from memlab.markup import Html, frame
from memlab.views.page import graph_page
from memlab.views.scene import Scene, scene
from memlab.views.sources import Source, tables
from memlab.views.svg import drawing


class GraphView:
    """A drawn graph; the last expression of a cell shows it.

    Parameters
    ----------
    scene : Scene
        What is drawn: dots, lines, their places, and counts.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    def places(self) -> dict[str, tuple[float, float]]:
        """The place of each memory, to be given to the next view so that nothing moves."""
        return {dot.memory_id: (dot.x, dot.y) for dot in self.scene.dots}

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write the graph as one self-contained page.

        Parameters
        ----------
        path : str or path
            The file to write; an existing one is replaced, all at once. Its folder must exist.

        Returns
        -------
        Path
            The absolute path of the page: UTF-8, about 0.7 MB, no reference to any other file or host.

        Raises
        ------
        StorageError
            If it can't be written; then nothing was.
        """
        return _written(path, graph_page(self.scene))

    def to_svg(self, path: str | os.PathLike[str]) -> Path:
        """Write the graph as a still picture.

        Parameters
        ----------
        path : str or path
            The file to write; an existing one is replaced, all at once. Its folder must exist.

        Returns
        -------
        Path
            The absolute path of the picture, which has no script and follows the reader's light or dark theme.

        Raises
        ------
        StorageError
            If it can't be written; then nothing was.
        """
        return _written(path, drawing(self.scene))

    def __repr__(self) -> str:
        return f"GraphView({self.scene.title!r}: {self.scene.summary})"

    def _repr_html_(self) -> str:
        return frame(graph_page(self.scene), height=600, label=self.scene.title)


def view(
    source: Source,
    *,
    limit: int = 200,
    space: str | Sequence[str] | None = None,
    title: str | None = None,
    places: Mapping[str, tuple[float, float]] | None = None,
) -> GraphView:
    """Draw memories and their associations.

    Parameters
    ----------
    source : MemoryStore, Recall, DataFrame or pair of DataFrames
        A store; a recall, whose hits are drawn with their ranks and the paths that led to them; a frame of
        memories; or a pair of frames like `store.memories` and `store.associations`.
    limit : int, default 200
        The most memories to draw, from 1 to 2,000: the most important ones (of a recall, the best), ties by id,
        with the associations among them. The page says how many of how many are shown.
    space : str, sequence of str or None
        Spaces to look in; ``"*"`` for all. By default a store's default space, and all that a recall or frames
        hold. An association that crosses spaces isn't drawn.
    title : str, optional
        Over the graph; by default what the source is.
    places : mapping of str to (float, float), optional
        The `places` of an earlier view: its memories stay where they were.

    Returns
    -------
    GraphView
        Shows itself in a notebook; `to_html` and `to_svg` write it. Nothing is written before that, and equal
        input gives an equal drawing.

    Raises
    ------
    TypeError
        If the source can't be drawn.
    ValueError
        If the limit is out of range, a frame lacks a needed column, or two memories have one id.

    Notes
    -----
    An importance that is NaN counts as 0 for size and order. A memory is drawn as superseded if it is the
    older end of an association such as INVALIDATED_BY whose other end isn't archived; on a tie, or without
    times, the source is. Validity in time isn't looked at, so that a view doesn't depend on the hour.

    Examples
    --------
    >>> import pandas as pd
    >>> memories = pd.DataFrame({"memory_id": ["a", "b"], "content": ["Ana moved.", "Ana lives in Oslo."]})
    >>> links = pd.DataFrame({"source": ["a"], "relation": ["LEADS_TO"], "target": ["b"]})
    >>> view((memories, links))
    GraphView('Memory graph': 2 of 2 memories shown · 1 association)
    """
    return GraphView(scene(tables(source, space), limit=limit, title=title, places=places))


def _written(path: str | os.PathLike[str], content: Html) -> Path:
    """Write beside the target and move it there, so that a reader finds the old file or the new one."""
    target = Path(path).absolute()
    if not target.parent.is_dir():
        raise StorageError(f"there is no folder {target.parent}; make it first, or give another path")
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        part.write_text(content, encoding="utf-8", newline="\n")
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageError(f"{target} can't be written: {error.strerror}; choose another path") from error
    return target
