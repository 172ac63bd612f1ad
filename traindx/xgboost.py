"""`traindx.xgboost.Watch`: a callback that records the evaluation of every round.

watch = traindx.xgboost.Watch(out="runs/exp1")
xgboost.train(params, data, 500, evals=[(data, "train"), (held_out, "val")], callbacks=[watch])
print(watch.diagnose().to_text())

Also `XGBClassifier(..., callbacks=[watch]).fit(x, y, eval_set=[(x, y), (held, wanted)])`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xgboost.callback import TrainingCallback

from traindx.capture.rounds.backend import evaluated_by_xgboost
from traindx.capture.rounds.callback import Record

if TYPE_CHECKING:
    from traindx.config import Config
    from traindx.pipeline import Diagnosis


class Watch(TrainingCallback):  # type: ignore[misc]
    """Records every training to which it is passed. `out`: the record's folder (None: a temporary one);
    `settings`: those of the model, as facts (`learning_rate`, `max_depth` ...)."""

    def __init__(
        self, out: str | Path | None = None, *, config: Config | None = None, **settings: Any
    ) -> None:
        self.record, self._config = Record("xgboost", out, settings), config

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Called by XGBoost; never ends the training."""
        self.record.add(epoch, evaluated_by_xgboost(evals_log))
        return False

    def diagnose(self) -> Diagnosis:
        """The diagnosis of the record so far. Raises ReadError before the first round."""
        from traindx.pipeline import diagnose, read

        return diagnose(read(self.record.folder), self._config)
