"""Boosted trees: evals_result of XGBoost and LightGBM, CatBoost's catboost_info folder and files."""

from pathlib import Path
from typing import Any

from traindx.readers.api import Event, NotALog, RawColumn, RawLog, ReadError, Source, column, np, source_of
from traindx.readers.json.document import document, peek_document
from traindx.readers.tables.columns import number
from traindx.readers.tables.layout import peek_layout
from traindx.readers.tables.parsing import read_table
from traindx.vocabulary import direction_of

NAME = "boosting"
MOST = 0.98
BEGINS = (b"{", b"iter", b'"iter', b"#", b"%", b"//")  # JSON, or a table (under comments) by `iter`
METRICS = frozenset({"rmse", "logloss", "mlogloss", "merror", "error", "auc", "aucpr", "mae", "l1", "l2", "mape",
                     "binary_logloss", "multi_logloss", "binary_error", "multi_error", "ndcg", "map", "rmsle",
                     "quantile", "huber", "fair", "poisson", "gamma", "tweedie", "cross_entropy",
                     "average_precision", "auc_mu", "kullback_leibler", "mphe"})  # fmt: skip
TRAIN_SETS = frozenset({"train", "training", "learn", "dtrain"})
JSON_FILE, LEARN, TEST = "catboost_training.json", "learn_error.tsv", "test_error.tsv"


def sniff(source: Source) -> float:
    """Rounds by data set and metric in JSON, or a table whose first column is `iter`."""
    layout = peek_layout(source.head)
    if layout is not None and layout.names[0] == "iter" and layout.delimiter == "\t":
        return 0.95
    value = peek_document(source.head)
    if not isinstance(value, dict):
        return 0.0
    if isinstance(value.get("meta"), dict) and "learn_metrics" in value["meta"]:
        return 0.98
    inner = [metrics for metrics in value.values() if isinstance(metrics, dict)]
    known = bool(inner) and all(known_metric(name) for metrics in inner for name in metrics)
    return 0.9 if known and len(inner) == len(value) else 0.0


def known_metric(name: str) -> bool:
    return name.split("@")[0].split(":")[0].lower() in METRICS


def read(source: Source) -> list[RawLog]:
    """One log by boosting round, columns named <data set>/<metric>."""
    if peek_layout(source.head) is not None:
        return [read_errors(source)]
    events: list[Event] = []
    value = document(source, events)
    found = rounds_of_catboost(value) if isinstance(value, dict) and "meta" in value else rounds_of(value)
    return [log_of(source.name, "catboost" if "meta" in value else None, found, events)]


def log_of(name: str, framework: str | None, found: dict[str, RawColumn], events: list[Event]) -> RawLog:
    """Columns named <data set>/<metric>, with their roles."""
    if not found:
        raise NotALog(name, "no rounds of a metric in it")
    return RawLog(
        name, NAME, framework, found, axis_kind="round", roles=roles_of(list(found)), events=events
    )


def rounds_of(value: Any) -> dict[str, RawColumn]:
    """evals_result: {data set: {metric: [value of each round]}}."""
    found = {}
    for group, metrics in value.items() if isinstance(value, dict) else ():
        for metric, values in metrics.items() if isinstance(metrics, dict) else ():
            pairs = [(i, x) for i, v in enumerate(values if isinstance(values, list) else ())
                     if (x := number(v)) is not None]  # fmt: skip
            if pairs:
                rows, numbers = zip(*pairs, strict=True)
                found[f"{group}/{metric}"] = column(numbers, rows, rows)
    return found


def rounds_of_catboost(value: dict[str, Any]) -> dict[str, RawColumn]:
    """catboost_training.json: `learn` and `test` lists by iteration, their names in `meta`. With
    several test sets `test` is a list of lists."""
    meta = value["meta"] if isinstance(value.get("meta"), dict) else {}
    points: dict[str, list[tuple[int, float, float]]] = {}
    parts = [(part, metric_names(meta, f"{part}_metrics")) for part in ("learn", "test")]
    rows = value.get("iterations")
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        step = number(row.get("iteration")) if isinstance(row, dict) else None
        if step is None:
            continue
        for part, names in parts:
            values = row.get(part)
            groups = (
                values if isinstance(values, list) and values and isinstance(values[0], list) else [values]
            )
            for i, group in enumerate(groups):
                for j, item in enumerate(group if isinstance(group, list) else ()):
                    metric = names[j] if j < len(names) else f"metric{j}"
                    if (x := number(item)) is not None:
                        points.setdefault(f"{part}{i or ''}/{metric}", []).append((index, step, x))
    return {
        name: column([p[2] for p in ps], [p[0] for p in ps], [p[1] for p in ps])
        for name, ps in points.items()
    }


def metric_names(meta: dict[str, Any], key: str) -> list[str]:
    listed = meta.get(key)
    return [str(m.get("name")) for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []


def read_errors(source: Source) -> RawLog:
    """learn_error.tsv or test_error.tsv (its name says which). Errors: NotALog for time_left.tsv."""
    table = read_table(source)
    if {"passed", "remaining"} <= table.layout.lowered:
        raise NotALog(
            source.name, "time_left.tsv holds only times", hint=f"read {LEARN} and {TEST} next to it"
        )
    steps = table.columns.pop("iter", None)
    if steps is None:
        raise NotALog(source.name, "no iterations in it")
    part = "test" if Path(source.name).name.startswith("test") else "learn"
    log = log_of(
        source.name, "catboost", {f"{part}/{name}": c for name, c in table.columns.items()}, table.events
    )
    for name, c in log.columns.items():
        at = np.interp(c.rows, steps.rows, steps.values)
        log.columns[name] = RawColumn(c.values, c.rows, at)
    return log


def roles_of(names: list[str]) -> dict[str, str]:
    """train/ or val/ for every column. The first error-like metric that the training set has (or
    the only set, if there is one) is the loss. Of XGBoost's two unnamed sets the first is taken
    as the training set, as everyone passes them in this order."""
    groups = list(dict.fromkeys(name.split("/", 1)[0] for name in names))
    train = next((g for g in groups if g.lower() in TRAIN_SETS), None)
    if train is None and len(groups) > 1 and groups[0] in ("validation_0", "valid_0"):
        train = groups[0]
    metrics = [n.split("/", 1)[1] for n in names if train is None or n.startswith(f"{train}/")]
    loss = next((m for m in metrics if direction_of(m) == "lower" or m.lower() in ("l1", "l2")), None)
    held = [g for g in groups if g != train]
    roles = {}
    for name in names:
        group, metric = name.split("/", 1)
        split = "train" if group == train else "val" if group == held[0] else f"val/{group}"
        roles[name] = f"{split}/{'loss' if metric == loss else metric}"
    return roles


def sniff_folder(path: Path) -> float:
    """A catboost_info folder."""
    return 0.95 if any((path / name).is_file() for name in (JSON_FILE, LEARN)) else 0.0


def read_folder(path: Path) -> list[RawLog]:
    """One log: from the JSON file, which has both data sets, else from the two tables."""
    failure: ReadError | None = None
    for names in ((JSON_FILE,), (LEARN, TEST)):
        try:
            parts = [read(source_of(path / name))[0] for name in names if (path / name).is_file()]
        except ReadError as error:
            failure = error
            continue
        if parts:
            columns = {name: c for part in parts for name, c in part.columns.items()}
            events = [event for part in parts for event in part.events]
            return [log_of(str(path), "catboost", columns, events)]
    raise failure or NotALog(str(path), "no CatBoost log in it")
