"""MLflow: mlruns folders, and the SQLite store that newer servers keep."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from traindx.readers.api import Event, Floats, NotALog, RawColumn, RawLog, ReadError, Source, np
from traindx.readers.files.text_blocks import whole_text
from traindx.readers.setup_facts import facts_from, flat_yaml, small_text
from traindx.readers.tables.columns import text_number

NAME = "mlflow"
FILES = ("*.db", "*.sqlite", "*.sqlite3")
MOST = 0.95
BEGINS = (b"SQLite format 3\0",)
LARGEST = np.finfo(np.float64).max  # how the SQLite store writes infinity
MAX_DEPTH = 4  # folders between the given one and a run: mlruns/<experiment>/<run>
ENDINGS = {
    "FINISHED": "FINISHED",
    "FAILED": "FAILED",
    "KILLED": "KILLED",
    "3": "FINISHED",
    "4": "FAILED",
    "5": "KILLED",
}


class Point(NamedTuple):
    """One logged value; `time` in milliseconds since the epoch."""

    time: float
    value: float
    step: float


def run_log(name: str, metrics: dict[str, list[Point]], params: dict[str, str], status: str) -> RawLog:
    """The log of one run. Values logged at the same time and step share a row. A metric of many
    values that are all at step 0 was logged without steps: it keeps only its order."""
    log = RawLog(name, NAME)
    tables: dict[str, Floats] = {key: np.array(points) for key, points in metrics.items() if points}
    for key, table in tables.items():
        table = table[
            ~np.isnan(table[:, [0, 2]]).any(axis=1)
        ]  # a point without a time or a step has no place
        tables[key] = table[np.lexsort((table[:, 2], table[:, 0]))]
    tables = {key: table for key, table in tables.items() if len(table)}
    moments = np.concatenate([table[:, [0, 2]] for table in tables.values()] or [np.empty((0, 2))])
    places = {tuple(instant): row for row, instant in enumerate(np.unique(moments, axis=0).tolist())}
    unstepped = all(not table[:, 2].any() for table in tables.values()) and any(
        len(t) > 1 for t in tables.values()
    )
    for key, table in tables.items():
        rows = np.array([places[tuple(pair)] for pair in table[:, [0, 2]].tolist()], dtype=np.int64)
        steps = rows.astype(np.float64) if unstepped else table[:, 2]
        log.columns[key] = RawColumn(table[:, 1], rows, steps, table[:, 0] / 1000.0)
    log.axis_kind = "row" if unstepped else "step"
    log.facts = facts_from({key: scalar(value) for key, value in params.items()})
    ending = ENDINGS.get(status, status)
    log.complete = True if ending == "FINISHED" else None
    if ending == "FAILED":
        log.events.append(Event("crash", "MLflow recorded that the run failed"))
    elif ending == "KILLED":
        log.events.append(Event("stopped", "MLflow recorded that the run was killed"))
    return log


def scalar(text: str) -> object:
    """A parameter as a number or truth value where it is one; MLflow keeps all as text."""
    if text in ("True", "False"):
        return text == "True"
    value = text_number(text)
    return text if value is None else value


# --- the folder store -------------------------------------------------------------------------


def sniff_folder(path: Path) -> float:
    """A run, an experiment, or the folder of experiments."""
    return 0.95 if next(run_folders(path), None) is not None else 0.0


def run_folders(path: Path, depth: int = 0) -> Iterator[Path]:
    """Folders of runs at or below `path`, only through folders that MLflow made."""
    try:
        if (path / "metrics").is_dir() and (path / "meta.yaml").is_file():
            yield path
        elif depth == 0 or (path / "meta.yaml").is_file():
            for child in sorted(path.iterdir()):
                if (
                    child.is_dir()
                    and not child.is_symlink()
                    and not child.name.startswith(".")
                    and depth < MAX_DEPTH
                ):
                    yield from run_folders(child, depth + 1)
    except OSError:
        return


def read_folder(path: Path) -> list[RawLog]:
    """One log for each run that was not deleted and has metrics."""
    logs = []
    for folder in run_folders(path):
        meta = flat_yaml(small_text(folder / "meta.yaml").decode("utf-8", "replace"))
        if meta.get("lifecycle_stage") == "deleted":
            continue
        events: list[Event] = []
        metrics = {
            key: points_of(Source(str(file), file), events) for key, file in files_under(folder / "metrics")
        }
        if any(metrics.values()):
            params = {
                key: small_text(f).decode("utf-8", "replace")[:500]
                for key, f in files_under(folder / "params")
            }
            log = run_log(str(folder), metrics, params, str(meta.get("status", "")))
            log.events += events
            logs.append(log)
    if not logs:
        raise NotALog(str(path), "no MLflow run with metrics in it")
    return logs


def files_under(folder: Path) -> Iterator[tuple[str, Path]]:
    """Key (folders joined by "/") and file of everything in a folder."""
    if folder.is_dir():
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.is_symlink():
                yield file.relative_to(folder).as_posix(), file


def points_of(file: Source, events: list[Event]) -> list[Point]:
    """The lines `time value step` of a metric file (old stores leave the step out)."""
    points, broken = [], 0
    for i, line in enumerate(whole_text(file, events).decode("utf-8", "replace").splitlines()):
        numbers = [text_number(word) for word in line.split()]
        if len(numbers) in (2, 3) and None not in numbers:
            time, value, step = (*numbers, float(i))[:3]
            points.append(Point(time or 0.0, value if value is not None else np.nan, step or 0.0))
        elif line.strip():
            broken += 1
    if broken:
        name = Path(file.name).name
        events.append(Event("parse-warning", f"{broken} lines of {name} are damaged; left out", place=name))
    return points


# --- the SQLite store -------------------------------------------------------------------------


def sniff(source: Source) -> float:
    """An SQLite file in whose first bytes MLflow's tables are declared."""
    if not source.head.startswith(BEGINS):
        return 0.0
    return 0.95 if all(word in source.head for word in (b"latest_metrics", b"run_uuid")) else 0.5


def read(source: Source) -> list[RawLog]:
    """One log for each run that was not deleted and has metrics.

    Errors: NotALog for a database without MLflow's tables, ReadError for a damaged one.
    """
    try:
        with closing(connect(source)) as store:
            tables = {
                name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            if not {"metrics", "runs"} <= tables:
                raise NotALog(source.name, "an SQLite database without MLflow's tables")
            logs = runs_in(source, store, "params" in tables)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise ReadError(source.name, f"the SQLite store cannot be read: {error}") from error
    if not logs:
        raise NotALog(source.name, "an MLflow store without a run that has metrics")
    return logs


def connect(source: Source) -> sqlite3.Connection:
    """The store, read-only: the file itself, or a copy in memory when it is compressed, piped, or
    locked by its server."""
    if source.path is not None:
        store = sqlite3.connect(f"{source.path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)
        try:
            store.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return open_guarded(store)
        except sqlite3.Error:
            store.close()
    data = bytearray(source.read_bytes())
    data[18:20] = b"\1\1"  # write-ahead mode needs files that a copy in memory has not
    store = sqlite3.connect(":memory:")
    store.deserialize(bytes(data))
    return open_guarded(store)


def open_guarded(store: sqlite3.Connection) -> sqlite3.Connection:
    """No trust in a schema from outside, and no failure over text that is no UTF-8."""
    store.execute("PRAGMA trusted_schema = OFF")
    store.execute("PRAGMA query_only = ON")
    store.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return store


def runs_in(source: Source, store: sqlite3.Connection, has_params: bool) -> list[RawLog]:
    """The runs of a store, in order of their start."""
    logs = []
    order = (
        "SELECT run_uuid, name, status FROM runs WHERE lifecycle_stage IS NOT 'deleted' ORDER BY start_time"
    )
    for run, name, status in store.execute(order).fetchall():
        metrics: dict[str, list[Point]] = {}
        query = "SELECT key, timestamp, value, step, is_nan FROM metrics WHERE run_uuid = ?"
        for key, time, value, step, is_nan in store.execute(query, (run,)):
            numbers = [x for x in (time, value, step) if isinstance(x, int | float)]
            if len(numbers) == 3:
                metrics.setdefault(str(key), []).append(
                    Point(numbers[0], plain_value(numbers[1], bool(is_nan)), numbers[2])
                )
        if metrics:
            found = (
                store.execute("SELECT key, value FROM params WHERE run_uuid = ?", (run,))
                if has_params
                else ()
            )
            params = {str(key): str(value)[:500] for key, value in found}
            logs.append(run_log(f"{source.name}#{name or run}", metrics, params, str(status)))
    return logs


def plain_value(value: float, is_nan: bool) -> float:
    """NaN and infinity as the store means them: it writes 0 and the largest number."""
    if is_nan:
        return np.nan
    return float(np.sign(value) * np.inf) if abs(value) >= LARGEST else float(value)
