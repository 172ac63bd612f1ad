"""Two installable peers on the gym's logs: runmedic 0.1.1 and trainproof 0.22.0, beside the diagnosis of the same logs.

    pip install runmedic==0.1.1 trainproof==0.22.0

Both get each log as this package's readers read it, one JSON object a step, under names that both document
(`train_loss`, `val_loss`, `lr`, `grad_norm`, `step_time`, `data_time` ...): no finding is lost for want of a parser.
runmedic also gets the lines that the script printed, for its patterns of error messages; its own reading of the log
is a row of its own. A finding names the causes that its text, or the peer's documentation, says it means.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.gym.fitting.baselines import add, labelled
from benchmarks.gym.scoring.diagnoses import ALARMING, longest
from benchmarks.gym.scoring.tables import markdown, share
from traindx import pipeline
from traindx.errors import ReadError
from traindx.vocabulary.run import Run

VERSIONS = {"runmedic": "0.1.1", "trainproof": "0.22.0"}
# signal -> the column's name: runmedic/roles.py and trainproof/adapters.py (CANONICAL_ALIASES) know them
COLUMNS = {
    "train/loss": "train_loss", "val/loss": "val_loss", "lr": "lr", "grad_norm": "grad_norm", "time/step": "step_time",
    "time/data": "data_time", "throughput": "samples_per_sec", "util/device": "gpu_util",
    "mem/device": "gpu_memory_allocated", "mem/host": "host_memory",
}  # fmt: skip

# How a likely cause begins that runmedic prints (runmedic/checks.py, runmedic/logpatterns.py) -> causes.
RUNMEDIC: Mapping[str, tuple[str, ...]] = {
    "The LR schedule never stops increasing": ("learning-rate-schedule-fault",),
    "NaN from the very first steps": ("corrupt-samples", "unstable-numerics", "bad-initialization"),
    "Exploding gradients: the learning rate": ("learning-rate-too-high", "missing-warmup"),
    "Exploding gradients, log/sqrt": ("learning-rate-too-high", "unstable-numerics", "half-precision-range"),
    "Sudden blow-up": ("corrupt-samples", "unstable-numerics"),
    "fp16 overflow": ("half-precision-range",),
    "fp16 range": ("half-precision-range",),
    "Learning rate too high": ("learning-rate-too-high", "missing-warmup"),
    "Optimizer state blew up": ("unsuitable-optimizer", "weight-decay-too-high"),
    "Data order changed": ("unshuffled-data",),
    "Individual bad batches": ("corrupt-samples", "label-noise"),
    "Outlier batches": ("corrupt-samples",),
    "Unstable layers": ("deep-without-skip-or-norm", "unstable-numerics"),
    "The learning rate is zero": ("learning-rate-schedule-fault",),
    "The model outputs the same": ("detached-graph", "dead-relus", "saturating-activations"),
    "Weights are not updated": ("missing-optimizer-step", "frozen-parameters", "params-not-in-optimizer"),
    "Learning rate far too low": ("learning-rate-too-low",),
    "Labels are misaligned": ("misaligned-labels",),
    "The model memorizes": ("insufficient-regularization", "too-little-data"),
    "Sometimes a red flag": ("train-val-leakage",),
    "Without LR decay": ("learning-rate-schedule-fault", "learning-rate-too-high"),
    "Too few DataLoader workers": ("data-loader-bottleneck",),
    "Slow storage": ("data-loader-bottleneck",),
    "DataLoader stalls": ("data-loader-bottleneck",),
    "Memory growth": ("memory-leak",),
    "Growing sequence lengths": ("step-time-creep",),
    "Thermal throttling": ("step-time-creep",),
    "Tensors that keep": ("memory-leak",),
    "Metrics, predictions": ("memory-leak",),
    "A cache in the Dataset": ("memory-leak",),
    "Batch size or sequence length": ("out-of-memory",),
    "Activations kept alive": ("memory-leak", "out-of-memory"),
    "Ranks diverged": ("rank-desync",),
    "One rank crashed": ("straggler-rank",),
    "Some parameters are not used": ("detached-graph", "frozen-parameters"),
}
# trainproof "does not infer causes"; what its findings are documented to stand for: the faults injected for its
# gallery (README, "gallery": lr_hot, lr_zero, fp16_nan, bad_labels, overfit), the texts in trainproof/epoch.py, and
# the comments beside the thresholds in trainproof/rules.py.
TRAINPROOF: Mapping[str, tuple[str, ...]] = {
    "TP-NAN": ("learning-rate-too-high", "half-precision-range"),
    "TP-NAN-GRAD": ("half-precision-range",),
    "TP-ZERO-LOSS": ("fully-masked-labels",),
    "TP-ZERO-LOSS-ONSET": ("half-precision-range",),
    "TP-FLAT": ("learning-rate-schedule-fault", "misaligned-labels"),
    "TP-DEAD-RUN": ("learning-rate-schedule-fault", "misaligned-labels", "learning-rate-too-high"),
    "TP-DIVERGE": ("learning-rate-too-high", "half-precision-range"),
    "TP-GRAD-SPIKE": ("learning-rate-too-high", "misaligned-labels"),
    "TP-ZERO-GRAD": ("detached-graph", "frozen-parameters"),
    "TP-ZERO-LR": ("learning-rate-schedule-fault",),
    "TP-ZERO-LR-PARTIAL": ("learning-rate-schedule-fault",),
    "TP-OVERFIT": ("insufficient-regularization", "too-little-data"),
    "TP-STEP-CLIFF": ("step-time-creep",),
    "TP-LOADER-BOUND": ("data-loader-bottleneck",),
}


class Said(NamedTuple):
    """One finding: how grave it is, in the peer's own word, and the causes that it is documented to mean."""

    level: str
    causes: tuple[str, ...]


class Peer(NamedTuple):
    """A row of the table: whose findings, and the levels that count as an alarm."""

    name: str
    source: str
    alarms: tuple[str, ...]


PEERS = (
    Peer("runmedic, critical", "runmedic", ("critical",)),
    Peer("runmedic, warning or worse", "runmedic", ("critical", "warning")),
    Peer("the same, reading the log itself", "runmedic, own", ("critical", "warning")),
    Peer("trainproof, FAIL", "trainproof", ("FAIL",)),
    Peer("trainproof, WARN or FAIL", "trainproof", ("FAIL", "WARN")),
    Peer("traindx, sick or failed", "traindx, health", ("alarm",)),
    Peer("traindx, a finding of medium or worse", "traindx, findings", ("alarm",)),
)


def compare(folders: list[Path]) -> str:
    """The table of the baselines for the peers, on all logs of labelled runs that show a training loss."""
    installed()
    counts = {peer.name: [0, 0, 0] for peer in PEERS}
    well = ill = 0
    for row, log, run in logs(folders):
        healthy = row["verdict"] == "healthy"
        well, ill = well + healthy, ill + (not healthy)
        said = {**by_peers(log, run), **by_traindx(run)}
        for peer in PEERS:
            fired = [f for f in said[peer.source] if f.level in peer.alarms]
            right = any(set(row["causes"]) & set(f.causes) for f in fired)
            add(counts[peer.name], healthy, bool(fired), right)
    body = [(name, share(c[0], well), share(c[1], ill), share(c[2], ill)) for name, c in counts.items()]
    return markdown(
        ("tool", "healthy runs with an alarm", "faulty runs with an alarm", "right cause named"), body
    )


def installed() -> None:
    """ImportError where a peer is missing or of another version than the tables here are made for."""
    for name, version in VERSIONS.items():
        found = importlib.import_module(name).__version__
        if found != version:
            raise ImportError(
                f"{name} is {found}, the tables are for {version}: pip install {name}=={version}"
            )


def logs(folders: Iterable[Path]) -> Iterator[tuple[dict[str, Any], Path, Run]]:
    """Labelled runs, healthy or with a fault that hurts, their log, and what is read from it."""
    for folder in folders:
        for row in labelled(folder):
            if row["verdict"] not in ("healthy", "hurts"):
                continue
            try:
                run = longest(pipeline.read_all(folder / row["log"]))
            except ReadError:
                continue
            if "train/loss" in run.series:
                yield row, folder / row["log"], run


def by_peers(log: Path, run: Run) -> dict[str, list[Said]]:
    """What the peers find in a log, from its file under their own names."""
    loaders, texts = (importlib.import_module(f"runmedic.loaders{part}") for part in ("", ".textlog"))
    trainproof = importlib.import_module("trainproof.epoch")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "metrics.jsonl"
        path.write_text(as_lines(run), encoding="utf-8")
        (told,) = loaders.load(str(path))
        found = trainproof.check_epoch(path)["findings"]
    printed = [log.parent / name for name in ("stdout.log", "stderr.log") if (log.parent / name).exists()]
    told.log_lines = [line for file in printed for line in texts.load(file).log_lines]
    itself = loaders.load(str(log))
    return {
        "runmedic": runmedic(told),
        "runmedic, own": [said for its in itself for said in runmedic(its)],
        "trainproof": [Said(f["level"], TRAINPROOF.get(f["id"], ())) for f in found],
    }


def runmedic(told: Any) -> list[Said]:
    """The findings of runmedic in a run that it has loaded."""
    checks, roles = (importlib.import_module(f"runmedic.{part}") for part in ("checks", "roles"))
    return [Said(f.severity, causes_of(f.causes)) for f in checks.run_checks(told, roles.detect(told))]


def causes_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The causes behind the sentences that runmedic prints as likely causes."""
    return tuple(
        c for text in texts for start, causes in RUNMEDIC.items() if text.startswith(start) for c in causes
    )


def by_traindx(run: Run) -> dict[str, list[Said]]:
    """The three likeliest causes, for a run that is called sick or failed, and for one with a grave finding."""
    said = pipeline.diagnose(run).first
    answer = [Said("alarm", tuple(h.cause for h in said.hypotheses[:3]))]
    return {
        "traindx, health": answer if said.health in ("sick", "failed") else [],
        "traindx, findings": answer if any(f.severity in ALARMING for f in said.findings) else [],
    }


def as_lines(run: Run) -> str:
    """The run as JSON lines, one for each step that has a value."""
    table: dict[float, dict[str, float]] = {}
    for signal, column in COLUMNS.items():
        found = run.series.get(signal)
        for step, value in zip(found.steps, found.values, strict=True) if found is not None else ():
            table.setdefault(float(step), {"step": float(step)})[column] = float(value)
    return "".join(json.dumps(table[step]) + "\n" for step in sorted(table))
