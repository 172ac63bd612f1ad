"""Any table of numbers: CSV, TSV, semicolons with decimal commas, blanks, with or without a header."""

import re
from math import isfinite

from msgspec.structs import replace

from traindx.features.statistics import distinct
from traindx.readers.api import Floats, NotALog, RawColumn, RawLog, Source, np
from traindx.readers.assembly.step_axis import count_directions, find_axis, steps_of, swept
from traindx.readers.names.aliases import role_of, split_of, word_set, words_of
from traindx.readers.names.by_shape import role_by_shape
from traindx.readers.tables.layout import Layout, parts_of_deepxde, peek_layout
from traindx.readers.tables.long import long_tables
from traindx.readers.tables.parsing import Table, read_table
from traindx.vocabulary import direction_of

NAME = "csv"
FILES = ("*.csv", "*.tsv")
MOST = 0.5
APART = 0.8  # of the rows, some are there twice
SOME = 5  # rows that name something, below which they may differ by chance
SETTINGS = word_set("""lr lr0 dropout optimizer activation hidden layers units dim dims dimension proportion seed init
    kernel heads warmup mixup mosaic augmentation""")
BACK = 0.2  # of the rows fall back, above which an axis is no counter, even of several runs
AGAIN = 1 / 3  # of the rows: distinct values of a number that comes again
MANY = 20  # whole numbers that all rise count something, by whatever steps
SHARED = 1 / 2  # of the rows: distinct words that rows share
TIME = r"\d:\d\d|\d{4}-\d\d|^\W*\d"
RATE = re.compile(
    r"(?P<before>.*?)[\s_/-]*(?:lr|learning[\s_-]?rate)[\s_=:-]*(?P<rate>\d*\.?\d+(?:e[-+]?\d+)?)(?P<after>\D*)",
    re.IGNORECASE,
)
COUNTERS = ("step", "epoch", "iteration")


def sniff(source: Source) -> float:
    """A table is sure with a header and several columns; bare numbers could be anything."""
    layout = peek_layout(source.head)
    if layout is None:
        return 0.0
    if len(layout.names) == 1:
        return 0.2
    if parts_of_deepxde(layout.comments, len(layout.names)):
        return 0.5
    if layout.delimiter == " ":
        return 0.35 if layout.header else 0.25
    return 0.5 if layout.header else 0.4


def read(source: Source) -> list[RawLog]:
    """One log; a header that is repeated marks the start of another run."""
    table = read_table(source)
    if {"wall time", "step", "value"} == table.layout.lowered:
        return [read_tensorboard_export(table, source)]
    log = table.log(source, NAME)
    if tables := long_tables(source, table.layout, log.events):
        return of_long_tables(log, tables)
    if not table.layout.header:
        name_lone_fraction(log)
        use_row_counter(log)
        rename_total(log, source)
    name_by_file(log, source)
    axis = log.axis or find_axis(log.columns)
    if axis in log.columns and set_by_hand(axis, log.columns[axis].values):
        raise NotALog(
            source.name,
            f"{axis} is a setting here, not a counter: this is a table of results, not the log of a run",
            hint="give the log that was written while it trained",
            final=True,
        )
    uncounted = not counts(log, axis)
    naming = describe_items(table.layout, axis) if uncounted else ""
    naming = f"{naming} differs in every row" if naming else ""
    if not naming and uncounted and (cut := swept(log.columns)):
        naming = f"the rows go over {cut}"
    if not naming and (uncounted or goes_back(log.columns[axis or ""].values)):
        naming = describe_settings(log, table.layout)
    if naming:
        raise NotALog(
            source.name,
            f"no column counts steps, and {naming}: this is a table of results, not the log of a run",
            hint="give the log that was written while it trained",
            final=True,
        )
    return by_rate(log)


def of_long_tables(log: RawLog, tables: dict[str, dict[str, RawColumn]]) -> list[RawLog]:
    """A log of each run of a table with one number a row, which names the runs."""
    return [
        replace(
            log,
            source=f"{log.source}: {own}" if len(tables) > 1 else log.source,
            columns=found,
            axis=next(iter(found)),
        )
        for own, found in tables.items()
    ]


def counts(log: RawLog, axis: str | None) -> bool:
    """Whether the axis counts rows: two values and fewer in many rows (10 epochs or 100) are settings."""
    values = log.columns[axis].values if axis in log.columns else np.empty(0)
    return axis is not None and not (len(values) >= SOME and distinct(values) < 3)


def goes_back(values: Floats) -> bool:
    """Whether an axis falls back from row to row too often to be a counter."""
    return bool(len(values) >= SOME and np.mean(np.diff(values) < 0) > BACK)


def describe_settings(log: RawLog, layout: Layout) -> str:
    """What is said of settings that change from row to row, "" for none: two columns with names of settings, or one
    next to words that rows share (a method, a kind of layer), or such words next to two columns of numbers that
    come again. One of them goes up and down. A rate alone may do so by its schedule."""
    cells = {layout.names[i]: [c.strip() for c in layout.samples[i]] for i in sorted(layout.text)}
    shared = [
        n for n, c in cells.items() if 1 < len({*c}) <= SHARED * len(c) and not any(map(split_of_word, c))
    ]
    words = {n: np.unique(c, return_inverse=True)[1].astype(float) for n, c in cells.items()}
    numbers = {name: column.values for name, column in log.columns.items()}
    values = words | numbers
    moving = {n: count_directions(v) for n, v in values.items() if n in shared or SETTINGS & {*words_of(n)}}
    moving = {n: count for n, count in moving.items() if count}
    if len(moving) > 1 and max(moving.values()) == 2:
        return f"{' and '.join([*moving][:2])} are settings that differ from row to row"
    if not shared:
        return ""
    again = [n for n, v in numbers.items() if 1 < distinct(v) <= AGAIN * len(v) and (v == np.floor(v)).all()]
    return f"{shared[0]} is shared by rows with other settings" if len(again) > 1 else ""


def split_of_word(cell: str) -> bool:
    """Whether a cell names a side of the data."""
    return bool(split_of(words_of(cell)))


def set_by_hand(axis: str, values: Floats) -> bool:
    """Whether epochs were set, not counted: they stay from row to row, or jump, and never by one."""
    with np.errstate(over="ignore"):  # of damaged tables
        change = np.diff(values[np.isfinite(values)])
    moves = change[change != 0]
    return bool("epoch" in axis.lower() and SOME <= len(moves) < len(change) / 2 and np.abs(moves).min() > 1)


def describe_items(layout: Layout, setting: str | None) -> str:
    """The column of words that are different in every row (patients, classes, sentences; not times), or the
    columns that are so together (data set, model and a `setting`), "" for none."""
    words = {}
    for index in sorted(layout.text):
        cells = [cell.strip() for cell in layout.samples[index]]
        filled = [cell for cell in cells if cell]
        if len(filled) >= SOME and 2 * sum(re.search(TIME, cell) is not None for cell in filled) < len(
            filled
        ):
            words[layout.names[index]] = cells
    for name, cells in words.items():
        filled = [cell for cell in cells if cell]
        if len({*filled}) == len(filled):
            return name
    if len(words) < 2:
        return ""
    columns = [
        *words.values(),
        *(layout.samples[i] for i, name in enumerate(layout.names) if name == setting),
    ]
    rows = list(zip(*columns, strict=True))
    return " with ".join(words) if len({*rows}) > APART * len(rows) else ""


def read_tensorboard_export(table: Table, source: Source) -> RawLog:
    """TensorBoard's CSV download: the tag is in the name of the file only (`run-a-tag-train_loss.csv`)."""
    wall, step, value = sorted(
        table.columns, key=lambda name: ("wall time", "step", "value").index(name.lower())
    )
    columns = {step: table.columns[step]} | {value: replace(table.columns[value])}
    times = table.columns[wall]
    if np.array_equal(times.rows, columns[value].rows):
        columns[value].times = times.values
    log = table.log(source, NAME, framework="tensorboard", axis=step)
    log.columns = columns
    name_by_file(log, source)
    return log


def use_row_counter(log: RawLog) -> None:
    """A table without a header whose first column counts rows by even steps, or the second of two: that is the axis."""
    names = [*log.columns]
    for name in names[:1] if len(names) > 2 else names:
        values = log.columns[name].values
        if len(names) > 1 and len(values) > 2 and np.isfinite(values).all():
            gaps = np.diff(values)
            whole = len(values) > MANY and bool((gaps > 0).all() and (values == np.floor(values)).all())
            if gaps[0] > 0 and (whole or (gaps == gaps[0]).mean() > 0.9):
                log.axis = name
                return


def name_lone_fraction(log: RawLog) -> None:
    """In a table without a header, the only column that counts nothing (`3 120 0.52`: epoch, batch, loss), if it falls
    as a loss does."""
    others = [name for name, column in log.columns.items() if not counts_on(column.values)]
    if len(others) != 1 or len(log.columns) < 3:
        return
    values = log.columns[others[0]].values
    role = role_by_shape(values, counted=False) if len(values) > MANY else ""
    if role:
        log.roles[others[0]] = role


def counts_on(values: Floats) -> bool:
    """Whether whole numbers go up by one at most, or begin again, through three values or more."""
    with np.errstate(all="ignore"):  # of damaged tables
        whole = np.isfinite(values).all() and (values == np.floor(values)).all()
        goes_on = np.isin(np.diff(values), (0, 1)) | (values[1:] == values.min(initial=np.inf))
    return bool(whole and goes_on.all() and distinct(values) > 2)


def rename_total(log: RawLog, source: Source) -> None:
    """Of columns without names in a file that is named after a loss, the one that is the sum of the others."""
    stem = source.path.name.split(".")[0] if source.path is not None else ""
    names = [name for name in log.columns if name != log.axis]
    if len(names) < 3 or not role_of(stem).signal.endswith("loss"):
        return
    with np.errstate(all="ignore"):  # of damaged tables
        total = (
            np.sum([log.columns[name].values for name in names], axis=0) if fill_same_rows(log, names) else 0
        )
        sums = [n for n in names if np.allclose(2 * log.columns[n].values, total, rtol=1e-3, equal_nan=True)]
    if len(sums) == 1:
        log.roles[sums[0]] = role_of(stem).signal


def fill_same_rows(log: RawLog, names: list[str]) -> bool:
    """Whether columns fill the same rows."""
    return len({log.columns[name].rows.tobytes() for name in names}) == 1


def name_by_file(log: RawLog, source: Source) -> None:
    """A single column of values without a name is called as its file is, where that says something
    (`val_loss.txt`); logs of a folder that are named so are parts of one run. Otherwise its shape says what it
    is."""
    names = [name for name in log.columns if name != log.axis]
    if (
        len(names) != 1
        or source.path is None
        or not (names[0].lower() == "value" or names[0] in ("c0", "c1"))
    ):
        return
    stem = source.path.name.split(".")[0]
    tag = stem.rsplit("-tag-", 1)[-1]
    says = direction_of(role_of(tag).signal) != "none" or role_of(tag).signal in ("lr", "grad_norm")
    if says or tag != stem:  # a tag is the name, also where it is of no loss: episode lengths are none
        column = log.columns[names[0]]
        log.columns = {tag: replace(column, steps=steps_of(column, log.columns.get(log.axis or "")))}
        log.axis_kind, log.axis = "row" if log.axis is None else "step", None
        log.group = f"{source.path.parent}/{stem.removesuffix(tag)}"
    elif role := role_by_shape(log.columns[names[0]].values, counted=log.axis is not None):
        log.roles[names[0]] = role


def by_rate(log: RawLog) -> list[RawLog]:
    """A log for each rate of a table whose columns, but for what counts its rows, have the same name up to a
    learning rate: `lr=0.1,lr=0.01`, `loss_lr0.1,loss_lr0.01`. Columns that name nothing else are losses. Any
    other log as it is: a schedule of several groups (`lr0,lr1`) has integers, no rates."""
    shared = {n: c for n, c in log.columns.items() if n == log.axis or role_of(n).signal in COUNTERS}
    found = {n: RATE.fullmatch(n) for n in log.columns if n not in shared}
    named = {n: match for n, match in found.items() if match is not None and 0 < float(match["rate"]) < 1}
    if len(named) < 2 or len(named) < len(found):
        return [log]
    rates = {float(match["rate"]) for match in named.values() if isfinite(float(match["rate"]))}
    names = {f"{match['before']}{match['after']}".strip(" _-/") for match in named.values()}
    if len(rates) < len(named) or len(names) > 1:
        return [log]
    name = names.pop() or "loss"
    return [
        replace(
            log,
            source=f"{log.source}: {column}",
            columns={**shared, name: log.columns[column]},
            facts={**log.facts, "lr": float(match["rate"])},
            group="",
        )
        for column, match in named.items()
    ]
