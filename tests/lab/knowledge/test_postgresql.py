"""The same database in PostgreSQL: a real server, several processes, and tables that are moved on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import traindx
from tests.lab.knowledge.server import running
from traindx.errors import ConfigError

pytest.importorskip("sqlalchemy", reason="the extra `knowledge` is not installed")
pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")

import sqlalchemy as sql

from tests.lab.knowledge.test_store import outcome
from traindx.lab.knowledge.store import HEAD, Store


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture
def url(server: str) -> Iterator[str]:
    """An empty database."""
    yield server
    engine = sql.create_engine(server.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sql.text("DROP SCHEMA public CASCADE"))
        connection.execute(sql.text("CREATE SCHEMA public"))
    engine.dispose()


def test_what_is_put_in_comes_out_and_can_be_forgotten(url: str) -> None:
    kept = Store(url)
    kept.add([outcome("a", 2.0), outcome("b", 1.0)])
    kept.close()
    again = Store(url)
    assert [one.project for _, one in again.all()] == ["b", "a"]
    assert again.all()[1][1] == outcome("a", 2.0)
    assert (again.forget(project="a"), again.forget([999]), again.forget()) == (1, 0, 1)
    again.close()


WRITER = """
import sys
import sqlalchemy as sql

from tests.lab.knowledge.test_store import outcome
from traindx.lab.knowledge.store import Store
for i in range(10):
    Store(sys.argv[1]).add([outcome(sys.argv[2], float(i))])
"""


def test_processes_make_the_tables_and_write_at_once(url: str) -> None:
    command = [sys.executable, "-c", WRITER, url]
    writers = [subprocess.Popen([*command, name], cwd=Path(__file__).parents[3]) for name in ("a", "b", "c")]
    assert [w.wait(timeout=300) for w in writers] == [0, 0, 0]
    kept = Store(url)
    assert sorted(one.project for _, one in kept.all()) == sorted("abc" * 10)
    kept.close()


def test_the_command_speaks_to_it(url: str, tmp_path: Path) -> None:
    kept = Store(url)
    kept.add([outcome("exp1")])
    kept.close()
    here = {"TRAINDX_KB": url}
    assert (
        "clip-gradients for exploding-recurrence" in traindx("knowledge", "list", cwd=tmp_path, env=here).out
    )
    assert "1 forgotten" in traindx("knowledge", "forget", "--project", "exp1", cwd=tmp_path, env=here).out
    assert "nothing was tried" in traindx("knowledge", "list", cwd=tmp_path, env=here).out


def test_tables_of_an_earlier_traindx_are_moved_on(url: str) -> None:
    first = Store(url)
    first.add([outcome("old")])
    with first.engine.begin() as connection:  # as they were before there were migrations
        connection.execute(sql.text("DROP TABLE alembic_version"))
        connection.execute(sql.text("DROP INDEX ix_outcomes_project"))
    first.close()
    again = Store(url)
    with again.engine.connect() as connection:
        assert again.revision(connection) == HEAD
        assert "ix_outcomes_project" in {i["name"] for i in sql.inspect(connection).get_indexes("outcomes")}
    assert [one.project for _, one in again.all()] == ["old"]
    again.close()


def test_a_database_of_a_newer_traindx_is_left_alone(url: str) -> None:
    first = Store(url)
    with first.engine.begin() as connection:
        connection.execute(sql.text("UPDATE alembic_version SET version_num = '999'"))
    first.close()
    with pytest.raises(ConfigError, match="newer traindx"):
        Store(url)


def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    there = f"postgresql://me:secret@/none?host={tmp_path}"
    done = traindx("knowledge", "list", cwd=tmp_path, env={"TRAINDX_KB": there})
    assert done.status == 2
    assert len(done.err.strip().splitlines()) == 1
    assert "cannot be opened" in done.err
    assert "secret" not in done.err
