"""JSON documents that hold a history: a dict of lists (Keras), a list of records, or either of
them one level down; also the [wall time, step, value] triples of TensorBoard's download."""

from traindx.readers.api import Any, Event, NotALog, RawColumn, RawLog, Source, np
from traindx.readers.assembly.step_axis import find_axis, swept
from traindx.readers.formats.csv_table import name_by_file
from traindx.readers.json.document import document, peek_document
from traindx.readers.json.lines import columns_of
from traindx.readers.json.shapes import of_models, of_named_numbers, reshape_document
from traindx.readers.setup_facts import facts_from
from traindx.readers.tables.columns import Columns, number

NAME = "json"
FILES = ("*.json",)
MOST = 0.55
BEGINS = (b"{", b"[")
AXES = ("step", "steps", "global_step", "iteration", "iter", "epoch", "epochs")
MAX_DEPTH = 4


def sniff(source: Source) -> float:
    """A document in which a list of numbers or of records with numbers is found."""
    value = reshape_document(peek_document(source.head))
    if value is None:
        return 0.0
    if is_bare_list(value):
        return 0.2
    if of_models(value):
        return 0.45
    if is_triples(value) or (isinstance(value, list) and records_in(value)):
        return 0.5
    if not isinstance(value, dict):
        return 0.0
    return 0.55 if list(series_in(value)) else 0.45 if list_of_records(value) is not None else 0.0


def read(source: Source) -> list[RawLog]:
    """One log. Scalars next to the history become facts."""
    events: list[Event] = []
    value = reshape_document(document(source, events))
    log = RawLog(source.name, NAME, events=events)
    if is_triples(value):
        table = np.array([[number(x) or 0.0 for x in row[:3]] for row in value])
        rows = np.arange(len(table))
        log.framework = "tensorboard"
        log.columns = {"value": RawColumn(table[:, 2], rows, table[:, 1], table[:, 0])}
        return [log]
    if is_bare_list(value):
        return [named_by_file(log, value, source)]
    if first := of_models(value):
        held = f"it holds single numbers for each of {len(value)} names ({first[:40]} ...)"
        raise results(source, f"{held}: these are results, not the log of a run")
    records = (
        value if isinstance(value, list) else list_of_records(value) if isinstance(value, dict) else None
    )
    lists = dict(series_in(value)) if isinstance(value, dict) else {}
    lists = lists or of_named_numbers(records or [])
    if lists:
        log.columns = align_lists(lists, events)
        log.facts = facts_from(value)
        counters = {name.rsplit("/", 1)[-1]: name for name in reversed(log.columns)}
        log.axis = next((counters[axis] for axis in AXES if axis in counters), None)
        keras = any(f"val_{name}" in lists for name in lists) and log.axis is None
        log.framework, log.axis_kind = ("keras", "epoch") if keras else (None, None)
    elif records:
        log.columns = columns_of(records_in(records), events)
        log.facts = facts_from(value) if isinstance(value, dict) else {}
    if not log.columns:
        raise NotALog(source.name, "no history of numbers in this JSON document")
    if log.axis is None and find_axis(log.columns) is None and (cut := swept(log.columns)):
        raise results(
            source, f"its lists go over {cut}, so these are scores of one model, not the log of a run"
        )
    return [log]


def results(source: Source, why: str) -> NotALog:
    """The error for a document of results."""
    return NotALog(source.name, why, hint="give the log that was written while it trained", final=True)


def is_bare_list(value: Any) -> bool:
    """Whether a document is a list of numbers and nothing else."""
    return isinstance(value, list) and len(value) > 1 and all(type(item) in (int, float) for item in value)


def named_by_file(log: RawLog, values: list[float], source: Source) -> RawLog:
    """The log of a bare list of numbers. Errors: NotALog where the name of the file does not say what they are."""
    log.columns = {"value": RawColumn(np.array(values, dtype=np.float64), np.arange(len(values)))}
    name_by_file(log, source)
    if "value" in log.columns and not log.roles:
        raise NotALog(source.name, "its numbers have no name, and the name of the file says nothing of them")
    return log


def is_triples(value: Any) -> bool:
    """Whether a document is a list of [wall time, step, value]."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(row, list) and len(row) == 3 and number(row[0]) is not None for row in value)
        and (number(value[0][0]) or 0.0) > 1e8
    )


def series_in(value: dict[str, Any], prefix: str = "", depth: int = 0) -> list[tuple[str, list[Any]]]:
    """Lists of numbers under their names joined by "/"."""
    found: list[tuple[str, list[Any]]] = []
    for key, inner in value.items():
        if isinstance(inner, dict) and depth < MAX_DEPTH:
            found += series_in(inner, f"{prefix}{key}/", depth + 1)
        elif isinstance(inner, list) and inner and 2 * sum(map(is_value, inner)) > len(inner):
            found.append((f"{prefix}{key}", inner))
    return found


def is_value(item: object) -> bool:
    return number(item) is not None or (
        isinstance(item, list) and len(item) == 1 and number(item[0]) is not None
    )


def records_in(value: list[Any]) -> list[dict[str, Any]]:
    """The records of a list that hold a number."""
    found = [item for item in value if isinstance(item, dict)]
    return found if any(number(x) is not None for item in found[:50] for x in item.values()) else []


def list_of_records(value: dict[str, Any], depth: int = 0) -> list[Any] | None:
    """The longest list of records in a document, at most two levels down."""
    lists = [inner for inner in value.values() if isinstance(inner, list) and len(records_in(inner)) > 0]
    if depth < 2:
        lists += [
            found
            for inner in value.values()
            if isinstance(inner, dict) and (found := list_of_records(inner, depth + 1)) is not None
        ]
    return max(lists, key=len, default=None)


def align_lists(lists: dict[str, list[Any]], events: list[Event]) -> dict[str, RawColumn]:
    """Lists as columns. A list that is an integer factor shorter than the longest was
    written once for that many points of it, at their end; other lists start together."""
    longest = max(len(items) for items in lists.values())
    built = Columns()
    for name, items in lists.items():
        every = longest // len(items) if longest % len(items) == 0 and len(items) > 1 else 1
        values = [item[0] if isinstance(item, list) and len(item) == 1 else item for item in items]
        built.add_cells(name, values, range(every - 1, every * len(items), every))
    return built.finish(events)
