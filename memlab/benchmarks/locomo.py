"""LoCoMo: long conversations of two people, and questions about them [1]_.

The native file, ``locomo10.json``, is an array of conversations. Each is a space of its own here, each turn a
memory with its speaker as role and the date of its session as event time. What a shared photo shows is part of
the turn: the set's questions ask for it. The observations and summaries that the file carries too were written by
a model that had seen the conversation, and aren't read.

A question's evidence lists turns, with some misprints, which are mended by one rule: in every string each
``D<session>:<turn>`` is taken, also where a stray colon follows the D or a number has leading zeros; turns that
the conversation has are kept, once each. Everything that this changes is listed in ``benchmark.repairs``.

References
----------
.. [1] A. Maharana, D.-H. Lee, S. Tulyakov, M. Bansal, F. Barbieri, Y. Fang, "Evaluating very long-term
   conversational memory of LLM agents", ACL 2024, https://github.com/snap-research/locomo
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memlab.benchmarks.files import of_kind, read_json, take
from memlab.errors import DatasetError
from memlab.trials import Benchmark, Qrels, Query

# The paper lists the categories in another order than the file numbers them. The numbers are those of
# task_eval/evaluation.py in the set's repository (see its issues 6 and 29, where the confusion is settled).
CATEGORIES: Mapping[int, str] = MappingProxyType(
    {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
)
ADVERSARIAL = 5
LEVELS = ("turn", "session")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
# Not strptime: its names of months follow the machine's locale.
DATE = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Z][a-z]+), (\d{4})")
TURN = re.compile(r"D:?(\d+):(\d+)")
SESSION = re.compile(r"session_(\d+)")

Corrections = Mapping[tuple[str, int], tuple[str, list[str]]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the file: its turns as memories, by ``D<session>:<turn>``, and when it ended."""

    sample_id: str
    turns: Mapping[str, Mapping[str, Any]]
    ended: datetime
    qa: Sequence[Any]


def load_locomo(path: str | Path, *, level: str = "turn", audit: str | Path | None = None) -> Benchmark:
    """Read a LoCoMo file in its native form.

    Parameters
    ----------
    path : str or Path
        ``locomo10.json``, or a file with some of its conversations.
    level : {"turn", "session"}, default "turn"
        What is relevant: the turns that the evidence names, or the sessions they stand in. The memories are
        turns either way.
    audit : str or Path, optional
        An audit of the answer key. Where it finds WRONG_CITATION, its ``correct_evidence`` replaces the
        question's evidence; its other findings are about answers and change nothing here.

    Returns
    -------
    Benchmark
        Memory ids are ``<sample_id>/D<session>:<turn>``, query ids ``<sample_id>/qa<index>``, the space is the
        sample id, and a query's ``now`` is the time of the conversation's last session. Slices: ``category`` and
        ``conversation``. Questions of category 5 (adversarial) aren't answerable: their evidence names the turn
        that the trap is built on. Questions without evidence are asked and not scored.

    Raises
    ------
    DatasetError
        If a file can't be read or isn't as described; the message says where.

    Notes
    -----
    The file's dates have no zone. They are read as UTC.
    """
    if level not in LEVELS:
        raise DatasetError(f"level is {level!r}; LoCoMo has the levels {' and '.join(map(repr, LEVELS))}")
    repairs: list[str] = []
    samples = of_kind(read_json(Path(path)), list, "$")
    conversations = [_conversation(sample, f"$[{i}]", repairs) for i, sample in enumerate(samples)]
    names = [conversation.sample_id for conversation in conversations]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise DatasetError(f"$ has the sample_id {repeated[0]!r} twice; ids of samples are unique")
    corrections = {} if audit is None else _read_audit(Path(audit), names)
    queries, qrels = [], {}
    for i, conversation in enumerate(conversations):
        for query, turns in _questions(conversation, f"$[{i}]", corrections, repairs):
            queries.append(query)
            field = "memory_id" if level == "turn" else "session_id"
            qrels[query.query_id] = [str(conversation.turns[turn][field]) for turn in turns]
    memories = [memory for conversation in conversations for memory in conversation.turns.values()]
    return Benchmark(
        name="locomo",
        level=level,
        memories=memories,
        queries=queries,
        qrels=Qrels({query_id: units for query_id, units in qrels.items() if units}),
        units=None if level == "turn" else {m["memory_id"]: m["session_id"] for m in memories},
        repairs=repairs,
        licence="CC BY-NC 4.0",
        description=f"LoCoMo: {len(names)} conversations ({', '.join(names)})",
    )


def parse_date(text: str, place: str = "the date") -> datetime:
    """Read a session's date, such as ``1:56 pm on 8 May, 2023``.

    Parameters
    ----------
    text : str
        The date, in exactly this form.
    place : str, default "the date"
        Where it stands, for the message.

    Returns
    -------
    datetime
        In UTC.

    Raises
    ------
    DatasetError
        If it has another form, or there is no such time.

    Examples
    --------
    >>> parse_date("12:09 am on 13 September, 2023").isoformat()
    '2023-09-13T00:09:00+00:00'
    """
    found = DATE.fullmatch(text)
    if not found or found[5] not in MONTHS or not 1 <= int(found[1]) <= 12:
        raise DatasetError(f"{place} is {text!r}; expected a date such as '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3] == "pm" else 0)
    try:
        return datetime(int(found[6]), MONTHS.index(found[5]) + 1, int(found[4]), hour, int(found[2]), tzinfo=UTC)
    except ValueError as error:
        raise DatasetError(f"{place} is {text!r}, which is no date: {error}") from error


def resolve_evidence(evidence: Iterable[str], turns: Collection[str]) -> tuple[list[str], list[str]]:
    """Find the turns that a question's evidence names.

    Parameters
    ----------
    evidence : iterable of str
        As the file has it.
    turns : collection of str
        The conversation's turns, as ``D<session>:<turn>`` without leading zeros.

    Returns
    -------
    (list of str, list of str)
        The turns, once each, in order; and what had to be mended, one phrase each.

    Examples
    --------
    >>> resolve_evidence(["D1:2; D1:03", "D:1:2", "D"], {"D1:2", "D1:3"})[0]
    ['D1:2', 'D1:3']
    """
    kept: list[str] = []
    mended = []
    for text in evidence:
        named = [f"D{int(session)}:{int(turn)}" for session, turn in TURN.findall(text)]
        if not named:
            mended.append(f"{text!r} names no turn and is dropped")
        elif named != [text]:
            mended.append(f"{text!r} is read as {', '.join(named)}")
        for turn in named:
            if turn not in turns:
                mended.append(f"{turn} is a turn that isn't there and is dropped")
            elif turn in kept:
                mended.append(f"{turn} is given twice and counts once")
            else:
                kept.append(turn)
    return kept, mended


def _conversation(sample: Any, place: str, repairs: list[str]) -> Conversation:
    sample_id = take(of_kind(sample, dict, place), "sample_id", str, place)
    talk, inside = take(sample, "conversation", dict, place), f"{place}.conversation"
    numbers = sorted(int(found[1]) for key in talk if (found := SESSION.fullmatch(key)))
    if not numbers:
        raise DatasetError(f"{inside} has no session; expected session_1, session_2 and so on")
    dated = {int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)_date_time", key))}
    if spare := sorted(dated - set(numbers)):
        repairs.append(f"{sample_id}: {len(spare)} dates ({spare[0]} to {spare[-1]}) have no session")
    turns: dict[str, dict[str, Any]] = {}
    for number in numbers:
        when = take(talk, f"session_{number}_date_time", str, inside)
        date = parse_date(when, f"{inside}.session_{number}_date_time")
        session = take(talk, f"session_{number}", list, inside)
        for i, turn in enumerate(session):
            at = f"{inside}.session_{number}[{i}]"
            _add_turn(turns, of_kind(turn, dict, at), at, (sample_id, number, date), repairs)
    if not turns:
        raise DatasetError(f"{inside} has sessions and no turn; expected some")
    ended = max(memory["happened_at"] for memory in turns.values())
    return Conversation(sample_id, turns, ended, take(sample, "qa", list, place))


def _add_turn(
    turns: dict[str, dict[str, Any]],
    turn: Mapping[str, Any],
    place: str,
    session: tuple[str, int, datetime],
    repairs: list[str],
) -> None:
    """Add one turn's memory to those of its conversation, under its id."""
    sample_id, number, when = session
    dia_id = take(turn, "dia_id", str, place)
    found = re.fullmatch(r"D(\d+):(\d+)", dia_id)
    if not found or int(found[1]) != number:
        raise DatasetError(f"{place}.dia_id is {dia_id!r}; expected 'D{number}:<turn>'")
    name = f"D{number}:{int(found[2])}"
    if name in turns:
        raise DatasetError(f"{place}.dia_id is {dia_id!r}, which an earlier turn has; ids are unique in a sample")
    content = _content(turn, place)
    if not content:
        repairs.append(f"{sample_id} {name}: a turn without text or caption is left out")
        return
    turns[name] = {
        "memory_id": f"{sample_id}/{name}",
        "content": content,
        "space": sample_id,
        "role": take(turn, "speaker", str, place),
        "session_id": f"{sample_id}/session_{number}",
        "sequence": int(found[2]),
        "happened_at": when,
        "source": "locomo",
    }


def _content(turn: Mapping[str, Any], place: str) -> str:
    """What is said and, where a photo is shared, what it shows."""
    text = take(turn, "text", str, place)
    caption = turn.get("blip_caption")
    if caption is None:
        return text if text.strip() else ""
    shared = f"[shares a photo: {of_kind(caption, str, f'{place}.blip_caption')}]"
    return f"{text} {shared}" if text.strip() else shared


def _questions(
    conversation: Conversation, place: str, corrections: Corrections, repairs: list[str]
) -> Iterator[tuple[Query, list[str]]]:
    """The questions of one conversation, each with the turns that are relevant to it."""
    for i, item in enumerate(conversation.qa):
        at, name = f"{place}.qa[{i}]", f"{conversation.sample_id} qa[{i}]"
        text = take(of_kind(item, dict, at), "question", str, at)
        category = take(item, "category", int, at)
        if category not in CATEGORIES:
            raise DatasetError(f"{at}.category is {category}; expected 1 to {len(CATEGORIES)}")
        evidence = take(item, "evidence", list, at)
        if (conversation.sample_id, i) in corrections:
            audited, evidence = corrections[conversation.sample_id, i]
            if audited != text:
                raise DatasetError(f"{at}.question isn't the one that the audit corrects; is it of this file?")
            repairs.append(f"{name}: evidence corrected by the audit")
        strings = [of_kind(entry, str, f"{at}.evidence[{j}]") for j, entry in enumerate(evidence)]
        turns, mended = resolve_evidence(strings, conversation.turns)
        repairs.extend(f"{name}: {phrase}" for phrase in mended)
        if not turns:
            repairs.append(f"{name}: no evidence, so it is asked and not scored")
        query = Query(
            query_id=f"{conversation.sample_id}/qa{i}",
            text=text,
            space=conversation.sample_id,
            slices={"category": CATEGORIES[category], "conversation": conversation.sample_id},
            now=conversation.ended,
            answerable=category != ADVERSARIAL,
            note=_note(item),
        )
        yield query, turns


def _note(item: Mapping[str, Any]) -> str:
    """The answer, or the answer that the trap suggests."""
    if "answer" in item:
        return f"answer: {item['answer']}"
    return f"adversarial answer: {item['adversarial_answer']}" if "adversarial_answer" in item else ""


def _read_audit(path: Path, names: Sequence[str]) -> dict[tuple[str, int], tuple[str, list[str]]]:
    """The question and corrected evidence of each WRONG_CITATION, by sample id and index of the question."""
    corrections = {}
    for i, item in enumerate(of_kind(read_json(path), list, "$ of the audit")):
        place = f"$[{i}] of the audit"
        if take(of_kind(item, dict, place), "error_type", str, place) != "WRONG_CITATION":
            continue
        question_id = take(item, "question_id", str, place)
        found = re.fullmatch(r"locomo_(\d+)_qa(\d+)", question_id)
        if not found:
            raise DatasetError(f"{place}.question_id is {question_id!r}; expected 'locomo_<sample>_qa<index>'")
        # The number counts the samples of the whole set, so it serves only where the sample isn't named.
        sample = item.get("sample_id") or dict(enumerate(names)).get(int(found[1]))
        if sample is None:
            raise DatasetError(f"{place} is about sample {found[1]}, but the file has {len(names)} samples")
        evidence = take(item, "correct_evidence", list, place)
        corrections[sample, int(found[2])] = take(item, "question", str, place), evidence
    return corrections
