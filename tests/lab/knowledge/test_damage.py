"""Files that are not ours are never touched; of a damaged database of ours, what can be read is read."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import traindx
from traindx.errors import ConfigError

pytest.importorskip("sqlalchemy", reason="the extra `knowledge` is not installed")

import traindx.lab.knowledge.store as stores
from tests.lab.knowledge.test_store import outcome, store
from traindx.lab.knowledge.recovery import APPLICATION
from traindx.lab.repair.memory import Memory

ROWS = 200
PAGE = 4096
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of ours with ROWS outcomes, over several pages."""
    file = tmp_path_factory.mktemp("sound") / "kb.sqlite"
    made = store(file)
    made.add([outcome(f"p{i}", float(i)) for i in range(ROWS)])
    made.close()
    return file


def run(file: Path, *statements: str) -> None:
    with sqlite3.connect(file) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir() if p.is_file()}


def foreign(file: Path) -> None:
    run(file, "CREATE TABLE people (name TEXT)", "INSERT INTO people VALUES ('x')")


def foreign_with_wal(file: Path) -> None:
    run(file, "PRAGMA journal_mode=WAL", "CREATE TABLE people (name TEXT)")


def of_another_program(file: Path) -> None:
    run(file, "PRAGMA application_id = 252006673", "CREATE TABLE outcomes (id INTEGER)")


NOT_OURS: dict[str, Callable[[Path], object]] = {
    "text": lambda file: file.write_bytes(b"this is no database, but it is somebody's file" * 100),
    "weights": lambda file: file.write_bytes(os.urandom(20000)),
    "one byte": lambda file: file.write_bytes(b"S"),
    "the first bytes of a database": lambda file: file.write_bytes(b"SQLite format 3\0"),
    "a database": foreign,
    "a database with a write-ahead log": foreign_with_wal,
    "a database of another program": of_another_program,
    "a database of whose tables one has our name": lambda file: run(
        file, "CREATE TABLE outcomes (id INTEGER)"
    ),
    "an empty database": lambda file: run(file, "VACUUM"),
}


@pytest.mark.parametrize("kind", NOT_OURS)
def test_a_file_that_is_not_ours_is_left_as_it_is(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "results.db"
    NOT_OURS[kind](file)
    before = state(tmp_path)
    with pytest.raises(ConfigError, match=r"results\.db: is not a database of traindx"):
        stores.Store(str(file))
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "verb", [["list"], ["show", "1"], ["export"], ["import", "new.jsonl"], ["forget", "--all"]]
)
def test_every_verb_refuses_a_file_that_is_not_ours(tmp_path: Path, verb: list[str]) -> None:
    (tmp_path / "model.pt").write_bytes(b"weights" * 1000)
    (tmp_path / "new.jsonl").write_text("")
    before = state(tmp_path)
    done = traindx("knowledge", *verb, cwd=tmp_path, env={"TRAINDX_KB": "model.pt"})
    assert (done.status, len(done.err.strip().splitlines())) == (2, 1)
    assert "model.pt: is not a database of traindx" in done.err
    assert state(tmp_path) == before


def test_a_folder_a_device_and_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path), "/dev/full", "/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(ConfigError, match="is not a database of traindx"):
            stores.Store(place)
    with pytest.raises(ConfigError, match="give the path"):
        stores.Store("sqlite:///file:x.db?uri=true")
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_path_with_marks_of_a_url_is_that_file(tmp_path: Path) -> None:
    stores.Store(str(tmp_path / "a?b#c%20d")).close()
    assert [p.name for p in tmp_path.iterdir()] == ["a?b#c%20d"]


def test_an_empty_file_and_a_link_to_ours_are_used(tmp_path: Path, sound: Path) -> None:
    (tmp_path / "empty").touch()
    store(tmp_path / "empty").add([outcome()])
    assert len(store(tmp_path / "empty").all()) == 1
    shutil.copy(sound, tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    store(tmp_path / "link").add([outcome()])
    assert len(store(tmp_path / "real").all()) == ROWS + 1
    assert (tmp_path / "link").is_symlink()


def test_our_files_carry_our_mark_and_older_ones_get_it(tmp_path: Path, sound: Path) -> None:
    assert int.from_bytes(sound.read_bytes()[68:72], "big") == APPLICATION
    older = tmp_path / "older"
    shutil.copy(sound, older)
    run(older, "PRAGMA application_id = 0")
    assert len(store(older).all()) == ROWS
    assert int.from_bytes(older.read_bytes()[68:72], "big") == APPLICATION


def cut(share: float) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, int(file.stat().st_size * share))


def pages_of_rows(file: Path) -> list[int]:
    """The offsets of pages that hold rows of the table, and not the first page."""
    data = file.read_bytes()
    return [at for at in range(PAGE, len(data), PAGE) if data[at] == 13 and data[at + 4] > 5]


def overwrite(which: int, data: bytes) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with open(file, "r+b") as stream:
            stream.seek(pages_of_rows(file)[which])
            stream.write(data)

    return change


def first_page(place: int, data: bytes) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with open(file, "r+b") as stream:
            stream.seek(place)
            stream.write(data)

    return change


# What happens to the file, and the least and the most rows that are read afterwards.
DAMAGE: dict[str, tuple[Callable[[Path], object], int, int]] = {
    "cut to a tenth": (cut(0.1), 0, ROWS - 1),
    "cut in the middle": (cut(0.5), 1, ROWS - 1),
    "cut near the end": (cut(0.95), ROWS // 2, ROWS),
    "cut in the first page": (lambda file: os.truncate(file, 300), 0, 0),
    "cut behind the header": (lambda file: os.truncate(file, 100), 0, 0),
    "an empty first page of rows": (overwrite(0, bytes(PAGE)), ROWS // 2, ROWS - 1),
    "an empty page of rows in the middle": (overwrite(4, bytes(PAGE)), ROWS // 2, ROWS - 1),
    "an empty last page of rows": (overwrite(-1, bytes(PAGE)), ROWS // 2, ROWS - 1),
    "noise over a page": (overwrite(3, bytes(range(256)) * 16), 1, ROWS - 1),
    "a page size that is none": (first_page(16, b"\x00\x03"), 0, 0),
    "an empty list of tables": (first_page(100, bytes(400)), 0, 0),
    "noise in the list of tables": (first_page(3000, b"\xff" * 1000), 0, ROWS),
    "a page that cannot be": (first_page(100, b"\x07"), 0, 0),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_database_of_ours_is_kept_and_read_as_far_as_it_goes(
    tmp_path: Path, sound: Path, kind: str
) -> None:
    change, least, most = DAMAGE[kind]
    file = tmp_path / "kb.sqlite"
    shutil.copy(sound, file)
    change(file)
    before = file.read_bytes()
    done = traindx("knowledge", "export", cwd=tmp_path, env={"TRAINDX_KB": "kb.sqlite"})
    assert done.status == 0, done.err
    assert least <= len(done.out.split()) <= most
    aside = [p for p in tmp_path.iterdir() if ".damaged-" in p.name]
    if len(done.out.split()) < ROWS and aside:
        assert f"the database was damaged: it is kept as {aside[0]}" in done.err
        assert aside[0].read_bytes() == before
    added = store(file)
    added.add([outcome("new")])
    assert len(added.all()) == len(done.out.split()) + 1


def content(**changes: object) -> str:
    text = json.dumps(
        {"at": 1.0, "project": "p", "fix": "f", "cause": "c", "interventions": [], "verdict": "v", **changes}
    )
    return f"UPDATE outcomes SET content = '{text}' WHERE id = 7"


LOOSE = (  # the table without its constraints
    "CREATE TABLE other AS SELECT * FROM outcomes", "DROP TABLE outcomes", "ALTER TABLE other RENAME TO outcomes",
)  # fmt: skip
ROWS_SPOILED: dict[str, tuple[str, ...]] = {
    "no JSON": ("UPDATE outcomes SET content = 'oops' WHERE id = 7",),
    "half of its JSON": ("UPDATE outcomes SET content = substr(content, 1, 40) WHERE id = 7",),
    "an empty text": ("UPDATE outcomes SET content = '' WHERE id = 7",),
    "a list": ("UPDATE outcomes SET content = '[1, 2]' WHERE id = 7",),
    "a number": ("UPDATE outcomes SET content = 5 WHERE id = 7",),
    "null as JSON": ("UPDATE outcomes SET content = 'null' WHERE id = 7",),
    "NULL": (*LOOSE, "UPDATE outcomes SET content = NULL WHERE id = 7"),
    "no layout": (*LOOSE, "UPDATE outcomes SET layout = NULL, content = 'x' WHERE id = 7"),
    "bytes": ("UPDATE outcomes SET content = x'ff00ff' WHERE id = 7",),
    "a text that is no UTF-8": ("UPDATE outcomes SET content = CAST(x'7b22ff22' AS TEXT) WHERE id = 7",),
    "a NaN": (content(at=float("nan")),),
    "a time beyond the calendar": (content(at=1e300),),
    "a time before all": (content(at=-1e18),),
    "a word for a number": (content(at="yesterday"),),
    "a word for an effect": (content(effect="much"),),
    "an interval of one": (content(interval=[1.0]),),
    "a nested setup": (content(setup={"a": {"b": 1}}),),
    "another shape": ("UPDATE outcomes SET content = '{\"a\": 1}' WHERE id = 7",),
    "deep nesting": (f"UPDATE outcomes SET content = '{'[' * 50000}' WHERE id = 7",),
    "no number": (*LOOSE, "UPDATE outcomes SET id = 'seven' WHERE id = 7"),
}


@pytest.mark.parametrize("kind", ROWS_SPOILED)
def test_a_row_that_cannot_be_read_is_skipped_and_said(
    tmp_path: Path, sound: Path, kind: str, monkeypatch
) -> None:
    file = tmp_path / "kb.sqlite"
    shutil.copy(sound, file)
    run(file, *ROWS_SPOILED[kind])
    opened = store(file)
    assert len(opened.all()) == ROWS - 1
    assert opened.state() == ["1 row of the database cannot be read and is skipped"]
    opened.close()
    monkeypatch.setenv("TRAINDX_KB", str(file))
    memory = Memory()  # what a `fix` does
    assert memory.notes() == ["1 row of the database cannot be read and is skipped"]
    assert len(memory.outcomes) == ROWS - 1
    assert memory.record("clip-gradients", "exploding-recurrence")[0] > 0
    memory.close()


def test_the_command_goes_on_over_spoiled_rows(tmp_path: Path, sound: Path) -> None:
    shutil.copy(sound, tmp_path / "kb.sqlite")
    run(tmp_path / "kb.sqlite", "UPDATE outcomes SET content = 'oops' WHERE id < 4")
    here = {"TRAINDX_KB": "kb.sqlite"}
    for verb in (["list"], ["export"], ["show", "9"]):
        done = traindx("knowledge", *verb, cwd=tmp_path, env=here)
        assert done.status == 0
        assert "3 rows of the database cannot be read and are skipped" in done.err
    assert "3 forgotten" in traindx("knowledge", "forget", "1", "2", "3", cwd=tmp_path, env=here).out
    assert "cannot be read" not in traindx("knowledge", "list", cwd=tmp_path, env=here).err


STRUCTURE: dict[str, tuple[tuple[str, ...], int]] = {
    "its table dropped": (("DROP TABLE outcomes",), 0),
    "its index dropped": (("DROP INDEX ix_outcomes_project",), ROWS),
    "no revision": (("DELETE FROM alembic_version",), ROWS),
    "a column more": (("ALTER TABLE outcomes ADD COLUMN mood TEXT",), ROWS),
    "a table more": (("CREATE TABLE notes (x)",), ROWS),
    "rows of a newer layout": (("UPDATE outcomes SET layout = 99 WHERE id <= 10",), ROWS - 10),
}


@pytest.mark.parametrize("kind", STRUCTURE)
def test_another_structure_is_lived_with(tmp_path: Path, sound: Path, kind: str) -> None:
    statements, left = STRUCTURE[kind]
    shutil.copy(sound, tmp_path / "kb.sqlite")
    run(tmp_path / "kb.sqlite", *statements)
    opened = store(tmp_path / "kb.sqlite")
    assert (len(opened.all()), opened.state(), opened.set_aside) == (left, [], "")
    opened.add([outcome("new")])
    assert len(opened.all()) == left + 1


SENTENCES: dict[str, tuple[tuple[str, ...], str]] = {
    "a newer revision": (("UPDATE alembic_version SET version_num = '999'",), "newer traindx"),
    "no column of revisions": (("ALTER TABLE alembic_version RENAME version_num TO x",), "no such column"),
    "no column of contents": (("ALTER TABLE outcomes RENAME content TO x",), "no such column"),
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, sound: Path, kind: str, monkeypatch) -> None:
    statements, why = SENTENCES[kind]
    file = tmp_path / "kb.sqlite"
    shutil.copy(sound, file)
    run(file, *statements)
    before = file.read_bytes()
    done = traindx("knowledge", "list", cwd=tmp_path, env={"TRAINDX_KB": "kb.sqlite"})
    assert (done.status, len(done.err.strip().splitlines())) == (2, 1)
    assert why in done.err
    assert file.read_bytes() == before
    monkeypatch.setenv("TRAINDX_KB", str(file))
    (line,) = Memory().notes()
    assert line.startswith("the knowledge database is not used: ")


def test_a_locked_database_is_one_sentence(tmp_path: Path, sound: Path, monkeypatch) -> None:
    shutil.copy(sound, tmp_path / "kb.sqlite")
    monkeypatch.setattr(stores, "WAIT", 0.2)
    opened = store(tmp_path / "kb.sqlite")
    other = sqlite3.connect(tmp_path / "kb.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert len(opened.all()) == ROWS  # another one that writes does not keep us from reading
    with pytest.raises(ConfigError, match="locked"):
        opened.add([outcome()])
    other.execute("ROLLBACK")
    opened.add([outcome()])
    assert len(opened.all()) == ROWS + 1


FULL = """
import sys
from tests.lab.knowledge.test_store import outcome, store
kept = store(sys.argv[1])
try:
    kept.add([outcome("x" * 100000)])
except Exception as error:
    print(type(error).__name__, len(kept.all()))
"""


def test_a_full_disk_loses_nothing(tmp_path: Path, sound: Path) -> None:
    shutil.copy(sound, tmp_path / "kb.sqlite")
    size = sound.stat().st_size

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [sys.executable, "-c", FULL, str(tmp_path / "kb.sqlite")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, preexec_fn=limit, timeout=60)
    assert done.stdout.split() == ["ConfigError", str(ROWS)], done.stderr
    assert len(store(tmp_path / "kb.sqlite").all()) == ROWS


@pytest.mark.skipif(os.getuid() == 0, reason="NOT TESTED: root may write everywhere")
def test_a_file_that_may_not_be_written_is_read(tmp_path: Path, sound: Path) -> None:
    shutil.copy(sound, tmp_path / "kb.sqlite")
    (tmp_path / "kb.sqlite").chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        opened = store(tmp_path / "kb.sqlite")
        assert len(opened.all()) == ROWS
        with pytest.raises(ConfigError, match="readonly"):
            opened.add([outcome()])
    finally:
        tmp_path.chmod(0o700)


def test_a_second_damage_within_a_second_overwrites_nothing(tmp_path: Path, sound: Path) -> None:
    for _ in range(3):
        shutil.copy(sound, tmp_path / "kb.sqlite")
        cut(0.5)(tmp_path / "kb.sqlite")
        opened = store(tmp_path / "kb.sqlite")
        opened.all()
        opened.close()
    assert len([p for p in tmp_path.iterdir() if ".damaged-" in p.name]) == 3
