"""`traindx.xgboost.Watch`: a callback that records the evaluation of every round.

watch = traindx.xgboost.Watch(out="runs/exp1")
xgboost.train(params, data, 500, evals=[(data, "train"), (held_out, "val")], callbacks=[watch])
print(watch.diagnose().to_text())

Also `XGBClassifier(..., callbacks=[watch]).fit(x, y, eval_set=[(x, y), (held, wanted)])`.
"""

from pathlib import Path
from typing import Any

from xgboost.callback import TrainingCallback

from traindx.capture.rounds.backend import evaluated_by_xgboost
from traindx.config import Config
from traindx.live.rounds import RoundsWatch


class Watch(RoundsWatch, TrainingCallback):  # type: ignore[misc]
    """Records every training to which it is passed. `out`: the record's folder (None: a temporary one);
    `settings`: those of the model, as facts (`learning_rate`, `max_depth` ...). Every
    `check_every` rounds the record is judged and what is found is printed on stderr; `stop`: end the training when
    continuing is useless. `diagnose()` is the diagnosis so far."""

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 100, stop: bool = False,
        config: Config | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__("xgboost", out, check_every, stop, config, settings)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Called by XGBoost; True ends the training."""
        return self.add(epoch, evaluated_by_xgboost(evals_log))
