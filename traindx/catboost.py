"""`traindx.catboost.Watch`: a callback that records what every iteration evaluates.

watch = traindx.catboost.Watch(out="runs/exp1")
model.fit(x, y, eval_set=(held, wanted), callbacks=[watch])
print(watch.diagnose().to_text())
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.rounds.backend import evaluated_by_catboost
from traindx.capture.rounds.callback import Record

if TYPE_CHECKING:
    from traindx.config import Config
    from traindx.pipeline import Diagnosis


class Watch:
    """Records every `fit` to which it is passed. `out`: the record's folder (None: a temporary one);
    `settings`: those of the model, as facts (`learning_rate`, `depth` ...)."""

    def __init__(
        self, out: str | Path | None = None, *, config: Config | None = None, **settings: Any
    ) -> None:
        self.record, self._config = Record("catboost", out, settings), config

    def after_iteration(self, info: Any) -> bool:
        """Called by CatBoost; never ends the training."""
        self.record.add(info.iteration - 1, evaluated_by_catboost(info))
        return True

    def diagnose(self) -> Diagnosis:
        """The diagnosis of the record so far. Raises ReadError before the first round."""
        from traindx.pipeline import diagnose, read

        return diagnose(read(self.record.folder), self._config)
