"""`traindx.lightgbm.Watch`: a callback that records the evaluation of every round.

watch = traindx.lightgbm.Watch(out="runs/exp1") lightgbm.train(params, data, 500, valid_sets=[data,
held_out], valid_names=["train", "val"], callbacks=[watch]) print(watch.diagnose().to_text())

Also `LGBMClassifier().fit(x, y, eval_set=[(x, y), (held, wanted)], callbacks=[watch])`.
"""

from pathlib import Path
from typing import Any

from lightgbm.callback import EarlyStopException

from traindx.capture.rounds.backend import evaluated_by_lightgbm
from traindx.config import Config
from traindx.live.rounds import RoundsWatch


class Watch(RoundsWatch):
    """Records every training to which it is passed. `out`: the record's folder (None: a temporary one);
    `settings`: those of the model, as facts, in addition to those that LightGBM reports. Every
    `check_every` rounds the record is judged and what is found is printed on stderr; `stop`: end the training when
    continuing is useless. `diagnose()` is the diagnosis so far."""

    order = 5  # before early stopping, which raises

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 100, stop: bool = False,
        config: Config | None = None, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__("lightgbm", out, check_every, stop, config, settings)

    def __call__(self, environment: Any) -> None:
        """Called by LightGBM after each round. Raises EarlyStopException to end the training."""
        self.record.given = {**(environment.params or {}), **self.record.given}
        done = environment.iteration - environment.begin_iteration
        if self.add(done, evaluated_by_lightgbm(environment)):
            raise EarlyStopException(environment.iteration, environment.evaluation_result_list)
