"""Bit rot: a damaged page is an error in words, or costs nothing; never are memories fewer or others in silence."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scribbling import Scribble, Twin

from memlab.encoders import HashEncoder
from memlab.errors import CorruptStore, NewerStore
from memlab.store import MemoryStore

ENCODER = HashEncoder(dimension=16)
PAGE = 4096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of some dozens of pages, with memories that fill several of them."""
    path = tmp_path_factory.mktemp("sound") / "s.memlab"
    with MemoryStore.open(path, encoder=ENCODER, durability="normal") as store:
        work = Scribble(5, Twin(), forgets=False)
        for _ in range(25):
            work.step(store)
        store.add("word " * 3000, memory_id="long")
        store.spaces.create("other", "A space of its own.")
        store.register_relation("CITES")
        store.recall("tea")
    return path


Picture = tuple[list[Any], ...]


def picture(store: MemoryStore) -> Picture:
    """All that a store holds, but for telemetry: how often a memory was recalled."""
    return (
        [replace(memory, access_count=0, accessed_at=None) for memory in store],
        store.associations.to_dict("records"),
        store.spaces.list().to_dict("records"),
        sorted(store.relations.items()),
        [store.encoder and store.encoder.name],
    )


def outcome(path: Path, whole: Picture, log: list[Any]) -> str:
    """Open a damaged store and use it; say how it went, and fail where anything is lost in silence."""
    try:
        store = MemoryStore.open(path)
    except (CorruptStore, NewerStore) as error:
        assert str(path) in str(error)
        return "refused"
    with store:
        try:
            assert picture(store) == whole
            if store.log().to_dict("records") != log:
                assert not store.check()
            dense = store.recall("tea rain", method="dense", k=100)
            assert len(dense) == min(100, len(whole[0]))
            store.add("Written after the damage.", memory_id="after")
            assert "after" in store
        except CorruptStore as error:
            assert "backup" in str(error)
            assert all(memory.memory_id in store for memory in whole[0])
            assert not store.check()
            return "noticed"
        check = store.check()
        return "harmless" if check.ok else "found by check"


def damages(sound: Path, count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Bytes that are put into the file, where, and what they are."""
    chance = random.Random(seed)
    content = sound.read_bytes()
    pages = len(content) // PAGE
    for at in range(count):
        place = chance.randrange(len(content) - 16)
        yield "16 random bytes", place, chance.randbytes(16)
        page, other = at % pages, chance.randrange(pages) * PAGE
        yield "a whole page", page * PAGE, [bytes(PAGE), chance.randbytes(PAGE), content[other : other + PAGE]][at % 3]
        # The head of a page: its type, its free blocks, how many rows it has and where.
        yield "the head of a page", page * PAGE + chance.randrange(16), chance.randbytes(1)
        place = chance.randrange(len(content))
        yield "one bit", place, bytes([content[place] ^ 1 << chance.randrange(8)])


def survey(sound: Path, folder: Path, count: int, seed: int) -> dict[tuple[str, str], int]:
    """Damage a copy in many ways, and count how it went."""
    with MemoryStore.open(sound, encoder=ENCODER, read_only=True) as store:
        whole, log = picture(store), store.log().to_dict("records")
    found: dict[tuple[str, str], int] = {}
    for kind, place, harm in damages(sound, count, seed):
        path = Path(shutil.copy(sound, folder / "s.memlab"))
        with path.open("r+b") as file:
            file.seek(place)
            file.write(harm)
        try:
            how = outcome(path, whole, log)
        except BaseException as error:
            error.add_note(f"{kind} at {place} (page {place // PAGE}, byte {place % PAGE}): {harm[:16].hex()}")
            raise
        found[kind, how] = found.get((kind, how), 0) + 1
        # Whatever was refused was left as it is, without a file beside it.
        assert [file.name for file in folder.iterdir()] == [path.name]
    return found


@pytest.mark.filterwarnings("ignore:the telemetry of:RuntimeWarning")
def test_a_damaged_page_is_noticed_or_costs_nothing(sound: Path, tmp_path: Path) -> None:
    found = survey(sound, tmp_path, 60, 1)
    assert {how for _, how in found} >= {"refused", "harmless"}


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:the telemetry of:RuntimeWarning")
def test_a_damaged_page_is_noticed_or_costs_nothing_at_length(sound: Path, tmp_path: Path) -> None:
    assert sum(survey(sound, tmp_path, 2000, 2).values()) == 8000


def test_a_table_whose_definition_is_damaged_is_a_corrupt_store(sound: Path, tmp_path: Path) -> None:
    data = sound.read_bytes()
    found = [at for at in range(len(data)) if data.startswith(b"totals", at)]
    assert found
    for number, at in enumerate(found[:20]):
        path = tmp_path / f"{number}.memlab"
        path.write_bytes(data[:at] + b"tqtals" + data[at + 6 :])
        with pytest.raises(CorruptStore), MemoryStore.open(path) as store:
            assert not store.check().ok
            raise CorruptStore("said by check")
