"""OpenMMLab: mmcv's .log.json (settings, then rows with a mode) and MMEngine's scalars.json."""

from itertools import pairwise

from traindx.readers.api import RawColumn, RawLog, Source, column
from traindx.readers.files.text_blocks import as_plain_text
from traindx.readers.json.document import Record, peek_records
from traindx.readers.json.lines import Lines, read_lines
from traindx.readers.setup_facts import facts_from

NAME = "mmengine-json"
MOST = 0.95
BEGINS = (b"{",)
HOLDS = (b'"iter"|"env_info"',)
STEP = "global_iter"
SETTINGS = frozenset(
    {"env_info", "config", "exp_name", "mmdet_version", "mmseg_version", "CLASSES", "hook_msgs"}
)
PLAIN = frozenset({"epoch", "iter", "step", "mode", "lr", "memory"})


def sniff(source: Source) -> float:
    """Rows with mode, epoch and iter (mmcv), or with iter and an equal step (MMEngine)."""
    if as_plain_text(source.head[:2048]).lstrip().startswith(b'{"env_info"'):
        return 0.95
    records = peek_records(source.head)
    modes = [r for r in records if r.get("mode") in ("train", "val") and "iter" in r]
    steps = [
        r for r in records if "data_time" in r and "time" in r and "iter" in r and r.get("step") == r["iter"]
    ]
    few = max(1, len(records) / 4)
    return 0.95 if len(modes) >= few or len(steps) >= few else 0.0


def read(source: Source) -> list[RawLog]:
    """One log by iterations over the whole run. Rows of the validation loop get `val/` before
    their names; what opens the file is facts."""
    facts: dict[str, object] = {}

    def take(record: Record, row: int) -> Record | None:
        if row == 0 and not {"mode", "step", "iter"} & set(record):
            facts.update(facts_from({k: v for k, v in record.items() if k in ("seed", "exp_name", "model")}))
            return None
        if record.get("mode", "train" if {"loss", "lr"} & set(record) else "val") == "train":
            return {k: v for k, v in record.items() if k != "mode"}
        return {k if k in PLAIN else f"val/{k}": v for k, v in record.items() if k != "mode"}

    lines = read_lines(source, take)
    log = RawLog(
        source.name, NAME, framework="openmmlab", columns=lines.columns, facts=facts, events=lines.events
    )
    log.columns[STEP] = iteration_column(lines)
    log.axis, log.axis_kind = STEP, "iteration"
    log.units = {name: "MiB" for name in ("memory", "val/memory") if name in log.columns}
    log.units |= {n: "s" for n in ("time", "data_time", "val/time", "val/data_time") if n in log.columns}
    return [log]


def iteration_column(lines: Lines) -> RawColumn:
    """The iteration of every row, over the whole run.

    mmcv counts `iter` within an epoch, and in a validation row gives the size of the validation
    set; MMEngine counts over the run, but gives the epoch as the `step` of a validation row. A
    validation row therefore belongs to the training row before it, or, between epochs of mmcv, at
    the end of its epoch. Epochs of mmcv are as long as the longest one logged.
    """
    values = {
        name: dict(zip(c.rows.tolist(), c.values.tolist(), strict=True))
        for name, c in lines.columns.items()
        if name in ("iter", "step", "epoch")
    }
    iters, epochs, steps = (values.get(name, {}) for name in ("iter", "epoch", "step"))
    validation = {int(row) for name, c in lines.columns.items() if name.startswith("val/") for row in c.rows}
    trained = [row for row in sorted(iters.keys() | steps.keys()) if row not in validation]
    inner = within_epochs([(epochs.get(row, 0.0), iters.get(row, 0.0)) for row in trained])
    length = max((iters.get(row, 0.0) for row in trained), default=0.0) if inner else 0.0
    now = 0.0
    found: dict[int, float] = {}
    for row in sorted(set(trained) | validation):
        if row not in validation:
            now = iters.get(row, steps.get(row, now)) + length * max(epochs.get(row, 1.0) - 1, 0.0)
        elif inner and row in epochs:
            now = max(now, length * epochs[row])
        elif not trained:
            now = steps.get(row, now)
        found[row] = now
    return column(list(found.values()), list(found))


def within_epochs(pairs: list[tuple[float, float]]) -> bool:
    """Whether (epoch, iter) pairs show an iter that starts again with each epoch."""
    return any(e2 > e1 and i2 <= i1 for (e1, i1), (e2, i2) in pairwise(pairs))
