"""`traindx.lightgbm.Watch`: a callback that records the evaluation of every round.

watch = traindx.lightgbm.Watch(out="runs/exp1") lightgbm.train(params, data, 500, valid_sets=[data,
held_out], valid_names=["train", "val"], callbacks=[watch]) print(watch.diagnose().to_text())

Also `LGBMClassifier().fit(x, y, eval_set=[(x, y), (held, wanted)], callbacks=[watch])`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.rounds.backend import evaluated_by_lightgbm
from traindx.capture.rounds.callback import Record

if TYPE_CHECKING:
    from traindx.config import Config
    from traindx.pipeline import Diagnosis


class Watch:
    """Records every training to which it is passed. `out`: the record's folder (None: a temporary one);
    `settings`: those of the model, as facts, in addition to those that LightGBM reports."""

    order = 5  # before early stopping, which raises

    def __init__(
        self, out: str | Path | None = None, *, config: Config | None = None, **settings: Any
    ) -> None:
        self.record, self._config = Record("lightgbm", out, settings), config

    def __call__(self, environment: Any) -> None:
        """Called by LightGBM after each round."""
        self.record.given = {**(environment.params or {}), **self.record.given}
        self.record.add(
            environment.iteration - environment.begin_iteration, evaluated_by_lightgbm(environment)
        )

    def diagnose(self) -> Diagnosis:
        """The diagnosis of the record so far. Raises ReadError before the first round."""
        from traindx.pipeline import diagnose, read

        return diagnose(read(self.record.folder), self._config)
