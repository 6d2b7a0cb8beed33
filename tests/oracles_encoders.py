"""Slow, obvious twins of the encoders' room."""

import hashlib
import math

from memlab.text import tokens


def hash_row(text, dimension):
    """HashEncoder's row, one feature after the other, in plain Python."""
    row = [0.0] * dimension
    for token in tokens(text):
        framed = "<" + token + ">"
        features = [(token, 1.0)]
        for place in range(len(framed) - 2):
            features.append(("3" + framed[place : place + 3], 0.5))
        for feature, weight in features:
            value = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
            sign = 1.0 if value % 2 == 1 else -1.0
            row[(value // 2) % dimension] += sign * weight
    length = math.sqrt(sum(number * number for number in row))
    return [number / length for number in row] if length else row
