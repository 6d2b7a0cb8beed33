"""Slow, obvious twins of what the views compute."""

import math

import numpy as np
import numpy.typing as npt


def stress(points: npt.NDArray[np.float64], distance: npt.NDArray[np.float64]) -> float:
    """The sum over pairs of the squared relative error of distances."""
    total = 0.0
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            away = math.dist(points[i], points[j])
            total += (away - distance[i, j]) ** 2 / distance[i, j] ** 2
    return total


def nearest_pair(points: npt.NDArray[np.float64]) -> float:
    """The smallest distance of two points."""
    rows = points.tolist()
    return min(math.dist(a, b) for i, a in enumerate(rows) for b in rows[i + 1 :])
