"""One run written in several formats: tables, JSON Lines, printed lines, event files, the Trainer's state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.metamorphic.columns import Exempt
from traindx.vocabulary.run import Run

MOST_ROWS, MOST_SIGNALS = 600, 12
TRAINER = {"train/loss": "loss", "lr": "learning_rate", "grad_norm": "grad_norm", "epoch": "epoch"}
PLAIN = re.compile(r"(?:train|val)/[A-Za-z]\w*|lr|grad_norm|loss_scale|throughput|weight_norm")

Row = tuple[float, dict[str, float]]


def rows_of(run: Run) -> list[Row]:
    """(step, value of each signal) in order, in single precision, as event files hold no more. Errors: Exempt."""
    names = [n for n in sorted(run.series) if PLAIN.fullmatch(n) and len(run.series[n])][:MOST_SIGNALS]
    if not any(n in ("train/loss", "val/loss") or "rew" in n for n in names):
        raise Exempt("no loss, score or reward with a plain name")
    if run.axis not in ("step", "epoch"):
        raise Exempt("counts neither steps nor epochs")
    table: dict[float, dict[str, float]] = {}
    for name in names:
        series = run.series[name]
        for step, value in zip(series.steps, np.float32(series.values).astype(np.float64), strict=True):
            table.setdefault(float(step), {})[name] = float(value)
    if len(table) > MOST_ROWS:
        raise Exempt(f"more than {MOST_ROWS} rows")
    if any(step != int(step) or step < 0 for step in table):
        raise Exempt("steps that are no counts")
    return sorted(table.items())


def numeral(value: float) -> str:
    return "nan" if value != value else repr(value)


def names_in(rows: list[Row]) -> list[str]:
    return sorted({name for _, values in rows for name in values})


def table(rows: list[Row], axis: str, folder: Path, mark: str = ",", decimal: str = ".") -> Path:
    names = names_in(rows)
    lines = [mark.join((axis, *names))]
    for step, values in rows:
        cells = [numeral(values[n]).replace(".", decimal) if n in values else "" for n in names]
        lines.append(mark.join((f"{step:.0f}", *cells)))
    return put(folder / "log.csv", lines)


def decimal_commas(rows: list[Row], axis: str, folder: Path) -> Path:
    return table(rows, axis, folder, ";", ",")


def json_lines(rows: list[Row], axis: str, folder: Path) -> Path:
    return put(folder / "log.jsonl", [json.dumps({axis: int(step), **values}) for step, values in rows])


def printed(rows: list[Row], axis: str, folder: Path) -> Path:
    def line(step: float, values: dict[str, float]) -> str:
        shown = ", ".join(f"{n.replace('/', '_')}: {numeral(v)}" for n, v in values.items())
        return f"{axis} {step:.0f} - {shown}"

    return put(folder / "train.log", [line(*row) for row in rows])


def event_file(rows: list[Row], axis: str, folder: Path) -> Path:
    from tests.readers.writers import tfevents

    if axis != "step":
        raise Exempt("event files count steps")
    events = [
        tfevents.event(1.7e9 + i, int(step), *(tfevents.simple(n, v) for n, v in values.items()))
        for i, (step, values) in enumerate(rows)
    ]
    path = folder / "events.out.tfevents.1700000000.host"
    path.write_bytes(tfevents.file(events))
    return path


def trainer_state(rows: list[Row], axis: str, folder: Path) -> Path:
    if axis != "step" or not all(values.keys() & {"train/loss", "val/loss"} for _, values in rows):
        raise Exempt("not what the Trainer logs")
    last, history = rows[-1][0], []
    for step, values in rows:
        for split in ("val/", ""):
            own = {name: v for name, v in values.items() if name.startswith("val/") == bool(split)}
            if own:
                named = {
                    TRAINER.get(n) or n.replace("val/", "eval_").replace("/", "_"): v for n, v in own.items()
                }
                history.append({**named, "step": int(step)})
    return put(
        folder / "trainer_state.json",
        [json.dumps({"best_metric": None, "global_step": int(last), "log_history": history})],
    )


def put(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


Writer = Callable[[list[Row], str, Path], Path]
FORMATS: dict[str, Writer] = {
    "JSON Lines": json_lines,
    "printed": printed,
    "TensorBoard": event_file,
    "trainer_state.json": trainer_state,
    "decimal commas": decimal_commas,
}


def written(run: Run, folder: Path) -> Iterator[tuple[str, Path | None, str]]:
    """(name, place or None, why not) of a run in each format, the plain table first."""
    try:
        rows = rows_of(run)
    except Exempt as reason:
        yield from ((name, None, str(reason)) for name in ("CSV", *FORMATS))
        return
    for name, write in {"CSV": table, **FORMATS}.items():
        place = folder / name.replace(" ", "-")
        place.mkdir()
        try:
            yield name, write(rows, run.axis, place), ""
        except Exempt as reason:
            yield name, None, str(reason)
