"""What a run shows about its optimizer: family, peak learning rate, number of updates."""

import numpy as np

from traindx.features.curves.progress import searches_within_steps
from traindx.vocabulary import Run

ADAPTIVE = (
    "adam", "lamb", "adagrad", "adadelta", "rmsprop", "adafactor", "lion", "radam", "novograd", "shampoo",
)  # fmt: skip

# By how much the usual rate of these is larger than Adam's, at the defaults of PyTorch and of their papers.
LARGER = {"adadelta": 500.0, "shampoo": 100.0, "adagrad": 10.0, "adafactor": 5.0, "lion": 0.2}


def optimizer_family(run: Run) -> str:
    """ "adaptive", "sgd", or "" when it is another or unknown."""
    name = run.setup.word("optimizer")
    if any(w in name for w in ADAPTIVE):
        return "adaptive"
    return "sgd" if "sgd" in name or "momentum" in name else ""


def peak_rate(run: Run) -> float | None:
    """The highest learning rate: from the log where it has one, otherwise from the setup."""
    logged = run.series.get("lr")
    if logged is not None:
        finite = logged.values[np.isfinite(logged.values)]
        if len(finite):
            return float(finite.max())
    return run.setup.number("lr")


def comparable_rate(run: Run) -> float | None:
    """The highest learning rate; for an adaptive optimizer, the rate of Adam that is as large for it."""
    rate, name = peak_rate(run), run.setup.word("optimizer")
    larger = next((times for kind, times in LARGER.items() if kind in name), 1.0)
    return None if rate is None else rate / larger


def updates(run: Run) -> float | None:
    """Optimizer steps of the run: from its step axis, or from epochs, samples and batch size."""
    first, last = run.first_step, run.last_step
    if first is None or last is None or searches_within_steps(run):
        return None
    if run.axis in ("step", "iteration", "iter", "global_step", "update"):
        return (
            last if 0 <= first < 2 else None
        )  # a log that begins later does not show how many steps came before
    batch, samples = run.setup.number("batch_size"), run.setup.number("dataset_size")
    if run.axis != "epoch" or not batch or not samples:
        return None
    return (last - first + 1) * max(1.0, samples / (batch * (run.setup.number("accumulation") or 1.0)))
