"""What terms a text gives: its tokens, stemmed, and for a query without stop words.

Documents keep every word: a memory is found by whatever it says. A query is asked in words that say nothing
about the answer ("what did … do"), and BM25 would reward memories that repeat them, so those are left out.

References
----------
.. [1] M. F. Porter, "Snowball: a language for stemming algorithms", 2001, https://snowballstem.org
"""

import unicodedata
from dataclasses import dataclass

import Stemmer

from memlab.ascii_words import words
from memlab.errors import MethodError

__all__ = ["STOP_WORDS", "Analyser", "TermEvidence"]

# Words that a question is made of. No negation stands here (no, not, never, nor, without, didnt),
# nor may and will, which are a month and a name.
_ENGLISH = (
    "a about am an and any anything are as at be because been being between but by can could did do does "
    "doing done each either else ever every for from had has have having he her here hers herself him "
    "himself his how i if in into is it its itself just kind let many me might mine much must my myself "
    "of off on onto or other our ours ourselves please shall she should so some somebody someone "
    "something such tell than that the their theirs them themselves then there these they thing things "
    "this those though through to too toward towards upon us very was we were what whatever when whenever "
    "where wherever whether which whichever while who whoever whom whose why with would yet you your "
    "yours yourself "
)
STOP_WORDS = {"english": frozenset(_ENGLISH.split())}

# The letters each stemmer knows, as Unicode names begin; the languages not listed write Latin.
_SCRIPTS: dict[str, tuple[str, ...]] = {
    "arabic": ("ARABIC",),
    "armenian": ("ARMENIAN",),
    "greek": ("GREEK",),
    "hindi": ("DEVANAGARI",),
    "nepali": ("DEVANAGARI",),
    "persian": ("ARABIC",),
    "russian": ("CYRILLIC",),
    "serbian": ("CYRILLIC", "LATIN"),
    "tamil": ("TAMIL",),
    "yiddish": ("HEBREW",),
}
_MOST_STEMS = 200_000  # kept in memory
_LONGEST_WORD = 64  # characters; what is longer isn't a word and isn't stemmed


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """What one query term adds to one document's score.

    Parameters
    ----------
    term : str
        The term as indexed: folded, stemmed.
    surface : str
        The query's word it comes from, the first if there are several.
    idf : float
        How rare the term is: its inverse document frequency.
    tf : int
        How often the document holds it.
    contribution : float
        Its share of the score; the contributions sum to the score.
    """

    term: str
    surface: str
    idf: float
    tf: int
    contribution: float


class Analyser:
    """Turns text into the terms that are counted.

    Parameters
    ----------
    language : str, default "english"
        Snowball algorithm that stems words of letters in the language's script. What holds a digit or
        a joining sign, words of more than 64 characters and words of other scripts stay as they are.

    Raises
    ------
    MethodError
        `language` has no stemmer.

    Notes
    -----
    Not safe for several threads at once: the caller holds the lock.

    Examples
    --------
    >>> Analyser().terms("Bo isn't moving EXP-7")
    ['bo', 'isnt', 'move', 'exp-7', 'exp', '7']
    """

    def __init__(self, language: str = "english") -> None:
        if language not in Stemmer.algorithms():
            known = ", ".join(Stemmer.algorithms())
            raise MethodError(f"language {language!r} has no stemmer; use one of {known}")
        self.language = language
        self._stemmer = Stemmer.Stemmer(language)
        self._script = _SCRIPTS.get(language, ("LATIN",))
        self._stop = STOP_WORDS.get(language, frozenset())
        self._stems: dict[str, str] = {}

    def terms(self, text: str) -> list[str]:
        """Return the terms of a document.

        Parameters
        ----------
        text : str
            The document.

        Returns
        -------
        list of str
            The tokens of :func:`memlab.text.tokens`, stemmed, in order, repeats kept.
        """
        known, stem = self._stems.get, self._stem
        return [known(token) or stem(token) for token in words(text)]

    def query_terms(self, text: str) -> list[tuple[str, str]]:
        """Return the terms of a query: those of a document without stop words.

        Parameters
        ----------
        text : str
            The query.

        Returns
        -------
        list of (str, str)
            Each term and the word it comes from, in order, repeats kept. A query of stop words only
            keeps them all. Languages other than English have no stop words.

        Examples
        --------
        >>> Analyser().query_terms("What did Bo not liking?")
        [('bo', 'bo'), ('not', 'not'), ('like', 'liking')]
        """
        asked = words(text)
        telling = [word for word in asked if word not in self._stop] or asked
        return [(self._stems.get(word) or self._stem(word), word) for word in telling]

    def _stem(self, token: str) -> str:
        """Stem a token if it is a word of the language's script, and remember it."""
        if len(token) > _LONGEST_WORD:
            return token
        # A stem can be empty where a language's rules take all of a short word.
        stem = (self._stemmer.stemWord(token) or token) if all(map(self._spells, token)) else token
        if len(self._stems) >= _MOST_STEMS:
            self._stems.clear()
        self._stems[token] = stem
        return stem

    def _spells(self, char: str) -> bool:
        """Say whether a character is a letter of the language's script, or a mark on one."""
        letter = char.isalpha() and unicodedata.name(char, "").startswith(self._script)
        return letter or unicodedata.category(char)[0] == "M"
