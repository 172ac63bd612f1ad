"""`traindx.lightning.Watch`: a callback that records `Trainer.fit`, writes findings to the
trainer's own log, and stops on request.

trainer = lightning.Trainer(callbacks=[traindx.lightning.Watch(out="runs/exp1", stop=True)])
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightning.pytorch import Callback
from lightning.pytorch.utilities import rank_zero_info

from traindx.capture.watch import new_findings, why_stop
from traindx.pipeline import Diagnosis, watch

if TYPE_CHECKING:
    from traindx.capture.watch import Watch as Recording


class Watch(Callback):  # type: ignore[misc]  # Lightning's types are not relied on
    """Records every `fit`. `check_every`: steps between two diagnoses of the record; each new finding is
    printed once, and logged as `traindx/<finding>` by the trainer's loggers. `stop`: end the fit when a
    diagnosis says that continuing is useless. The checkpoint holds what was printed, so a resumed run does
    not repeat it. `options` are those of `Session`."""

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 500, stop: bool = False, **options: Any
    ) -> None:
        self._out, self._check_every, self._stop, self._options = out, check_every, stop, options
        self._recording: Recording[Diagnosis] | None = None
        self._trainer: Any = None
        self._known: set[str] = set()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._trainer = trainer
        self._recording = watch(
            pl_module, trainer.optimizers, out=self._out, on_finding=self._found, check_every=self._check_every,
            **self._options,
        )  # fmt: skip
        self._recording.__enter__()

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        if self._recording is not None:
            self._recording.log(loss=loss)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if self._recording is not None and not trainer.sanity_checking:
            held_out = {n: v for n, v in trainer.callback_metrics.items() if n.startswith(("val_", "val/"))}
            self._recording.log(**held_out)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end(exception)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self._end(None)

    def state_dict(self) -> dict[str, Any]:
        return {"reported": sorted(self._known)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._known = set(state_dict.get("reported", ()))

    def _end(self, error: BaseException | None) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.__exit__(None if error is None else type(error), error, None)

    def _found(self, diagnosis: Diagnosis) -> None:
        run, trainer = diagnosis.document.runs[0], self._trainer
        for slug, sentence in new_findings(run, self._known):
            rank_zero_info(f"traindx: {sentence}")
            for logger in trainer.loggers:
                logger.log_metrics({f"traindx/{slug}": 1.0}, step=trainer.global_step)
            self._known.add(slug)
        if self._stop and (why := why_stop(run)):
            rank_zero_info(f"traindx: {why}")
            trainer.should_stop = True
