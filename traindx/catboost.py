"""`traindx.catboost.Watch`: a callback that records what every iteration evaluates.

watch = traindx.catboost.Watch(out="runs/exp1")
model.fit(x, y, eval_set=(held, wanted), callbacks=[watch])
print(watch.diagnose().to_text())
"""

from pathlib import Path
from typing import Any

from traindx.capture.rounds.backend import evaluated_by_catboost
from traindx.config import Config
from traindx.live.rounds import RoundsWatch


class Watch(RoundsWatch):
    """Records every `fit` to which it is passed. `out`: the record's folder (None: a temporary one);
    `settings`: those of the model, as facts (`learning_rate`, `depth` ...). Every
    `check_every` rounds the record is judged and what is found is printed on stderr; `stop`: end the training when
    continuing is useless. `diagnose()` is the diagnosis so far."""

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 100, stop: bool = False,
        config: Config | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__("catboost", out, check_every, stop, config, settings)

    def after_iteration(self, info: Any) -> bool:
        """Called by CatBoost; False ends the training."""
        return not self.add(info.iteration - 1, evaluated_by_catboost(info))
