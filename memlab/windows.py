"""Pieces of a text that is longer than its encoder takes.

A window is a span of characters, but what has to fit is counted in the encoder's tokens. So the text
is cut where tokens begin, and each piece is counted again as it will be encoded, because a piece that
stands alone can have other tokens than it had in its text. Windows overlap, so that a sentence that
one cut goes through is whole in the next window.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from memlab.encoders import Encoder
from memlab.errors import EncoderError

__all__ = ["Measure", "token_windows", "windows_of"]

_SEEK: Final = 24  # characters that a cut may move back to stand at a space


@dataclass(frozen=True, slots=True)
class Measure:
    """How long a window may be.

    Parameters
    ----------
    limit : int
        The most tokens in a window, prompt and special tokens not counted.
    overlap : int
        Tokens that a window shares with the one before.
    characters : int
        The most characters in a window. A tokenizer may take a run of any length for one unknown
        token; without this cap such a run would be one window.
    """

    limit: int
    overlap: int
    characters: int

    @classmethod
    def of(cls, limit: int) -> "Measure":
        """Make the measure that memlab uses for a token limit.

        Parameters
        ----------
        limit : int
            The most tokens in a window.

        Returns
        -------
        Measure
            An eighth of the limit overlaps, and a window has at most 12 characters a token.
        """
        return cls(limit=limit, overlap=limit // 8, characters=12 * limit)


def token_windows(
    text: str, starts: Sequence[int], count: Callable[[str], int], measure: Measure
) -> list[tuple[int, int]]:
    """Cut a text into overlapping windows that fit.

    From the start of a window its end is the place where the first token begins that doesn't fit
    any more, moved back to a space if one is near; while the piece, counted alone, is still too
    long, it is cut shorter. The next window starts `overlap` tokens before that end.

    Parameters
    ----------
    text : str
        The whole text.
    starts : sequence of int
        The character at which each token of the text begins, in order. Tokens may share one.
    count : callable
        Gives the number of tokens of a piece that stands alone.
    measure : Measure
        How long a window may be.

    Returns
    -------
    list of (int, int)
        Spans ``text[start:end]`` in order. They cover the text, none is empty, each starts after the
        one before it, and none is longer than `measure` allows, except that one character which
        alone has more tokens than the limit is still a window. A text that fits is one span, and
        so is an empty text.

    Examples
    --------
    Words as tokens, three a window, one shared:

    >>> text = "one two three four five"
    >>> spans = token_windows(text, [0, 4, 8, 14, 19], lambda t: len(t.split()), Measure(3, 1, 100))
    >>> [text[start:end] for start, end in spans]
    ['one two three ', 'three four five']
    """
    spans: list[tuple[int, int]] = []
    reached = 0
    while reached < len(text) or not spans:
        start = _next_start(text, starts, spans[-1], measure) if spans else 0
        end = _end(text, starts, start, count, measure)
        if end <= reached and spans:  # the piece alone has so many tokens that sharing gains nothing
            start = reached
            end = _end(text, starts, start, count, measure)
        spans.append((start, end))
        reached = end
    return spans


def _next_start(text: str, starts: Sequence[int], last: tuple[int, int], measure: Measure) -> int:
    """Where the next window starts: some tokens before the end of the last one, at a word if one is near."""
    start, end = last
    token = max(bisect_left(starts, end) - measure.overlap, 0)
    shared = starts[token] if token < len(starts) else end
    # An endless token begins too far back, so that there the overlap is counted in characters.
    shared = max(shared, end - measure.characters // 8)
    space = text.find(" ", shared - 1, min(shared + _SEEK, end - 1))
    shared = space + 1 if space >= 0 else shared
    return shared if start < shared < end else end


def _end(text: str, starts: Sequence[int], start: int, count: Callable[[str], int], measure: Measure) -> int:
    """Where a window ends: before the first token that doesn't fit, at a space where one is near."""
    past = bisect_left(starts, start) + measure.limit
    end = max(starts[past], start + 1) if past < len(starts) else len(text)
    end = min(end, start + measure.characters, len(text))
    while True:
        if end < len(text):
            space = text.rfind(" ", max(start + 1, end - _SEEK), end)
            end = space + 1 if space > 0 else end
        found = count(text[start:end])
        if found <= measure.limit or end - start <= 1:
            return end
        # As much shorter as the piece is too long, and by one character at least.
        end = start + max(1, min(end - start - 1, (end - start) * measure.limit // found))


def windows_of(encoder: Encoder, text: str) -> list[tuple[int, int]]:
    """Give the pieces of a text that fit an encoder.

    Parameters
    ----------
    encoder : Encoder
        Its ``windows`` method is asked, if it has one.
    text : str
        The text as it will be encoded.

    Returns
    -------
    list of (int, int)
        Character spans ``text[start:end]`` in order, which together cover the text; one span for a
        text that fits, and for an encoder without ``windows``.

    Raises
    ------
    EncoderError
        When the encoder's spans are empty, out of order, or leave a part of the text out.

    Examples
    --------
    >>> from memlab.encoders import HashEncoder
    >>> windows_of(HashEncoder(), "Ana moved to Oslo.")
    [(0, 18)]
    """
    asked = getattr(encoder, "windows", None)
    if asked is None:
        return [(0, len(text))]
    spans = [(int(start), int(end)) for start, end in asked(text)]
    reached = 0
    sound = bool(spans)
    for start, end in spans:
        sound = sound and 0 <= start <= reached <= end and (start < end or not text)
        reached = end
    if not sound or reached != len(text):
        raise EncoderError(
            f"the encoder {encoder.name!r} gave the windows {spans[:5]} for a text of {len(text)} characters: "
            "spans in order, none empty, that cover all of it were expected"
        )
    return spans
