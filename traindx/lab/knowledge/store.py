"""The database of outcomes: SQLite by default, PostgreSQL by URL, any other that SQLAlchemy supports.

`TRAINDX_KB` is a URL (`postgresql://…`), the path of a file, or `off`. Two processes may write at once.
Only a file that is certainly ours is ever changed (`recovery`). A damaged one is kept under another name,
and read as far as possible. Alembic makes and migrates the tables (`migrations`) when the first process
opens an older database."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from traindx.atomic_write import make_folder
from traindx.errors import ConfigError, MissingExtra
from traindx.lab.knowledge.counts import Outcome
from traindx.lab.knowledge.recovery import APPLICATION, COLUMNS, check_ours, lossy, rescue_rows, set_aside
from traindx.redaction import redact_facts, redact_text

T = TypeVar("T")

VARIABLE = "TRAINDX_KB"
OFF = ("off", "0", "none", "no")
FILE = Path("traindx") / "knowledge.sqlite"
WAIT = 30  # seconds for another process that writes
LAYOUT = 1  # version of an outcome's content; newer ones are not read
HEAD = "2"  # the latest of `migrations/versions`
DAMAGED = (11, 26)  # SQLITE_CORRUPT, SQLITE_NOTADB
MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 0x7472_6169  # of PostgreSQL: one process migrates, the others wait


def address() -> str:
    """The URL of the database, or the path of its file; "" where it is switched off."""
    given = os.environ.get(VARIABLE, "").strip()
    if given.lower() in OFF:
        return ""
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return given or str(home / FILE)


class Store:
    """An open database. `notes` say what a user should know about its state, `skipped` how many rows could
    not be read. Raises MissingExtra without SQLAlchemy, ConfigError where it cannot be opened or a file
    is not ours."""

    def __init__(self, url: str) -> None:
        self.sql = library()
        self.url = self.parsed(url)
        self.outcomes = self.sql.table("outcomes", *map(self.sql.column, COLUMNS))
        self.set_aside, self.notes, self.skipped = "", list[str](), 0
        self.ours = False
        if self.file is not None:
            self.ours = check_ours(self.file, f"{VARIABLE} {self.file}")
            try:
                make_folder(self.file.parent)
            except OSError as error:
                raise ConfigError(f"{VARIABLE} {self.file}: cannot be made: {error.strerror}") from error
        try:
            options = {"connect_args": {"timeout": WAIT}} if self.file is not None else {}
            self.engine = self.sql.create_engine(self.url, **options)
        except (ImportError, self.sql.exc.ArgumentError) as error:
            raise ConfigError(f"{VARIABLE}: no such database: {first_line(error)}") from error
        if self.file is not None:
            self.sql.event.listen(self.engine, "connect", lambda raw, _: setattr(raw, "text_factory", lossy))
        self.run(self.prepare)

    def parsed(self, url: str) -> Any:
        """The URL, with the driver of the extra where PostgreSQL is named without one."""
        try:
            found = (
                self.sql.make_url(with_driver(url))
                if "://" in url
                else self.sql.URL.create("sqlite", database=url)
            )
        except (ValueError, self.sql.exc.ArgumentError) as error:
            raise ConfigError(f"{VARIABLE}: no such database: {redact_text(first_line(error))}") from error
        path = found.database if found.drivername.partition("+")[0] == "sqlite" else None
        if path is not None and path.startswith("file:"):
            raise ConfigError(f"{VARIABLE}: give the path of a file, not {redact_text(path)}")
        self.file = Path(path).resolve() if path and path != ":memory:" else None
        return found

    @property
    def shown(self) -> str:
        """The address without a password."""
        return redact_text(str(self.url.render_as_string(hide_password=True)))

    def run(self, work: Callable[[Any], T]) -> T:
        """The result of `work`, called with a connection in a transaction. A damaged file of ours is
        replaced, once, by what can be read from it. Raises ConfigError where the database does not
        answer."""
        try:
            with self.engine.begin() as connection:
                return work(connection)
        except (
            self.sql.exc.SQLAlchemyError,
            UnicodeDecodeError,
        ) as error:  # the latter of a schema that is no text
            if not self.damaged(error):
                why = redact_text(first_line(getattr(error, "orig", None) or error))
                raise ConfigError(f"{VARIABLE} {self.shown}: cannot be opened or written: {why}") from error
        self.replace()
        return self.run(work)

    def damaged(self, error: BaseException) -> bool:
        """Whether an error means that the file is damaged, and the file is certainly ours."""
        code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF
        return code in DAMAGED and self.ours and self.file is not None and not self.set_aside

    def replace(self) -> None:
        """Rename the damaged file, and put what can be read from it into a new one."""
        assert self.file is not None
        self.engine.dispose()
        try:
            aside = set_aside(self.file)
        except OSError as error:
            raise ConfigError(
                f"{VARIABLE} {self.file}: is damaged and cannot be renamed: {error.strerror}"
            ) from error
        self.set_aside, rows = str(aside), rescue_rows(aside)
        self.run(self.prepare)
        if rows:
            self.run(lambda connection: connection.execute(self.outcomes.insert(), rows))
        self.notes.append(
            f"the database was damaged: it is kept as {aside}, and {len(rows)} outcomes were recovered"
        )

    def prepare(self, connection: Any) -> None:
        """Make or migrate the tables. Another process may do so at the same moment."""
        if self.file is not None:
            marked = (
                self.revision(connection) == HEAD
                and connection.exec_driver_sql("PRAGMA application_id").scalar()
            )
            if marked == APPLICATION:
                return
        self.begin_writing(connection)
        if self.file is not None:
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
        seen = self.revision(connection)
        if seen == "":
            connection.exec_driver_sql("DELETE FROM alembic_version")
        if seen != HEAD:
            migrate_tables(connection, self.shown)
        self.ours = self.file is not None

    def begin_writing(self, connection: Any) -> None:
        """Let no other process write until the transaction ends, so that what was read stays true."""
        if self.file is not None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif self.engine.dialect.name == "postgresql":
            connection.execute(self.sql.select(self.sql.func.pg_advisory_xact_lock(LOCK)))

    def revision(self, connection: Any) -> str | None:
        """The latest migration of the database; None before the first, "" if the table was lost since."""
        sql, there = self.sql, self.sql.inspect(connection)
        if not there.has_table("alembic_version"):
            return None
        if not there.has_table("outcomes"):
            return ""
        return connection.execute(sql.text("SELECT version_num FROM alembic_version")).scalar()  # type: ignore[no-any-return]

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Remember outcomes, all or none."""
        rows = [row_of(one) for one in outcomes]
        if rows:
            self.run(lambda connection: connection.execute(self.outcomes.insert(), rows))

    def add_new(self, outcomes: Sequence[Outcome]) -> int:
        """Remember those that are not stored yet, all or none, and return how many. Two processes that
        import the same outcomes at once do not double them."""
        rows = [row_of(one) for one in outcomes]

        def take_over(connection: Any) -> int:
            self.begin_writing(connection)
            there = connection.execute(self.sql.select(self.outcomes.c.content)).scalars()
            known = {row_of(one)["content"] for one in map(decode_outcome, there) if one is not None}
            new = [row for row in rows if row["content"] not in known]
            if new:
                connection.execute(self.outcomes.insert(), new)
            return len(new)

        return self.run(take_over)

    def all(self) -> list[tuple[int, Outcome]]:
        """Every outcome with its number, the oldest first. Those of a newer traindx are left out, unreadable
        ones are counted."""
        table, found = self.outcomes.c, []
        wanted = self.sql.select(table.id, table.layout, table.content)
        self.skipped = 0
        for number, layout, content in self.run(lambda connection: connection.execute(wanted).all()):
            if isinstance(layout, int) and layout > LAYOUT:
                continue
            one = decode_outcome(content)
            if one is None or not isinstance(number, int):
                self.skipped += 1
            else:
                found.append((number, one))
        return sorted(found, key=lambda row: (row[1].at, row[0]))

    def state(self) -> list[str]:
        """What a user should know: damage, and skipped rows."""
        rows = "1 row of the database cannot be read and is" if self.skipped == 1 else (
            f"{self.skipped} rows of the database cannot be read and are"
        )  # fmt: skip
        return [*self.notes, *([f"{rows} skipped"] if self.skipped else [])]

    def forget(self, numbers: Iterable[int] | None = None, project: str | None = None) -> int:
        """Remove outcomes by number, or of a project, or (both None) all; how many there were."""
        wanted: Any = self.outcomes.delete()
        if numbers is not None:
            wanted = wanted.where(self.outcomes.c.id.in_(list(numbers)))
        if project is not None:
            wanted = wanted.where(self.outcomes.c.project == project)
        return int(self.run(lambda connection: connection.execute(wanted).rowcount))

    def close(self) -> None:
        self.engine.dispose()


def row_of(one: Outcome) -> dict[str, Any]:
    """An outcome as it is stored, without secrets."""
    return {
        "layout": LAYOUT,
        "at": one.at,
        "project": one.project,
        "fix": one.fix,
        "cause": one.cause,
        "verdict": one.verdict,
        "content": msgspec.json.encode(redact_facts(msgspec.to_builtins(one))).decode(),
    }


def decode_outcome(content: Any) -> Outcome | None:
    """A stored outcome; None where it cannot be read."""
    try:
        return msgspec.json.decode(content, type=Outcome)
    except (msgspec.DecodeError, TypeError, ValueError, RecursionError):
        return None


def library() -> Any:
    """SQLAlchemy. Raises MissingExtra."""
    try:
        import sqlalchemy
    except ModuleNotFoundError as error:
        raise MissingExtra("to remember what was tried: pip install 'traindx[knowledge]'") from error
    return sqlalchemy


def with_driver(url: str) -> str:
    """A URL of PostgreSQL with the driver of the extra, where it names none."""
    scheme, colon, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if colon and scheme in ("postgresql", "postgres") else url


def migrate_tables(connection: Any, shown: str) -> None:
    """Migrate the tables to HEAD, in the transaction of `connection`. Raises ConfigError for a database of a
    newer traindx, MissingExtra without Alembic."""
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
        raise ConfigError(
            f"{VARIABLE} {shown}: was made by a newer traindx ({first_line(error)})"
        ) from error


def first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
