"""The database of outcomes: SQLite by default, PostgreSQL by URL, any other that SQLAlchemy reaches.

`TRAINDX_KB` is a URL (`postgresql://…`), the path of a file, or `off`. Two processes may write at once. A damaged
file is set aside under another name, never overwritten. The tables are made and moved on by Alembic (`migrations`), as
the first that opens an older database finds them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from traindx.errors import ConfigError, MissingExtra
from traindx.knowledge.counts import Outcome

VARIABLE = "TRAINDX_KB"
OFF = ("off", "0", "none", "no")
FILE = Path("traindx") / "knowledge.sqlite"
WAIT = 30  # seconds for another process that writes
LAYOUT = 1  # of an outcome's content; a newer one is not read
HEAD = "2"  # the last of `migrations/versions`
MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 0x7472_6169  # of PostgreSQL: one moves the tables on, the others wait


def address() -> str:
    """The URL of the database; "" where it is switched off."""
    told = os.environ.get(VARIABLE, "").strip()
    if told.lower() in OFF:
        return ""
    if "://" in told:
        return told
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return f"sqlite:///{(Path(told) if told else home / FILE).absolute()}"


class Store:
    """An open database. Raises MissingExtra without SQLAlchemy, ConfigError where it cannot be opened."""

    def __init__(self, url: str) -> None:
        self.sql = library()
        self.url, self.set_aside = driven(url), ""
        try:
            self.open()
        except self.sql.exc.DatabaseError as error:
            file = self.file()
            if file is None or not file.is_file() or isinstance(error, self.sql.exc.OperationalError):
                raise ConfigError(f"{VARIABLE} {self.shown}: cannot be opened: {first_line(error)}") from error
            aside = file.with_name(f"{file.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            self.engine.dispose()
            file.rename(aside)
            self.set_aside = str(aside)
            self.open()

    @property
    def shown(self) -> str:
        """The address without a password."""
        return str(self.sql.make_url(self.url).render_as_string(hide_password=True))

    def file(self) -> Path | None:
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite:///") else None

    def open(self) -> None:
        """Connect, and make the tables, or move them on to what is known here."""
        sql, file = self.sql, self.file()
        if file is not None:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ConfigError(f"{VARIABLE} {file}: cannot be made: {error.strerror}") from error
        try:
            self.engine = sql.create_engine(self.url, connect_args={"timeout": WAIT} if file is not None else {})
        except (ImportError, sql.exc.ArgumentError) as error:
            raise ConfigError(f"{VARIABLE}: no such database: {first_line(error)}") from error
        with self.engine.begin() as connection:  # another process may make them at this moment
            if self.engine.dialect.name == "postgresql":
                connection.execute(sql.select(sql.func.pg_advisory_xact_lock(LOCK)))
            elif file is not None:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            if self.revision(connection) != HEAD:
                migrated(connection, self.shown)
            self.outcomes = sql.Table("outcomes", sql.MetaData(), autoload_with=connection)  # as the migrations left it

    def revision(self, connection: Any) -> str | None:
        """Which migration the database has seen last."""
        sql = self.sql
        if not sql.inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(sql.text("SELECT version_num FROM alembic_version")).scalar()  # type: ignore[no-any-return]

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Remember outcomes, all or none."""
        rows = [
            {
                "layout": LAYOUT,
                "at": one.at,
                "project": one.project,
                "fix": one.fix,
                "cause": one.cause,
                "verdict": one.verdict,
                "content": msgspec.json.encode(one).decode(),
            }
            for one in outcomes
        ]
        if rows:
            with self.engine.begin() as connection:
                connection.execute(self.outcomes.insert(), rows)

    def all(self) -> list[tuple[int, Outcome]]:
        """Every outcome with its number, the oldest first; those of a newer traindx are left out."""
        table = self.outcomes
        wanted = self.sql.select(table.c.id, table.c.content).where(table.c.layout <= LAYOUT).order_by(table.c.at)
        with self.engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return [(int(number), msgspec.json.decode(content, type=Outcome)) for number, content in rows]

    def forget(self, numbers: Iterable[int] | None = None, project: str | None = None) -> int:
        """Remove outcomes by number, or of a project, or (both None) all; how many there were."""
        wanted: Any = self.outcomes.delete()
        if numbers is not None:
            wanted = wanted.where(self.outcomes.c.id.in_(list(numbers)))
        if project is not None:
            wanted = wanted.where(self.outcomes.c.project == project)
        with self.engine.begin() as connection:
            return int(connection.execute(wanted).rowcount)

    def close(self) -> None:
        self.engine.dispose()


def library() -> Any:
    """SQLAlchemy. Raises MissingExtra."""
    try:
        import sqlalchemy
    except ModuleNotFoundError as error:
        raise MissingExtra("to remember what was tried: pip install 'traindx[knowledge]'") from error
    return sqlalchemy


def driven(url: str) -> str:
    """A URL of PostgreSQL with the driver of the extra, where it names none."""
    scheme, colon, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if colon and scheme in ("postgresql", "postgres") else url


def migrated(connection: Any, shown: str) -> None:
    """Move the tables on to HEAD, in the transaction of `connection`. Raises ConfigError for a database of a newer
    traindx, MissingExtra without Alembic."""
    try:
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError
    except ModuleNotFoundError as error:
        raise MissingExtra("to remember what was tried: pip install 'traindx[knowledge]'") from error
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigError(f"{VARIABLE} {shown}: was made by a newer traindx ({first_line(error)})") from error


def first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
