"""One run, written in every format that can be written by hand, gets one verdict."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.readers.formats.test_wandb_store import row, written
from tests.readers.writers import tfevents as tf
from tests.readers.writers.store import Row, write_stream
from traindx import pipeline
from traindx.readers import read_path
from traindx.vocabulary.run import Floats, Run


class Curves(NamedTuple):
    """A run of `step[n]` with a validation in each row. All numbers are of single precision."""

    step: list[int]
    loss: list[float]
    val_loss: list[float]
    lr: list[float]

    def rows(self) -> Iterator[tuple[int, float, float, float]]:
        return zip(self.step, self.loss, self.val_loss, self.lr, strict=True)


def curves(loss: Floats, val_loss: Floats, lr: Floats) -> Curves:
    single = [np.float32(part).astype(np.float64).tolist() for part in (loss, val_loss, lr)]
    return Curves([10 * (i + 1) for i in range(len(loss))], *single)


def made() -> dict[str, Curves]:
    """A healthy run, one that diverges to NaN, one that overfits, one at chance, one that spikes and
    recovers."""
    rng = np.random.default_rng(0)
    n = np.arange(150.0)
    fall = 0.4 + 1.9 * np.exp(-n / 30) + rng.normal(0, 0.02, 150)
    lr = np.full(150, 0.01)
    worse = np.where(n > 60, 0.6 + 0.01 * (n - 60), fall + 0.05)
    nan = np.where(n > 100, np.nan, np.where(n > 90, fall * 3.0 ** (n - 90), fall))
    chance = 2.302585 + rng.normal(0, 0.003, 150)
    return {
        "healthy": curves(fall, fall + 0.05, lr),
        "diverges": curves(nan, np.where(n > 100, np.nan, fall + 0.05), lr),
        "overfits": curves(fall * np.exp(-n / 60), worse, lr),
        "chance": curves(chance, chance[::-1], lr),
    }


RUNS = made()


def spelled(value: float, absent: str = "nan") -> str:
    return absent if value != value else repr(value)


def table(mark: str, decimal: str = ".") -> Callable[[Curves, Path], Path]:
    def write(run: Curves, folder: Path) -> Path:
        lines = [mark.join(("step", "loss", "val_loss", "lr"))]
        lines += [
            mark.join((str(s), *(spelled(v).replace(".", decimal) for v in rest))) for s, *rest in run.rows()
        ]
        return put(folder / "log.csv", "\n".join(lines) + "\n")

    return write


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def records(run: Curves) -> list[dict[str, Any]]:
    return [{"step": s, "loss": a, "val_loss": b, "lr": c} for s, a, b, c in run.rows()]


def json_lines(run: Curves, folder: Path) -> Path:
    return put(folder / "log.jsonl", "".join(json.dumps(r) + "\n" for r in records(run)))


def json_history(run: Curves, folder: Path) -> Path:
    return put(folder / "history.json", json.dumps(run._asdict()))


def json_records(run: Curves, folder: Path) -> Path:
    return put(folder / "log.json", json.dumps(records(run)))


def trainer_state(run: Curves, folder: Path) -> Path:
    history: list[dict[str, Any]] = []
    for s, a, b, c in run.rows():
        history += [{"epoch": s / 500, "loss": a, "learning_rate": c, "step": s}]
        history += [{"epoch": s / 500, "eval_loss": b, "step": s}]
    state = {"best_metric": None, "global_step": run.step[-1], "log_history": history}
    return put(folder / "trainer_state.json", json.dumps(state))


def prints(run: Curves, folder: Path) -> Path:
    lines = [
        f"step {s} loss {spelled(a)} val_loss {spelled(b)} lr {spelled(c)}" for s, a, b, c in run.rows()
    ]
    return put(folder / "train.log", "\n".join(lines) + "\n")


def logging_lines(run: Curves, folder: Path) -> Path:
    lines = [
        f"2024-03-01 12:{s // 60 % 60:02d}:{s % 60:02d},123 - trainer - INFO - Step: {s} | loss: {spelled(a)} | "
        f"val_loss: {spelled(b)} | lr: {spelled(c)}"
        for s, a, b, c in run.rows()
    ]
    return put(folder / "train.log", "\n".join(lines) + "\n")


def dict_lines(run: Curves, folder: Path) -> Path:
    return put(folder / "train.log", "".join(f"{r}\n" for r in records(run)))


def two_lines(run: Curves, folder: Path) -> Path:
    lines = [
        f"step {s}: loss {spelled(a)}, lr {spelled(c)}\nstep {s}: val_loss {spelled(b)}"
        for s, a, b, c in run.rows()
    ]
    return put(folder / "train.log", "\n".join(lines) + "\n")


def markdown(run: Curves, folder: Path) -> Path:
    rows = ["| step | loss | val_loss | lr |", "|---|---|---|---|"]
    rows += [f"| {s} | {spelled(a)} | {spelled(b)} | {spelled(c)} |" for s, a, b, c in run.rows()]
    return put(folder / "log.md", "\n".join(rows) + "\n")


def events(value: Callable[[str, float], bytes]) -> Callable[[Curves, Path], Path]:
    def write(run: Curves, folder: Path) -> Path:
        made = []
        for s, a, b, c in run.rows():
            named = (("train/loss", a), ("val/loss", b), ("lr", c))
            made += [tf.event(1.7e9 + s, s, value(name, number)) for name, number in named]
        path = folder / "events.out.tfevents.1700000000.host"
        path.write_bytes(tf.file(made))
        return path

    return write


def mlruns(run: Curves, folder: Path) -> Path:
    home = folder / "mlruns" / "0" / "abc"
    (home / "metrics").mkdir(parents=True)
    put(folder / "mlruns" / "0" / "meta.yaml", "name: Default\n")
    put(home / "meta.yaml", "lifecycle_stage: active\nstatus: 1\n")
    for name in ("loss", "val_loss", "lr"):
        values = getattr(run, name)
        lines = [f"{1_700_000_000_000 + s} {spelled(v)} {s}" for s, v in zip(run.step, values, strict=True)]
        put(home / "metrics" / name, "\n".join(lines) + "\n")
    return folder / "mlruns"


def sacred(run: Curves, folder: Path) -> Path:
    stamps = ["2024-03-01T12:00:00"] * len(run.step)
    metrics = {
        n: {"steps": run.step, "timestamps": stamps, "values": getattr(run, n)} for n in run._fields[1:]
    }
    put(folder / "run.json", "{}")
    return put(folder / "metrics.json", json.dumps(metrics)).parent


def lightning(run: Curves, folder: Path) -> Path:
    lines = ["epoch,lr-SGD,step,train_loss,val_loss"]
    for s, a, b, c in run.rows():
        lines += [
            f"{s // 500},{spelled(c)},{s},,",
            f"{s // 500},,{s},{spelled(a)},",
            f"{s // 500},,{s},,{spelled(b)}",
        ]
    (folder / "version_0").mkdir()
    return put(folder / "version_0" / "metrics.csv", "\n".join(lines) + "\n").parent


def store(run: Curves, folder: Path) -> Path:
    rows: list[Row] = []
    for s, a, b, c in run.rows():
        named = (("train/loss", a), ("val/loss", b), ("lr", c))
        rows += [(s, 1.7e9 + s, name, (), (value,)) for name, value in named]
    write_stream(folder, [rows])
    put(folder / "setup.json", json.dumps({"schema": "traindx.store/1", "facts": {}}))
    return folder


def packed(run: Curves, folder: Path) -> Path:
    path = folder / "train.log.gz"
    path.write_bytes(gzip.compress(prints(run, folder).read_bytes()))
    return path


def powershell(run: Curves, folder: Path) -> Path:
    """What `>` writes in PowerShell: UTF-16, and lines ended as on Windows."""
    path = prints(run, folder)
    path.write_bytes(path.read_text().replace("\n", "\r\n").encode("utf-16"))
    return path


def wandb(run: Curves, folder: Path) -> Path:
    path = folder / "run-abc.wandb"
    path.write_bytes(written([row(s, loss=a, val_loss=b, lr=c) for s, a, b, c in run.rows()]))
    return path


def by_epoch(first: str, line: str) -> Callable[[Curves, Path], Path]:
    """A log that counts epochs from 1: `line` for each, below `first`."""

    def write(run: Curves, folder: Path) -> Path:
        logged = [
            line.format(e=e, loss=spelled(a), val_loss=spelled(b), lr=spelled(c), of=len(run.step))
            for e, (_, a, b, c) in enumerate(run.rows(), 1)
        ]
        return put(folder / ("log.csv" if "," in first else "train.log"), "\n".join([first, *logged]) + "\n")

    return write


WRITERS = {
    "tabs": table("\t"),
    "decimal commas": table(";", ","),
    "JSON Lines": json_lines,
    "history": json_history,
    "records": json_records,
    "trainer state": trainer_state,
    "prints": prints,
    "logging": logging_lines,
    "dicts": dict_lines,
    "two lines": two_lines,
    "markdown": markdown,
    "simple values": events(tf.simple),
    "tensors": events(tf.tensor),
    "mlruns": mlruns,
    "sacred": sacred,
    "lightning": lightning,
    "store": store,
    "W&B": wandb,
    "gzip": packed,
    "PowerShell": powershell,
}


EPOCHS = {
    "Keras CSV": by_epoch("Epoch,loss,lr,val_loss", "{e},{loss},{lr},{val_loss}"),
    "prints": by_epoch("", "Epoch {e}: train loss {loss} val loss {val_loss} lr {lr}"),
    "of many": by_epoch("", "[Epoch {e}/{of}] train_loss={loss}, val_loss={val_loss}, lr={lr}"),
    "Keras": by_epoch(
        "", "Epoch {e}/{of}\n25/25 [======] - 1s 3ms/step - loss: {loss} - val_loss: {val_loss} - lr: {lr}"
    ),
    "Keras quiet": by_epoch("", "Epoch {e}/{of}\n - 3s - loss: {loss} - val_loss: {val_loss} - lr: {lr}"),
    "fastai": by_epoch("epoch     train_loss  valid_loss  lr", "{e}         {loss}    {val_loss}    {lr}"),
    "tqdm": by_epoch(
        "", "Epoch {e}: 100%|####| 25/25 [00:01<00:00, 22.9it/s, loss={loss}, val_loss={val_loss}, lr={lr}]"
    ),
}


def read(path: Path) -> Run:
    (run,) = read_path(str(path))
    return run


def verdict(run: Run) -> dict[str, object]:
    """What a reader of the page goes by."""
    logged = pipeline.diagnose(run).document.runs[0]
    first = logged.hypotheses[0]
    return {
        "health": logged.health,
        "action": logged.decision.action,
        "findings": [(f.slug, f.severity, f.onset_step) for f in logged.findings],
        "cause": first.cause,
    }


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("name", RUNS)
def test_the_form_of_a_log_changes_nothing(name: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "other").mkdir()
    plain = read(table(",")(RUNS[name], tmp_path / "plain"))
    other = read(WRITERS[form](RUNS[name], tmp_path / "other"))
    for signal in ("train/loss", "val/loss", "lr"):
        np.testing.assert_array_equal(other.series[signal].steps, plain.series[signal].steps)
        np.testing.assert_array_equal(other.series[signal].values, plain.series[signal].values)
    assert verdict(other) == verdict(plain)


@pytest.mark.parametrize("form", EPOCHS)
@pytest.mark.parametrize("name", RUNS)
def test_so_with_logs_that_count_epochs(name: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "other").mkdir()
    plain = read(
        by_epoch("epoch,loss,val_loss,lr", "{e},{loss},{val_loss},{lr}")(RUNS[name], tmp_path / "plain")
    )
    other = read(EPOCHS[form](RUNS[name], tmp_path / "other"))
    for signal in ("train/loss", "val/loss", "lr"):
        np.testing.assert_array_equal(other.series[signal].steps, plain.series[signal].steps)
        np.testing.assert_array_equal(other.series[signal].values, plain.series[signal].values)
    assert verdict(other) == verdict(plain)
