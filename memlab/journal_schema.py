"""The layout of a store's file, and the way from older layouts to this one.

The file is an SQLite database. ``memories``, ``associations``, ``spaces`` and ``relations`` hold what is the case;
``log`` holds how it came to be; ``vectors`` is a cache; ``recalls``, ``calls`` and ``access`` are telemetry.
Times are whole microseconds since 1970 in UTC. ``checksum`` is the crc32 of a row's values; ``totals`` of the
newest row of the log says how many rows the tables of what is the case have, and the sum of their checksums.
"""

import re

from memlab.records import ASSOCIATION_FIELDS, STORED

# "meml" in ASCII: tells memlab's files from other SQLite files.
APPLICATION_ID = 0x6D656D6C
SCHEMA_VERSION = 1

JSON_COLUMNS = frozenset({"tags", "metadata", "aliases", "properties", "definition"})
FLAG_COLUMNS = frozenset({"archived", "protected"})
REAL_COLUMNS = frozenset({"importance", "confidence", "strength"})

_TYPES = {
    "importance": "REAL NOT NULL",
    "confidence": "REAL NOT NULL",
    "strength": "REAL NOT NULL",
    "sequence": "INTEGER",
    "archived": "INTEGER NOT NULL",
    "protected": "INTEGER NOT NULL",
    "happened_at": "INTEGER",
    "created_at": "INTEGER NOT NULL",
    "updated_at": "INTEGER NOT NULL",
    "valid_from": "INTEGER",
    "valid_until": "INTEGER",
}


def _columns(fields: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {_TYPES.get(name, 'TEXT')}" for name in fields)


# The kinds of change that have a table: its name and its columns, the key's first.
TABLES = {
    "memory": ("memories", STORED),
    "association": ("associations", ASSOCIATION_FIELDS),
    "space": ("spaces", ("space_id", "name", "description", "created_at")),
    "relation": ("relations", ("name", "definition")),
    "encoder": ("encoders", ("fingerprint", "name", "dimension", "spec", "active")),
}

SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE memories (number INTEGER PRIMARY KEY AUTOINCREMENT, {_columns(STORED)},
    checksum INTEGER NOT NULL, UNIQUE (memory_id));
CREATE TABLE associations (number INTEGER PRIMARY KEY AUTOINCREMENT, {_columns(ASSOCIATION_FIELDS)},
    checksum INTEGER NOT NULL, UNIQUE (source, relation, target));
CREATE TABLE spaces (number INTEGER PRIMARY KEY, space_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL, created_at INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE relations (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL,
    checksum INTEGER NOT NULL);
CREATE TABLE encoders (number INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    dimension INTEGER NOT NULL, spec TEXT, active INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE vectors (number INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, key BLOB NOT NULL,
    spans TEXT, vectors BLOB NOT NULL, checksum INTEGER NOT NULL, UNIQUE (key, fingerprint));
CREATE TABLE log (seq INTEGER PRIMARY KEY AUTOINCREMENT, change INTEGER NOT NULL, time INTEGER NOT NULL,
    actor TEXT NOT NULL, verb TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, relation TEXT, other TEXT,
    before TEXT, after TEXT, checksum INTEGER NOT NULL, totals TEXT);
CREATE INDEX log_key ON log (key);
CREATE INDEX log_other ON log (other) WHERE other IS NOT NULL;
CREATE TABLE recalls (number INTEGER PRIMARY KEY, recall_id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL,
    actor TEXT NOT NULL, query TEXT NOT NULL, spaces TEXT NOT NULL, method TEXT NOT NULL, k INTEGER NOT NULL,
    store_seq INTEGER NOT NULL, seconds REAL NOT NULL, candidates INTEGER NOT NULL, hits TEXT NOT NULL);
CREATE TABLE calls (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, client TEXT NOT NULL, tool TEXT NOT NULL,
    space TEXT, arguments TEXT NOT NULL, seconds REAL NOT NULL, ok INTEGER NOT NULL, hits TEXT NOT NULL,
    error TEXT);
CREATE TABLE access (memory_id TEXT PRIMARY KEY, count INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID;
"""

ALL_TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", SCHEMA))

# version -> statements that bring a file of that version to the next. Empty: version 1 is the first. All steps a file
# needs run in one transaction, and checksums and totals are written anew after the last (see journal_migrate).
MIGRATIONS: dict[int, str] = {}
