"""The relations: how a log is changed, and what must stay as it was.

Each takes a `Subject` and gives differences (kinds of them, none where the relation holds), or raises `Exempt`.
"Health" is the verdict, a "flip" is healthy on one side and sick or failed on the other, "cause" is the leading cause
where a page would name one, "onset" is that of the first finding where both have the same first finding.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.metamorphic import columns as change
from benchmarks.metamorphic.answers import Answer, answer, differences, flipped
from benchmarks.metamorphic.columns import Exempt
from benchmarks.metamorphic.formats import written
from traindx.errors import ReadError
from traindx.readers import merge_groups, read_place
from traindx.readers.assembly.runs import assemble
from traindx.readers.names.aliases import role_of
from traindx.readers.raw import RawLog
from traindx.vocabulary.run import ENDINGS, Run

LONG = 40  # rows from which half of them still show the same
CUT = 0.9
REPEATED = 0.3  # of the later values
SPIKED = 200  # points of a run that one spike must not change
SPIKE, SPIKE_AT = 4.0, 0.55  # of its neighbour's value, and where
MIRRORED = ("validation-gap-grows", "validation-rises-then-falls", "validation-drops-late")
BOUND = re.compile(
    r"acc|ppl|perplex|nll|xent|entropy|\bce\b|bpb|bpc|dice|iou|bce|kl|vq|elbo|auc|f1|map|prec|top", re.I
)


class Subject:
    """A log that holds one run, with the answer about it. Errors: Exempt where it holds several or none."""

    def __init__(self, raw: RawLog, name: str) -> None:
        if not raw.columns:
            raise Exempt("no columns")
        self.raw, self.name = raw, name
        runs = assembled(self.raw)
        if len(runs) != 1 or not runs[0].series:
            raise Exempt("several runs")
        self.run = runs[0]

    @cached_property
    def base(self) -> Answer:
        return answer(self.run)

    @property
    def axis(self) -> str | None:
        """The column that is the step axis."""
        raw = change.copy.deepcopy(self.raw)
        assemble(raw)
        return raw.axis

    @property
    def losses(self) -> list[str]:
        """Columns of losses, their parts included."""
        found = [o for n, o in self.run.originals.items() if n.endswith("loss") and o in self.raw.columns]
        if not found:
            raise Exempt("no column of losses")
        return found

    def random(self) -> np.random.Generator:
        return np.random.default_rng(list(hashlib.sha256(self.name.encode()).digest()[:8]))


def assembled(raw: RawLog) -> tuple[Run, ...]:
    return assemble(change.copy.deepcopy(raw))


def single(raw: RawLog) -> Run | None:
    """The run of a changed log; None where it became several or none."""
    runs = assembled(raw)
    return runs[0] if len(runs) == 1 and runs[0].series else None


def against(subject: Subject, raw: RawLog, *, strict: bool, scale: float = 1.0) -> list[str]:
    run = single(raw)
    if run is None:
        return ["runs"]
    return differences(subject.base, answer(run), strict=strict, scale=scale)


def same_in_formats(subject: Subject) -> dict[str, list[str]]:
    """Every format against the plain table: all must be the same."""
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        base: Answer | None = None
        for name, place, why in written(subject.run, Path(folder)):
            if place is None:
                found[name] = ["exempt: " + why]
                continue
            try:
                runs = [run for log in merge_groups(read_place(place)) for run in assemble(log)]
            except ReadError:
                runs = []
            if name == "CSV":
                base = answer(runs[0]) if len(runs) == 1 else None
            elif base is None:
                found[name] = ["exempt: the table itself is read as no run or as several"]
            else:
                one = len(runs) == 1
                found[name] = differences(base, answer(runs[0]), strict=True) if one else ["runs"]
    found.pop("CSV", None)
    return found


SNAKE = {
    "train/loss": "train_loss",
    "val/loss": "val_loss",
    "lr": "learning_rate",
    "grad_norm": "gradient_norm",
}
WORDS = {
    "train/loss": "Training Loss", "val/loss": "Validation Loss", "lr": "LR", "grad_norm": "grad norm",
    "train/accuracy": "Training Accuracy", "val/accuracy": "Validation Accuracy",
}  # fmt: skip
SLASHED = {"train/loss": "Loss/train", "val/loss": "Loss/validation", "lr": "lr", "grad_norm": "grad_norm"}
SHORT = {"train/loss": "trn_loss", "val/loss": "dev loss", "lr": "lrate", "grad_norm": "gnorm"}
AXES = {"step": "global_step", "steps": "step", "iter": "iteration", "iteration": "iter", "epoch": "Epoch"}


def synonym(signal: str, style: dict[str, str]) -> str | None:
    """Another name of a signal in one style; None where it has none."""
    if signal in style:
        return style[signal]
    split, _, metric = signal.partition("/")
    if split not in ("train", "val") or not re.fullmatch(r"[a-z]+[a-z0-9_]*", metric):
        return None
    if style is SNAKE:
        return f"{split}_{metric}"
    if style is WORDS:
        return f"{'Training' if split == 'train' else 'Validation'} {metric}"
    if style is SHORT:
        return f"{'tr' if split == 'train' else 'dev'} {metric}"
    return f"{metric}/{'train' if split == 'train' else 'validation'}"


def synonyms(subject: Subject, style: dict[str, str]) -> dict[str, str]:
    """New names for columns by what the log's reader took them for. Errors: Exempt where no loss is renamed."""
    names: dict[str, str] = {}
    for signal, original in subject.run.originals.items():
        other = synonym(signal, style)
        meant = original in subject.raw.columns and role_of(original).signal == signal
        if other and meant and original != other:  # a perplexity that stands in for the loss is none by name
            names[original] = other
    axis = subject.axis
    if axis is not None and axis.lower() in AXES:
        names[axis] = AXES[axis.lower()]
    losses = {o for n, o in subject.run.originals.items() if n in ("train/loss", "val/loss")}
    left = subject.raw.columns.keys() - names.keys()
    if not losses & names.keys() or left & set(names.values()) or len(set(names.values())) < len(names):
        raise Exempt("no loss to rename, or the other name is taken")
    return names


def renamed(style: dict[str, str]) -> Callable[[Subject], list[str]]:
    def relation(subject: Subject) -> list[str]:
        return against(subject, change.renamed(subject.raw, synonyms(subject, style)), strict=True)

    return relation


def scale_is_open(subject: Subject) -> None:
    """Errors: Exempt where a name says on what scale the loss is, or classes do."""
    setup = subject.run.setup
    names = [*subject.run.originals.values(), *subject.run.series]
    if any(BOUND.search(name) for name in names) or setup.known("classes") or subject.run.boosted:
        raise Exempt("its names say on what scale the loss is")
    if any(slug.startswith("loss-at-chance") for slug in subject.base.findings):
        raise Exempt("its values say on what scale the loss is")


def ten_times(subject: Subject) -> list[str]:
    scale_is_open(subject)
    return against(subject, change.with_values(subject.raw, subject.losses, lambda v: 10 * v), strict=True)


def plus_three(subject: Subject) -> list[str]:
    scale_is_open(subject)
    if subject.base.slug in ("loss-diverges", *MIRRORED):
        raise Exempt("how far it rose is a matter of its zero")
    values = [subject.raw.columns[name].values for name in subject.losses]
    if any(np.ptp(v[np.isfinite(v)]) < 1 for v in values if np.isfinite(v).any()):
        raise Exempt("3 is more than all that a loss moved")
    return against(subject, change.with_values(subject.raw, subject.losses, lambda v: v + 3), strict=False)


def as_epochs(subject: Subject) -> list[str]:
    axis = subject.axis
    if subject.run.axis != "step" or axis is None or any("epoch" in n.lower() for n in subject.raw.columns):
        raise Exempt("counts no steps by name, or epochs, too")
    raw = change.renamed(subject.raw, {axis: "epoch"})
    raw.axis_kind = "epoch"
    return against(subject, raw, strict=False)


def half_the_rows(subject: Subject) -> list[str]:
    if subject.run.points < LONG:
        raise Exempt(f"fewer than {LONG} rows")
    return against(subject, change.every_second(subject.raw, subject.axis), strict=False)


def last_tenth_cut(subject: Subject) -> list[str]:
    if subject.run.points < LONG // 2:
        raise Exempt(f"fewer than {LONG // 2} rows")
    late = (subject.run.first_step or 0.0) + 0.8 * subject.base.span
    if subject.base.onset is not None and subject.base.onset > late:
        raise Exempt("what is reported begins in the last fifth")
    if subject.base.health == "failed":
        raise Exempt("the end is what failed")
    return against(subject, change.beginning(subject.raw, CUT), strict=False)


def one_spike(subject: Subject) -> list[str]:
    original = subject.run.originals.get("train/loss")
    if original not in subject.raw.columns or len(subject.run.series["train/loss"]) < SPIKED:
        raise Exempt(f"fewer than {SPIKED} training losses")
    if subject.base.health != "healthy":
        raise Exempt("not healthy without it")

    def spiked(values: np.ndarray) -> np.ndarray:
        made = values.copy()
        at = int(SPIKE_AT * len(made))
        made[at] = made[at] + SPIKE * abs(made[at])
        return made

    run = single(change.with_values(subject.raw, [original], spiked))
    if run is None:
        return ["runs"]
    other = answer(run)
    return ["flip"] if flipped(subject.base, other) or other.health == "sick" else []


def has_steps(subject: Subject) -> None:
    """Errors: Exempt where rows below the log's own could not be known for a second run, or where its end counts."""
    if subject.axis is None and any(c.steps is None for c in subject.raw.columns.values()):
        raise Exempt("no steps")
    if subject.run.points < LONG // 2 or any(e.kind in ("resume", *ENDINGS) for e in subject.run.events):
        raise Exempt("short, resumed, or ended by an error")


def twice(subject: Subject) -> list[str]:
    has_steps(subject)
    runs = assembled(change.after(subject.raw, subject.raw))
    found = [differences(subject.base, answer(run), strict=True) for run in runs if run.series]
    return sorted({kind for kinds in found for kind in kinds}) or (["runs"] if len(runs) > 2 else [])


def two_runs(subject: Subject) -> list[str]:
    """A second run below the first, with its own noise: two runs, each with the answer of the first."""
    has_steps(subject)
    names = list(change.data_columns(subject.raw, subject.axis))
    second = change.jittered(subject.raw, names, subject.random(), 50)
    runs = assembled(change.after(subject.raw, second))
    if len(runs) != 2:
        return ["runs"]
    return sorted({k for run in runs for k in differences(subject.base, answer(run), strict=False)})


def constant_column(subject: Subject) -> list[str]:
    if "num_workers" in subject.raw.columns:
        raise Exempt("has that column")
    return against(subject, change.with_column(subject.raw, "num_workers", 4.0), strict=True)


def repeats(values: np.ndarray) -> bool:
    """Whether a third of the later values equals the value before, as of a frozen loss."""
    late = values[len(values) // 2 :]
    return len(late) > 2 and bool(np.mean(np.diff(late) == 0) > REPEATED)


def last_digit(subject: Subject) -> list[str]:
    signals = ("train/", "val/", "grad_norm")
    names = [
        o for n, o in subject.run.originals.items() if n.startswith(signals) and o in subject.raw.columns
    ]
    if any(repeats(subject.raw.columns[name].values) for name in names):
        raise Exempt("values that repeat: their last digit is what they say")
    raw = change.jittered(subject.raw, names, subject.random(), 100)
    return against(subject, raw, strict=True)


def mirrored(subject: Subject) -> list[str]:
    """Training and validation swapped: never overfitting on both sides, and no illness where the run was healthy and
    nothing was said of its generalization."""
    pairs: dict[str, str] = {}
    for signal, original in subject.run.originals.items():
        if signal.startswith("train/") and original in subject.raw.columns:
            other = subject.run.originals.get("val/" + signal.removeprefix("train/"))
            if other in subject.raw.columns:
                pairs |= {original: other, other: original}
    if subject.run.originals.get("train/loss") not in pairs:
        raise Exempt("no loss of both splits")
    raw = change.copy.deepcopy(subject.raw)
    raw.columns = {name: subject.raw.columns[pairs.get(name, name)] for name in subject.raw.columns}
    run = single(raw)
    if run is None:
        return ["runs"]
    mirror = answer(run)
    if subject.base.slug in MIRRORED and mirror.slug in MIRRORED:
        return ["overfits on both sides"]
    if subject.base.findings:
        return []
    return ["flip"] if flipped(subject.base, mirror) else []


class Relation(NamedTuple):
    name: str
    check: Callable[[Subject], list[str]]
    promise: str


RELATIONS: Sequence[Relation] = (
    Relation("renamed, snake case", renamed(SNAKE), "health, cause, onset"),
    Relation("renamed, words", renamed(WORDS), "health, cause, onset"),
    Relation("renamed, with slashes", renamed(SLASHED), "health, cause, onset"),
    Relation("renamed, shortened", renamed(SHORT), "health, cause, onset"),
    Relation("loss x 10", ten_times, "health, cause, onset"),
    Relation("loss + 3", plus_three, "no flip, no other sure cause"),
    Relation("steps as epochs", as_epochs, "no flip, no other sure cause"),
    Relation("half of the rows", half_the_rows, "no flip, no other sure cause"),
    Relation("last tenth cut", last_tenth_cut, "no flip, no other sure cause"),
    Relation("one spike added", one_spike, "a healthy run does not become sick"),
    Relation("rows appended twice", twice, "health, cause, onset, at most two runs"),
    Relation("constant column added", constant_column, "health, cause, onset"),
    Relation("noise in the last digit", last_digit, "health, cause, onset"),
    Relation(
        "splits swapped", mirrored, "no overfitting on both sides; healthy without findings is not sick"
    ),
    Relation("two runs in one file", two_runs, "two runs, no flip, no other sure cause"),
)
