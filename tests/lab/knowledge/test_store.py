"""The database: what is put in comes out, by several processes at once, and damage is set aside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, environment, traindx
from traindx.errors import ConfigError
from traindx.lab.knowledge.counts import Outcome

pytest.importorskip("sqlalchemy", reason="the extra `knowledge` is not installed")

from traindx.lab.knowledge.store import HEAD, Store


def outcome(project: str = "p", at: float = 1.0) -> Outcome:
    return Outcome(
        at=at, project=project, fix="clip-gradients", cause="exploding-recurrence", interventions=("clip=1.0",),
        verdict="confirmed", effect=0.7, interval=(0.5, 0.9), setup={"optimizer": "sgd"}, evidence=("loss-diverges",),
    )  # fmt: skip


def store(path: Path) -> Store:
    return Store(f"sqlite:///{path}")


def test_what_is_put_in_comes_out_and_can_be_forgotten(tmp_path: Path) -> None:
    kept = store(tmp_path / "deep" / "kb.sqlite")
    kept.add([outcome("a", 2.0), outcome("b", 1.0)])
    again = store(tmp_path / "deep" / "kb.sqlite")
    assert [one.project for _, one in again.all()] == ["b", "a"]
    assert again.all()[1][1] == outcome("a", 2.0)
    assert again.forget(project="a") == 1
    assert again.forget([999]) == 0
    assert again.forget() == 1
    assert kept.all() == []


def test_a_file_from_before_there_were_migrations_is_moved_on(tmp_path: Path) -> None:
    first = store(tmp_path / "kb.sqlite")
    first.add([outcome("old")])
    with first.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE alembic_version")
        connection.exec_driver_sql("DROP INDEX ix_outcomes_project")
    first.close()
    again = store(tmp_path / "kb.sqlite")
    with again.engine.connect() as connection:
        assert again.revision(connection) == HEAD
    assert [one.project for _, one in again.all()] == ["old"]


def test_no_such_database_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="TRAINDX_KB"):
        Store("nonsense://somewhere")


WRITER = """
import sys
from tests.lab.knowledge.test_store import outcome, store
from pathlib import Path
for i in range(20):
    store(Path(sys.argv[1])).add([outcome(sys.argv[2], float(i))])
"""


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    file = tmp_path / "kb.sqlite"
    command = [sys.executable, "-c", WRITER, str(file)]
    writers = [subprocess.Popen([*command, name], cwd=Path(__file__).parents[3]) for name in ("a", "b")]
    assert [w.wait(timeout=100) for w in writers] == [0, 0]
    found = [one.project for _, one in store(file).all()]
    assert sorted(found) == ["a"] * 20 + ["b"] * 20


def test_four_processes_take_over_the_same_outcomes_once(tmp_path: Path) -> None:
    store(tmp_path / "a.sqlite").add([outcome(f"exp{i}", float(i)) for i in range(300)])
    traindx(
        "knowledge",
        "export",
        "-o",
        "all.jsonl",
        cwd=tmp_path,
        env={"TRAINDX_KB": str(tmp_path / "a.sqlite")},
    )
    command = [*COMMAND, "knowledge", "import", "all.jsonl"]
    env = environment(TRAINDX_KB=str(tmp_path / "b.sqlite"))
    writers = [
        subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = sorted(writer.communicate(timeout=100)[0] for writer in writers)
    assert said == [*["0 of 300 outcomes were new\n"] * 3, "300 of 300 outcomes were new\n"]
    assert len(store(tmp_path / "b.sqlite").all()) == 300


def test_of_nothing_an_empty_file_is_exported(tmp_path: Path) -> None:
    here = {"TRAINDX_KB": str(tmp_path / "a.sqlite")}
    assert traindx("knowledge", "export", cwd=tmp_path, env=here).out == ""
    traindx("knowledge", "export", "-o", "all.jsonl", cwd=tmp_path, env=here)
    assert (tmp_path / "all.jsonl").read_bytes() == b""
    assert "0 of 0" in traindx("knowledge", "import", "all.jsonl", cwd=tmp_path, env=here).out


def test_the_command_lists_shows_moves_and_forgets(tmp_path: Path) -> None:
    here, there = {"TRAINDX_KB": str(tmp_path / "a.sqlite")}, {"TRAINDX_KB": str(tmp_path / "b.sqlite")}
    store(tmp_path / "a.sqlite").add([outcome("exp1"), outcome("exp2", 3.0)])
    listed = traindx("knowledge", "list", cwd=tmp_path, env=here)
    assert "clip-gradients for exploding-recurrence  (exp2)" in listed.out
    assert '"loss-diverges"' in traindx("knowledge", "show", "1", cwd=tmp_path, env=here).out
    assert traindx("knowledge", "export", "-o", "all.jsonl", cwd=tmp_path, env=here).status == 0
    assert "2 of 2" in traindx("knowledge", "import", "all.jsonl", cwd=tmp_path, env=there).out
    assert "0 of 2" in traindx("knowledge", "import", "all.jsonl", cwd=tmp_path, env=there).out
    assert "1 forgotten" in traindx("knowledge", "forget", "--project", "exp1", cwd=tmp_path, env=there).out
    assert traindx("knowledge", "forget", cwd=tmp_path, env=there).status == 2
    off = traindx("knowledge", "list", cwd=tmp_path, env={"TRAINDX_KB": "off"})
    assert off.status == 2
    assert "off" in off.err
