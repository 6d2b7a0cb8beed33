"""The tables of what is the case: written with a checksum for every row, and with totals for every table.

SQLite notices a damaged page where its structure no longer fits together, but not a few changed bytes inside a
value, nor a page whose list of rows became shorter. So each row carries the crc32 of its values, and the newest
row of the log carries, for each table, how many rows there are and the sum of their checksums. Whoever reads a
whole table adds them up again: a changed row is named, and a lost one can't go unseen.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import apsw

from memlab.changes import Change
from memlab.errors import CorruptStore
from memlab.journal_rows import TO_SQL, checksum, key_of, plain, to_sql, where_clause
from memlab.journal_schema import TABLES

Totals = list[int]  # for each kind in order: how many rows, and the sum of their checksums
_PLACES = {kind: 2 * place for place, kind in enumerate(TABLES)}
SHOWN = 5  # lost rows that a message names
_NEWEST = (
    "SELECT (SELECT seq FROM sqlite_sequence WHERE name='log'), (SELECT time FROM log ORDER BY seq DESC LIMIT 1), "
    "(SELECT totals FROM log ORDER BY seq DESC LIMIT 1)"
)
ADVICE = "nothing was changed. Keep the file, and open a backup"


def totals_text(totals: Totals) -> str:
    """Write totals as the log holds them."""
    return " ".join([str(number & 0xFFFFFFFF) for number in totals])


def newest(db: apsw.Connection, name: str) -> tuple[int, int | None, Totals | None]:
    """Give the last number that the log issued, and time and totals of its newest row.

    The number isn't the newest row's: what was purged from the end of the log must not lend its number to others.
    """
    seq, time, text = _one(db, _NEWEST)
    try:
        totals = None if text is None else [int(number) for number in text.split()]
    except (ValueError, AttributeError) as error:
        raise CorruptStore(
            f"{name}: the newest row of the log ({seq}) is damaged, not as it was written; {ADVICE}"
        ) from error
    return seq or 0, time, totals


def count_up(db: apsw.Connection) -> Totals:
    """Add up the checksums that stand in the tables, where the log has no totals."""
    sums = "SELECT count(*), coalesce(sum(checksum), 0) FROM"
    return [number for table, _ in TABLES.values() for number in _one(db, f"{sums} {table}")]


def _one(db: apsw.Connection, sql: str) -> tuple[Any, ...]:
    return db.execute(sql).fetchall()[0]


def _count(totals: Totals, kind: str, rows: int, total: int) -> None:
    place = _PLACES[kind]
    totals[place] += rows
    totals[place + 1] += total


def insert(db: apsw.Connection, kind: str, rows: Iterable[Mapping[str, Any]], totals: Totals) -> None:
    """Write plain rows into the table of a kind, and count them."""
    table, columns = TABLES[kind]
    sql = f"INSERT INTO {table} ({','.join(columns)},checksum) VALUES ({','.join('?' * (len(columns) + 1))})"

    def values() -> Iterator[tuple[Any, ...]]:
        for row in rows:
            found = tuple([TO_SQL[name](row[name]) if name in TO_SQL else row[name] for name in columns])
            total = checksum(found)
            _count(totals, kind, 1, total)
            yield (*found, total)

    db.executemany(sql, values())


def remove(db: apsw.Connection, kind: str, changes: Iterable[Change], totals: Totals) -> None:
    """Take the rows of changes from the table of a kind, and from its totals."""
    table, columns = TABLES[kind]
    sql = f"DELETE FROM {table} WHERE {where_clause(kind, columns[0])} RETURNING checksum"
    for (total,) in db.executemany(sql, (key_of(change) for change in changes)):
        _count(totals, kind, -1, -total)


def alter(db: apsw.Connection, kind: str, changes: Iterable[Change], totals: Totals) -> None:
    """Bring the rows of changes to what they became, and the totals with them."""
    table, columns = TABLES[kind]
    where = where_clause(kind, columns[0])
    for names, group in groupby(changes, key=lambda c: tuple(c.after or ())):
        sets = ",".join(f"{name}=?" for name in names)
        sql = f"UPDATE {table} SET {sets} WHERE {where} RETURNING number, checksum, {','.join(columns)}"
        values = ((*(to_sql(name, (c.after or {})[name]) for name in names), *key_of(c)) for c in group)
        # The values are the new ones, the checksum still the old.
        altered = [(row[0], row[1], checksum(row[2:])) for row in db.executemany(sql, values)]
        db.executemany(f"UPDATE {table} SET checksum=? WHERE number=?", [(new, number) for number, _, new in altered])
        _count(totals, kind, 0, sum(new - old for _, old, new in altered))


def reading(kind: str) -> str:
    """Give the statement that reads a whole table for :func:`read`, in the order in which its rows were made."""
    table, columns = TABLES[kind]
    return f"SELECT {','.join(columns)},checksum FROM {table} ORDER BY number"


def read(db: apsw.Connection, rows: Iterable[tuple[Any, ...]], kind: str, name: str) -> Iterator[dict[str, Any]]:
    """Make plain rows of those of :func:`reading`, checking each, and at the end that none is missing."""
    table, columns = TABLES[kind]
    count, total = 0, 0
    for row in rows:
        kept = row[-1]
        if checksum(row[:-1]) != kept:
            raise CorruptStore(f"{name}: the row {row[0]!r} of {table} is damaged, not as it was written; {ADVICE}")
        count, total = count + 1, total + kept
        yield plain(dict(zip(columns, row, strict=False)), name, table)
    if db.filename:  # a store in memory can't have been damaged
        _check_totals(db, kind, name, [count, total & 0xFFFFFFFF])


def sum_up(db: apsw.Connection) -> None:
    """Write all checksums and totals anew, for rows that were changed as a whole."""
    for table, columns in TABLES.values():
        rows = db.execute(f"SELECT number,{','.join(columns)} FROM {table}").fetchall()
        db.executemany(f"UPDATE {table} SET checksum=? WHERE number=?", ((checksum(row[1:]), row[0]) for row in rows))
    keep(db, count_up(db))


def keep(db: apsw.Connection, totals: Totals) -> None:
    """Have the log's newest row say what the totals are."""
    db.execute("UPDATE log SET totals=? WHERE seq=(SELECT max(seq) FROM log)", (totals_text(totals),))


def counter_faults(db: apsw.Connection) -> list[str]:
    """Say which counters of rows stand behind the rows there are, so that a number would come twice."""
    faults = []
    for table, number in (("memories", "number"), ("associations", "number"), ("log", "seq")):
        issued = f"SELECT seq FROM sqlite_sequence WHERE name='{table}'"
        if _one(db, f"SELECT coalesce(max({number}), 0) > coalesce(({issued}), 0) FROM {table}")[0]:
            faults.append(f"the counter of {table} is damaged: it stands behind the rows that are there")
    return faults


def missing(db: apsw.Connection, kind: str) -> list[str]:
    """Name the rows of a kind that the log says are there, and that aren't."""
    table, columns = TABLES[kind]
    keys = columns[:3] if kind == "association" else (columns[0], "NULL", "NULL")
    # Not by the table's index, which may well be whole.
    there = set(db.execute(f"SELECT {','.join(keys)} FROM {table} NOT INDEXED"))
    made: dict[tuple[Any, ...], None] = {}
    sql = "SELECT key, relation, other, before IS NULL, after IS NULL FROM log WHERE kind=? ORDER BY seq"
    for *key, new, gone in db.execute(sql, (kind,)):
        if gone:
            made.pop(tuple(key), None)
        elif new:
            made[tuple(key)] = None
    return [" ".join(part for part in key if part) for key in made if key not in there]


def _check_totals(db: apsw.Connection, kind: str, name: str, found: list[int]) -> None:
    """Refuse a table that holds other rows than the log's newest row says."""
    place = _PLACES[kind]
    expected = (newest(db, name)[2] or [0] * 2 * len(TABLES))[place : place + 2]
    if expected != found:
        lost = missing(db, kind)
        those = f"; missing: {', '.join(map(repr, lost[:SHOWN]))}{' and more' if lost[SHOWN:] else ''}" if lost else ""
        raise CorruptStore(
            f"{name} is damaged: {TABLES[kind][0]} holds {found[0]} rows that aren't the {expected[0]} its log says"
            f"{those}; {ADVICE}"
        )
