"""What text may enter, and how text is matched.

Text goes in once and comes out unchanged; only *keys* and *tokens* are normalised, and only here.

:func:`check_text` is the door: what can't be UTF-8, holds NUL, or shows nothing is refused;
:func:`match_key` is the one key by which tags, names and repeats are compared; :func:`tokens` cuts
text of any script into the words that lexical recall counts. How tokens are made, in order:

1. *Fold.* NFC, then characters that only shape other characters are dropped (format characters
   such as soft hyphen, zero-width joiners and variation selectors; skin tones; the keycap), every
   apostrophe becomes ``'``, every hyphen and the en dash ``-``, every decimal digit an ASCII one.
   Then NFKC, casefold, NFKC: full-width letters, ligatures and half-width kana meet their plain
   forms. Accents are kept: ``café`` isn't ``cafe``. Composed and decomposed text fold alike.
2. *Shape.* Each folded character is replaced by one letter that names its class, so that one
   small regular expression finds words in every script.
3. *Words.* Letters and digits with their combining marks. Joined by single signs of
   ``- _ . / \\ @ : + &`` they give the whole and its parts: ``EXP-1042`` is ``exp-1042``, ``exp``,
   ``1042``. Numbers stay whole: ``1,234`` is ``1234``, ``3.14`` is ``3.14``. ``c++`` and ``c#`` keep
   their signs.
4. *Apostrophes* inside a word go: ``don't``, ``don’t`` and ``dont`` are ``dont``, so a negation
   is never lost. English endings ``'s 'll 're 've 'd 'm`` go with theirs (``Ana's`` is ``ana``).
   What follows another apostrophe is a part of its own if it has three letters or more:
   ``l'homme`` is ``lhomme``, ``homme``.
5. *Scripts without spaces.* Runs of Han, kana and Hangul, and of Thai, Lao, Khmer, Myanmar and
   their like, give overlapping pairs of characters (marks stay with their base), a run of one gives
   that one; Han and Hangul, where one character can be a word, give each character too. ``猫が好き``
   is ``猫``, ``猫が``, ``が好``, ``好``, ``好き``.
6. *Emoji* and other pictures are each a token; a flag is one token.

References
----------
.. [1] Unicode Standard Annex #15, Unicode Normalization Forms, https://www.unicode.org/reports/tr15/
.. [2] J.-Y. Nie, J. Gao, J. Zhang, M. Zhou, "On the use of words and n-grams for Chinese
   information retrieval", IRAL 2000: single characters beside bigrams.
"""

import re
import unicodedata

from memlab.errors import FilterError, InvalidMemory, MemlabError

__all__ = ["check_text", "match_key", "snippet", "tag_key", "tag_matches", "tokens"]


# These draw nothing, though their category doesn't say so: fillers, the blank Braille cell, selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for code in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def _invisible(char: str) -> bool:
    return char in _INVISIBLE or unicodedata.category(char) in {"Zs", "Zl", "Zp", "Cc", "Cf"}


def check_text(
    text: object,
    what: str = "content",
    allow_blank: bool = False,
    *,
    error: type[MemlabError] = InvalidMemory,
) -> str:
    r"""Return `text` unchanged if it may be stored; else refuse it.

    Parameters
    ----------
    text : object
        The text. Anything that isn't a string is refused.
    what : str, default "content"
        What the text is, for the message.
    allow_blank : bool, default False
        Whether text that shows nothing is let through: empty, or only white space, control, format
        and other invisible characters.
    error : type of MemlabError, default InvalidMemory
        The class of the error.

    Returns
    -------
    str
        The same text, character for character. A subclass of str comes back as a plain str.

    Raises
    ------
    InvalidMemory
        Or `error`: not a string, an unpaired surrogate, a NUL character, or blank.

    Examples
    --------
    >>> check_text("Ana moved to Oslo.")
    'Ana moved to Oslo.'
    >>> check_text(" \u200b\n")
    Traceback (most recent call last):
        ...
    memlab.errors.InvalidMemory: content is blank (3 characters, none visible); give some text
    """
    if type(text) is str and text.isascii() and text.isprintable() and text.strip(" "):
        return text  # most texts, without looking at each character
    if not isinstance(text, str):
        raise error(f"{what} is of type {type(text).__name__}; give a str")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise error(
            f"{what} has an unpaired surrogate U+{ord(text[problem.start]):04X} at position {problem.start}, "
            "which UTF-8 can't hold; decode the source again, or remove it"
        ) from None
    nul = text.find("\x00")
    if nul >= 0:
        # SQLite keeps NUL, but its text functions and many readers stop at it.
        raise error(f"{what} has a NUL character at position {nul}; remove it")
    if not allow_blank and all(map(_invisible, text)):
        length = f"{len(text)} characters, none visible" if text else "empty"
        raise error(f"{what} is blank ({length}); give some text")
    return str.__str__(text)


def match_key(text: str) -> str:
    """Return the key by which two texts are taken as the same: NFC, casefold, NFC.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The key. Equal for composed and decomposed forms and for any letter case. White space,
        accents and full-width forms are kept apart.

    Examples
    --------
    >>> match_key("Cafe\u0301") == match_key("CAFÉ")
    True
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def tag_key(tag: str) -> str:
    """Return the key of a tag: its match key, trimmed, with ``/`` read as ``:``.

    Parameters
    ----------
    tag : str
        A tag, such as ``"Project/Tide"``.

    Returns
    -------
    str
        The key, such as ``"project:tide"``.

    Examples
    --------
    >>> tag_key(" Project/Tide ")
    'project:tide'
    """
    return match_key(tag).strip().replace("/", ":")


def tag_matches(tag: str, wanted: str, mode: str = "exact") -> bool:
    """Say whether a tag is the wanted one, or begins with it.

    Parameters
    ----------
    tag, wanted : str
        Keys, as :func:`tag_key` gives them.
    mode : {"exact", "prefix"}, default "exact"
        ``"prefix"`` compares characters, not segments: ``project:tide`` matches ``project:tide:north``
        and ``project:tidepool``. Write ``project:tide:`` to mean what is below a segment.

    Returns
    -------
    bool
        Whether it matches.

    Raises
    ------
    FilterError
        `mode` is neither.

    Examples
    --------
    >>> tag_matches("project:tide", "project", mode="prefix")
    True
    """
    if mode == "exact":
        return tag == wanted
    if mode == "prefix":
        return tag.startswith(wanted)
    raise FilterError(f"tag match {mode!r} is unknown; use 'exact' or 'prefix'")


_APOSTROPHES = "`´‘’ʼ＇"
_HYPHENS = "‐‑‒–−"
# The keycap and the skin tones: they change how the character before them looks, not what it says.
_SHAPERS = "\u20e3\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_EMPTY_SIGNS = "©®°\ufffc\ufffd"
# Scripts written without spaces between words, by how their characters are named in Unicode.
_WORD_SIGNS = ("CJK", "IDEOGRAPHIC", "HANGUL")
_KANA = ("HIRAGANA", "KATAKANA")
_UNSPACED = ("THAI", "LAO", "KHMER", "MYANMAR", "TAI ", "NEW TAI", "JAVANESE", "BALINESE")


class _Fold(dict[int, str | int | None]):
    """What becomes of a character before NFKC; filled as characters are met."""

    def __missing__(self, code: int) -> str | int | None:
        char = chr(code)
        result: str | int | None = code
        if char in _APOSTROPHES:
            result = "'"
        elif char in _HYPHENS:
            result = "-"
        elif char in "\u200b\u2800\u3164\uffa0™℠":
            result = " "
        elif unicodedata.category(char) == "Cf" or char in _INVISIBLE or char in _SHAPERS:
            result = None
        elif (digit := unicodedata.decimal(char, None)) is not None:
            result = str(digit)
        self[code] = result
        return result


class _Shape(dict[int, str]):
    """The class of a folded character, as one letter; filled as characters are met.

    a letter, d digit, m mark, h Han or Hangul, k kana, s letter of another unspaced script, e picture,
    r half of a flag; joining signs stand for themselves, the rest is a blank.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category, name = unicodedata.category(char), unicodedata.name(char, "")
        if char in "'-_./\\@:+&#,":
            result = char
        elif category in {"Co", "Cn"}:
            # Private or newer than this Python's tables: ideographs live on planes 2 and 3.
            result = "h" if 0x20000 <= code < 0x40000 else "e"
        elif category[0] == "M":
            result = "m"
        elif category[0] in "LN":
            result = self._letter(category, name)
        elif name.startswith(("REGIONAL INDICATOR", "BRAILLE")):
            result = "r" if name[0] == "R" else "a"
        else:
            # Box drawing and legal signs say nothing as words.
            picture = category == "So" and char not in _EMPTY_SIGNS and not 0x2500 <= code <= 0x259F
            result = "e" if picture else " "
        self[code] = result
        return result

    @staticmethod
    def _letter(category: str, name: str) -> str:
        for prefixes, letter in ((_WORD_SIGNS, "h"), (_KANA, "k"), (_UNSPACED, "s")):
            if name.startswith(prefixes):
                return letter
        return "d" if category[0] == "N" else "a"


_FOLD, _SHAPE = _Fold(), _Shape()
# A superscript or a fraction after a digit is a number of its own: 10² isn't 102.
_STUCK_DIGIT = re.compile("(?<=[0-9])(?=[²³¹⁰⁴-⁹₀-₉¼-¾⅐-⅞↉])")
_ATOM = "[ad][adm]*"
_WORD = f"{_ATOM}(?:'{_ATOM})*"
_TOKEN = re.compile(
    r"(?P<number>d{1,3}(?:,ddd)+(?:\.d+)?(?!d)|d+\.d+(?!\.?d|\.a|m|a+[dm]))"
    rf"|(?P<chain>{_WORD}(?:[-_./\\@:+&]{_WORD})+)"
    rf"|(?P<word>a#(?![adm#])|{_WORD}(?:\+\+(?!\+))?)"
    r"|(?P<sign>(?:[hk]m*)+)|(?P<unspaced>(?:sm*)+)|(?P<flag>rr?)|(?P<picture>em*)"
)
_UNIT = re.compile("[hks]m*")
_JOINTS = re.compile(r"[-_./\\@:+&]")
_CLITIC = re.compile("'(?:s|ll|re|ve|d|m)$")


def _fold(text: str) -> str:
    """Fold text for matching; see the module's step 1."""
    if text.isascii():
        return text.lower().replace("`", "'")
    folded = unicodedata.normalize("NFC", text).translate(_FOLD)
    folded = unicodedata.normalize("NFKC", _STUCK_DIGIT.sub(" ", folded)).casefold()
    # The dotted capital I folds to an i with a second dot, which no keyboard types.
    return unicodedata.normalize("NFKC", folded.replace("i\u0307", "i"))


def _apostrophes(word: str) -> list[str]:
    """Apply the module's step 4 to one word."""
    if "'" not in word:
        return [word]
    bare = _CLITIC.sub("", word)
    rest = [part for part in bare.split("'")[1:] if len(part) >= 3]
    return [bare.replace("'", ""), *rest]


def _chain(whole: str) -> list[str]:
    """Give a chain of joined words, then each of its parts."""
    found = [_CLITIC.sub("", whole).replace("'", "")]
    for part in _JOINTS.split(whole):
        found += _apostrophes(part)
    return found


def _pairs(run: str, shape: str) -> list[str]:
    """Cut a run of an unspaced script into characters and overlapping pairs; see step 5."""
    spans = [unit.span() for unit in _UNIT.finditer(shape)]
    if len(spans) == 1:
        return [run]
    found = []
    for position, (start, end) in enumerate(spans):
        if shape[start] == "h":
            found.append(run[start:end])
        if position + 1 < len(spans):
            found.append(run[start : spans[position + 1][1]])
    return found


def tokens(text: str) -> list[str]:
    """Cut text of any script into the words that lexical recall counts.

    Parameters
    ----------
    text : str
        Any text, of any length; blank text has no tokens.

    Returns
    -------
    list of str
        Folded tokens in the order of the text, repeats kept; a joined word is followed by its
        parts. Nothing is stemmed and no word is left out. The rules stand at the top of this module.
        A word of 20,000 letters is one token; the time is linear.

    Examples
    --------
    >>> tokens("Ana's EXP-1042 didn’t cost 1,234 € in 東京")
    ['ana', 'exp-1042', 'exp', '1042', 'didnt', 'cost', '1234', 'in', '東', '東京', '京']
    """
    folded = _fold(text)
    shape = folded.translate(_SHAPE)
    found: list[str] = []
    for match in _TOKEN.finditer(shape):
        start, end = match.span()
        piece, kind = folded[start:end], match.lastgroup
        if kind == "word":
            found += _apostrophes(piece)
        elif kind == "chain":
            found += _chain(piece)
        elif kind == "number":
            found.append(piece.replace(",", ""))
        elif kind in {"sign", "unspaced"}:
            found += _pairs(piece, match[0])
        else:
            found.append(piece)
    return found


def _holds_on(text: str, cut: int) -> bool:
    """Say whether the character at `cut` belongs to the one before it."""
    before, char = text[cut - 1], text[cut]
    if unicodedata.category(char)[0] == "M" or char in _SHAPERS or "\u200d" in (char, before):
        return True
    return all(0x1F1E6 <= ord(half) <= 0x1F1FF for half in (before, char))


def snippet(text: str, length: int = 80) -> str:
    """Shorten text to one line for display.

    Parameters
    ----------
    text : str
        Any text.
    length : int, default 80
        The most characters to give, the ellipsis included; at least 1.

    Returns
    -------
    str
        The text, white space collapsed; if it is too long, its beginning and ``…``. A character keeps
        its combining marks, a joined emoji its parts, unless nothing would be left.

    Raises
    ------
    ValueError
        `length` is below 1.

    Examples
    --------
    >>> snippet("Ana moved\\n to Oslo.", 12)
    'Ana moved t…'
    """
    if length < 1:
        raise ValueError(f"length is {length}; give 1 or more")
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = length - 1
    while cut > 0 and _holds_on(line, cut):
        cut -= 1
    return line[: cut or length - 1].rstrip() + "…"
