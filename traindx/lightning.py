"""`traindx.lightning.Watch`: a callback that records `Trainer.fit`, writes findings to the
trainer's own log, and stops on request.

trainer = lightning.Trainer(callbacks=[traindx.lightning.Watch(out="runs/exp1", stop=True)])
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightning.pytorch import Callback
from lightning.pytorch.utilities import rank_zero_info

from traindx.live.checks import Checks, sentence_of, watch_with

if TYPE_CHECKING:
    from traindx.capture.watch import Watch as Recording
    from traindx.pipeline import Diagnosis


class Watch(Callback):  # type: ignore[misc]  # Lightning's types are not relied on
    """Records every `fit`. `check_every`: steps between two checks of the record. A finding is printed
    once, when it has lasted, and logged by the trainer's loggers: `traindx/<finding>` is 1, and 0 once it is
    resolved. `stop`: end the fit when continuing is useless. The checkpoint holds what was reported, so a
    resumed run does not repeat it. `options` are those of `Session`."""

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 500, stop: bool = False, **options: Any
    ) -> None:
        self._out, self._check_every, self._stop, self._options = out, check_every, stop, options
        self._recording: Recording[Diagnosis] | None = None
        self._checks = Checks()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._recording = watch_with(
            self._checks, pl_module, trainer.optimizers, out=self._out, check_every=self._check_every,
            **self._options,
        )  # fmt: skip
        self._recording.__enter__()

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        if self._recording is not None:
            self._recording.log(loss=loss)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        for event in self._checks.take():
            rank_zero_info(f"traindx: {sentence_of(event)}")
            if event.finding is not None:
                found = {f"traindx/{event.finding.slug}": 0.0 if event.kind == "resolved" else 1.0}
                for logger in trainer.loggers:
                    logger.log_metrics(found, step=trainer.global_step)
        why = self._recording.why_stop if self._stop and self._recording is not None else ""
        if why and not trainer.should_stop:
            rank_zero_info(f"traindx: {why}")
            trainer.should_stop = True

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if self._recording is not None and not trainer.sanity_checking:
            held_out = {n: v for n, v in trainer.callback_metrics.items() if n.startswith(("val_", "val/"))}
            self._recording.log(**held_out)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end(exception)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self._end(None)

    def state_dict(self) -> dict[str, Any]:
        return {"episodes": self._checks.state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if "episodes" in state_dict:  # not in checkpoints of traindx 0.1
            self._checks.resume(state_dict["episodes"])

    def _end(self, error: BaseException | None) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.__exit__(None if error is None else type(error), error, None)
