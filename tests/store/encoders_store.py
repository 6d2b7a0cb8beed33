"""Encoders that count, fail or call back, for tests of the store."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from memlab.encoders import HashEncoder, Kind


class Counting(HashEncoder):
    """A HashEncoder that remembers what it was asked to encode, and does something first."""

    def __init__(self, dimension: int = 16, first: Callable[[], object] = lambda: None) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []
        self.first = first

    def encode(self, texts: Sequence[str], kind: Kind = "passage", progress: bool = False) -> npt.NDArray[np.float32]:
        """Encode, and remember."""
        self.first()
        self.asked += texts
        return super().encode(texts, kind, progress)


class Bent:
    """An encoder that gives whatever it is told to give."""

    name, fingerprint = "bent", "bent"

    def __init__(self, dimension: int, give: Callable[[int], object]) -> None:
        self.dimension = dimension
        self.give = give

    def encode(self, texts: Sequence[str], kind: Kind = "passage", progress: bool = False) -> npt.NDArray[np.float32]:
        """Give it."""
        return self.give(len(texts))  # type: ignore[return-value]
