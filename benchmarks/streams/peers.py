"""Alarm rules of other tools, written again from their documentation.

Each is asked after each new point and answers whether it alarms now. `values` is the loss so far, or a score with its
sign turned: lower is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from traindx.vocabulary.run import Floats


def zscore(values: Floats) -> bool:
    """W&B automations' documented example: three standard deviations from the mean of the last 30."""
    window = values[-31:-1]
    return len(window) == 30 and abs(values[-1] - window.mean()) > 3 * window.std() > 0


def half_means(values: Floats) -> bool:
    """The rule of W&B's `diagnose_run`: the second half is at least 5 % above the first."""
    half = len(values) // 2
    return half >= 2 and values[half:].mean() > 1.05 * values[:half].mean() > 0


def early_stopping(values: Floats) -> bool:
    """Keras EarlyStopping(patience=10) on the loss: no new best in ten points."""
    return len(values) > 10 and values[-10:].min() >= values[:-10].min()


def spike(values: Floats) -> bool:
    """Trackio's example of an alert: a loss above 1.5 times the one before."""
    return len(values) > 1 and values[-1] > 1.5 * values[-2] > 0


def not_decreasing(values: Floats) -> bool:
    """SageMaker Debugger's LossNotDecreasing: less than 0.1 % of decrease over 10 points."""
    return len(values) > 10 and values[-1] > 0.999 * values[-11] > 0


PEERS: Mapping[str, Callable[[Floats], bool]] = {
    "z-score of 30": zscore,
    "half means": half_means,
    "EarlyStopping(10)": early_stopping,
    "TerminateOnNaN": lambda values: not np.isfinite(values[-1]),
    "loss > 1.5 x the last": spike,
    "LossNotDecreasing": not_decreasing,
}
