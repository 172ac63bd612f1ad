"""Signals of the outputs that a model gives for sampled training batches, and in evaluation passes."""

from __future__ import annotations

import math
import time
from typing import Any

import torch

from traindx.capture.arrays.batch import Data
from traindx.capture.torch.measure.batches.outputs import class_counts, rows_of, sample_spread
from traindx.capture.torch.measure.batches.targets import Matched
from traindx.capture.torch.measure.tensors.views import first_tensor, without_waiting

APART = 8  # steps between outputs that are measured
START_SECONDS, SHARE = (
    0.05,
    0.003,
)  # time for the outputs of evaluation passes: at the start, and of the run's


class Answers:
    """`data` knows whether outputs are classes, and whether they are probabilities."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._step = -APART // 2  # the first outputs, of a model at its start, are left out
        self.matched = Matched()
        self._counts: torch.Tensor | None = None  # by class, of the evaluation pass
        self._since, self._spent = time.perf_counter(), 0.0

    def due(self, step: int) -> bool:
        return step - self._step >= APART

    def read(self, output: torch.Tensor, step: int) -> dict[str, Any]:
        """Signals of the input of a sampled training loss: how far samples differ, and the most frequent
        class."""
        self._step = step
        self.matched.record_output(output)
        rows = rows_of(output)
        if rows is None:
            return {}
        spread = sample_spread(rows)
        if rows.is_cpu and spread != spread:
            return {}  # not finite: other signals show that
        out: dict[str, Any] = {"outputs_sample_spread": spread}
        if self._data.classified(rows.shape[1]):
            counts = class_counts(rows, self._data.probabilities)
            out["outputs_majority_share"] = counts.max() / len(rows)
        return {n: float(v) if rows.is_cpu else v for n, v in out.items()}

    def against_targets(self) -> dict[str, Any]:
        """Signals of the outputs and targets of the step that is about to be made."""
        with torch.no_grad():
            found = self.matched.take(self._data.probabilities)
            return {n: without_waiting(v.detach()) for n, v in found.items() if not v.is_cpu or v.isfinite()}

    def read_evaluation(self, output: Any) -> bool:
        """The outputs of an evaluation pass, while that takes little time; whether they were counted."""
        began = time.perf_counter()
        found = first_tensor(output)
        if found is None or self._spent > START_SECONDS + SHARE * (began - self._since):
            return False
        rows = rows_of(found)
        finite = rows is not None and (not rows.is_cpu or math.isfinite(float(rows.sum())))
        counted = rows is not None and finite and self._data.classified(rows.shape[1])
        if rows is not None and counted:
            counts = class_counts(rows, self._data.probabilities)
            same = self._counts is not None and self._counts.shape == counts.shape
            self._counts = self._counts + counts if same else counts
        self._spent += time.perf_counter() - began
        return bool(counted)

    def of_evaluation(self) -> dict[str, Any]:
        """The share of the most frequent class in the evaluation pass before; nothing where there was
        none."""
        counts, self._counts = self._counts, None
        return (
            {}
            if counts is None
            else {"val_outputs_majority_share": without_waiting(counts.max() / counts.sum())}
        )
