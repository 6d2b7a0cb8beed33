"""What hypothesis makes up: texts of any script, JSON, memories, associations and filters."""

import unicodedata
from datetime import UTC, datetime

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from memlab.records import Association, Memory

# What the door of text.py lets through: anything UTF-8 can hold but NUL.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
NASTY_TEXTS = (
    *(
        "cafe\u0301",
        "café",
        "Straße",
        "猫が好き",
        "👩‍👩‍👧‍👦 🇳🇴",
        "שלום עולם",
        "مرحبا",
        "\u202eevil",
        "a\u200bb",
        "İstanbul",
    ),
    *(
        "<script>alert(1)</script>",
        "' OR 1=1 --",
        '"quoted"',
        "line\nbreak\ttab\r",
        "\ufeffBOM",
        "%s {0} \\",
        "x\x1b[31m",
    ),
)
INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
SHARES = st.floats(0, 1)
# Few and short, so that filters meet memories; among them names that are also fields or words of the language.
KEYS = ("city", "year", "a", "b", "type", "not", "größe")


def shows(text: str) -> bool:
    """Whether something of the text can be seen."""
    return any(unicodedata.category(char)[0] in "LNS" for char in text)


def any_texts() -> SearchStrategy[str]:
    """Any text that may be stored, the blank included."""
    return st.one_of(st.text(CHARACTERS, max_size=30), st.sampled_from(NASTY_TEXTS))


def texts() -> SearchStrategy[str]:
    """Any text that `check_text` lets through: something in it shows."""
    # An appended letter instead of a filter: blank texts are too common to throw away.
    return any_texts().map(lambda text: text if shows(text) else f"{text}x")


def ids() -> SearchStrategy[str]:
    """Memory ids: few of them, so that they meet, and now and then an odd one."""
    few = st.sampled_from(["m0", "m1", "m2", "m3", "m4", "../x/y", "猫", "M1"])
    return st.one_of(few, few, few, texts())


def scalars() -> SearchStrategy[object]:
    """JSON values that hold no others, each bound hit often."""
    edges = st.sampled_from([2**53 + 1, -(2**63), 2**64, 10**100, 0, 1, True, False, 1.0, -0.0, 5e-324, 1e308])
    numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), edges)
    return st.one_of(st.none(), st.booleans(), numbers, any_texts())


def json_values() -> SearchStrategy[object]:
    """Any JSON value, nested."""
    return st.recursive(
        scalars(),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(any_texts(), inner, max_size=3)),
        max_leaves=6,
    )


def metadata() -> SearchStrategy[dict[str, object]]:
    """Any JSON object."""
    return st.dictionaries(any_texts(), json_values(), max_size=4)


def plain_values() -> SearchStrategy[object]:
    """A few values that are equal, nearly equal, or never comparable: what filters trip over."""
    return st.sampled_from(
        [None, True, False, 0, 1, 1.0, 2, 2.5, 2**53, 2**53 + 1, "1", "", "Oslo", "oslo", "Porto", "cafe\u0301", "café"]
    )


def small_metadata() -> SearchStrategy[dict[str, object]]:
    """Metadata of few keys and values, nested once, so that filters meet it."""
    inner = st.one_of(
        plain_values(),
        st.lists(plain_values(), max_size=2),
        st.dictionaries(st.sampled_from(KEYS), plain_values(), max_size=2),
    )
    return st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)


TAGS = ("home", "Home", "project:tide", "project/tide/north", "Project/Tidepool", "café", "cafe\u0301", " work ")


@st.composite
def memories(
    draw: st.DrawFn,
    memory_id: SearchStrategy[str] | None = None,
    content: SearchStrategy[str] | None = None,
    meta: SearchStrategy[dict[str, object]] | None = None,
) -> Memory:
    """Any memory; ids, contents and metadata may be narrowed."""

    def maybe(strategy: SearchStrategy[object]) -> object:
        return draw(st.one_of(st.none(), strategy))

    begin, end = sorted(draw(st.lists(INSTANTS, min_size=2, max_size=2, unique=True)))
    return Memory(
        memory_id=draw(ids() if memory_id is None else memory_id),
        content=draw(texts() if content is None else content),
        space=draw(st.sampled_from(["default", "Home", "home"])),
        type=maybe(st.sampled_from(["Decision", "Context", "Oslo", "1"])),
        tags=tuple(draw(st.lists(st.sampled_from(TAGS), max_size=3))),
        importance=draw(st.one_of(SHARES, st.sampled_from([0, 0.5, 1]))),
        confidence=draw(SHARES),
        metadata=draw(metadata() if meta is None else meta),
        role=maybe(st.sampled_from(["user", "assistant", "Caroline"])),
        session_id=maybe(st.sampled_from(["s1", "s2"])),
        sequence=maybe(st.integers(0, 6)),
        content_type=draw(st.sampled_from(["text", "markdown"])),
        source=maybe(texts()),
        happened_at=maybe(INSTANTS),
        created_at=draw(INSTANTS),
        updated_at=draw(INSTANTS),
        valid_from=draw(st.sampled_from([None, begin])),
        valid_until=draw(st.sampled_from([None, end])),
        archived=draw(st.booleans()),
        protected=draw(st.booleans()),
        aliases=tuple(draw(st.lists(st.sampled_from(["old1", "old2", "old3"]), max_size=1))),
    )


@st.composite
def associations(draw: st.DrawFn) -> Association:
    """Any association of few memories, parallel and circular ones among them."""
    source, target = draw(st.lists(st.sampled_from("abcde"), min_size=2, max_size=2, unique=True))
    relation = draw(st.sampled_from(["RELATES_TO", "LEADS_TO", "INVALIDATED_BY", "PART_OF"]))
    properties = draw(st.sampled_from([{}, {"role": "lead"}, {"context": "猫"}])) if relation == "PART_OF" else {}
    return Association(
        source=source,
        relation=relation,
        target=target,
        strength=draw(SHARES),
        properties=properties,
        origin=draw(st.sampled_from(["authored", "derived"])),
        created_at=draw(INSTANTS),
        updated_at=draw(INSTANTS),
    )


def _given(strategy: SearchStrategy[object]) -> SearchStrategy[object]:
    return strategy.filter(lambda value: value is not None)


def _conditions(values: SearchStrategy[object], ordered: SearchStrategy[object]) -> SearchStrategy[object]:
    """A bare value, or operators with operands."""
    return st.one_of(
        values,
        st.dictionaries(st.sampled_from(["eq", "ne", "contains"]), values, min_size=1, max_size=2),
        st.dictionaries(st.sampled_from(["lt", "le", "gt", "ge"]), ordered, min_size=1, max_size=2),
        st.dictionaries(st.sampled_from(["in", "nin"]), st.lists(values, max_size=3), min_size=1, max_size=1),
        st.fixed_dictionaries({"exists": st.booleans()}),
    )


def _entries() -> SearchStrategy[dict[str, object]]:
    """One name with one condition."""
    plain = _given(plain_values())
    ordered = plain.filter(lambda value: not isinstance(value, bool))
    names = (
        *KEYS[:4],
        "metadata.type",
        "metadata.not",
        "größe",
        "a.b",
        "a.city",
        "metadata.b.a",
        "type",
        "role",
        "content",
    )
    numbers = st.sampled_from([0, 0.5, 1, 1.0, 3, 2**53])
    return st.one_of(
        st.tuples(st.sampled_from(names), _conditions(plain, ordered)),
        st.tuples(st.sampled_from(["importance", "confidence", "sequence"]), _conditions(numbers, numbers)),
        st.tuples(st.sampled_from(["happened_at", "created_at", "valid_until"]), _conditions(INSTANTS, INSTANTS)),
        st.tuples(st.just("archived"), st.booleans()),
        st.tuples(st.just("tags"), st.fixed_dictionaries({"contains": st.sampled_from(TAGS)})),
        st.tuples(st.just("aliases"), st.fixed_dictionaries({"contains": st.sampled_from(["old1", "old2"])})),
    ).map(lambda entry: {entry[0]: entry[1]})


def wheres() -> SearchStrategy[dict[str, object]]:
    """Any `where` that can be read."""
    return st.recursive(
        _entries(),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
            st.lists(inner, min_size=1, max_size=3).map(lambda members: {"and": members}),
            st.lists(inner, min_size=1, max_size=3).map(lambda members: {"or": members}),
            inner.map(lambda member: {"not": member}),
        ),
        max_leaves=4,
    )
