"""Words of plain ASCII text, the same as :func:`memlab.text.tokens` gives, several times faster.

No token crosses a blank, and nearly all English ones are letters and digits with at most a full stop or a comma
after them. Those are taken as they stand; only runs with a sign inside, such as ``exp-7`` or ``isn't``, go by all
the rules.
"""

import re

from memlab.text import tokens

__all__ = ["words"]

# Letters, digits and the signs that can hold them together: a token begins with the former and lies in one run.
_RUN = re.compile(r"[a-z0-9][a-z0-9'_./\\@:+&#,-]*")
_AFTER = "'-_./\\@:&,"  # signs that say nothing at the end of a run; "c#" and "c++" are words


def words(text: str) -> list[str]:
    """Cut text of any script into the words that lexical recall counts.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        What :func:`memlab.text.tokens` returns.

    Examples
    --------
    >>> words("Ana's EXP-1042 ran, 3 times.")
    ['ana', 'exp-1042', 'exp', '1042', 'ran', '3', 'times']
    """
    if not text.isascii():
        return tokens(text)
    found: list[str] = []
    for run in _RUN.findall(text.lower().replace("`", "'")):
        if run.isalnum() or (run := run.rstrip(_AFTER)).isalnum():
            found.append(run)
        else:
            found += tokens(run)
    return found
