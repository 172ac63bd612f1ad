"""What the set-up says, read with care: facts come from logs and from users and may be of any type."""

from __future__ import annotations

import math

import numpy as np

from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import FACT_FIELDS, Setup

YES, NO = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
ADAPTIVE = ("adam", "lamb", "adagrad", "adadelta", "rmsprop", "adafactor", "lion", "radam", "novograd", "shampoo")


def raw(setup: Setup, name: str) -> object:
    """A fact by name, whether it is a field of its own or a free one."""
    return getattr(setup, name) if name in FACT_FIELDS else setup.facts.get(name)


def number(setup: Setup, name: str) -> float | None:
    """A fact as a finite number; None where it is missing or is none."""
    value = raw(setup, name)
    if value is None or isinstance(value, bool):
        return None
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return result if math.isfinite(result) else None


def word(setup: Setup, name: str) -> str:
    """A fact as a lower-case word; "" where it is missing."""
    value = raw(setup, name)
    return "" if value is None else str(value).strip().lower()


def flag(setup: Setup, name: str) -> bool | None:
    """A fact as yes or no; None where it is missing or neither."""
    told = word(setup, name)
    return True if told in YES else False if told in NO else None


def optimizer_family(run: Run) -> str:
    """One of "adaptive", "sgd", and "" when it is another or not known."""
    name = word(run.setup, "optimizer")
    if any(w in name for w in ADAPTIVE):
        return "adaptive"
    return "sgd" if "sgd" in name or "momentum" in name else ""


def peak_rate(run: Run) -> float | None:
    """The highest learning rate: of the log where it has one, else the one asked for."""
    logged = run.series.get("lr")
    if logged is not None:
        finite = logged.values[np.isfinite(logged.values)]
        if len(finite):
            return float(finite.max())
    return number(run.setup, "lr")


def updates(run: Run) -> float | None:
    """Optimizer steps the run made, from its step axis, or from epochs, samples and batch size."""
    first, last = run.first_step, run.last_step
    if first is None or last is None:
        return None
    if run.axis in ("step", "iteration", "iter", "global_step", "update"):
        return last - min(first, 0.0) if first < 2 else None
    batch, samples = number(run.setup, "batch_size"), number(run.setup, "dataset_size")
    if run.axis != "epoch" or not batch or not samples:
        return None
    return (last - first + 1) * max(1.0, samples / (batch * (number(run.setup, "accumulation") or 1.0)))
