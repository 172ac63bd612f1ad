"""`traindx.hf.Watch`: a callback for `transformers.Trainer` (and trainers built on it, such as TRL's) that
records a training, writes findings to the trainer's own log, and stops on request.

trainer = transformers.Trainer(model, args, callbacks=[traindx.hf.Watch(out="runs/exp1", stop=True)])
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from traindx.live.checks import Checks, sentence_of, watch_with

if TYPE_CHECKING:
    from traindx.capture.watch import Watch as Recording
    from traindx.pipeline import Diagnosis


class Watch(TrainerCallback, ExportableState):  # type: ignore[misc]  # transformers' types are not relied on
    """Records every `train`. `check_every`: steps between two checks of the record. A finding is printed
    once, when it has lasted, and is in the trainer's `log_history`. `stop`: end the training when continuing
    is useless. The trainer's state holds what was reported, so a resumed run does not repeat
    it. `options` are those of `Session`."""

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 500, stop: bool = False, **options: Any
    ) -> None:
        self.out, self.check_every, self.stop, self.options = out, check_every, stop, options
        self.episodes: dict[str, Any] = {}  # as the trainer restored them
        self._checks = Checks()
        self._recording: Recording[Diagnosis] | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        optimizer = getattr(
            given["optimizer"], "optimizer", given["optimizer"]
        )  # not Accelerate's around it
        if self.episodes:
            self._checks.resume(self.episodes)
        self._recording = watch_with(
            self._checks,
            given["model"],
            optimizer,
            out=self.out,
            check_every=self.check_every,
            **self.options,
        )
        self._recording.__enter__()

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **given: Any
    ) -> None:
        """The loss is the mean since the last log, as the trainer logs it."""
        if self._recording is not None and logs is not None and "loss" in logs:
            self._recording.session.metric("loss", float(logs["loss"]))

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: dict[str, float] | None = None, **given: Any
    ) -> None:
        if self._recording is not None:
            held_out = {
                n.removeprefix("eval_"): v for n, v in (metrics or {}).items() if n.startswith("eval_")
            }
            timing = ("runtime", "samples_per_second", "steps_per_second")
            self._recording.log(**{f"val_{n}": v for n, v in held_out.items() if n not in timing})

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        for event in self._checks.take():
            sentence = sentence_of(event)
            print(f"traindx: {sentence}", flush=True)
            if event.finding is not None:
                state.log_history.append(
                    {"step": state.global_step, f"traindx/{event.finding.slug}": sentence}
                )
        if self.stop and self._recording is not None and self._recording.why_stop:
            print(f"traindx: {self._recording.why_stop}", flush=True)
            control.should_training_stop = True
        return control

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.__exit__(None, None, None)

    def state(self) -> dict[str, Any]:
        """The state that `Trainer` saves with its own, and restores when it resumes."""
        args = {
            "out": None if self.out is None else str(self.out),
            "check_every": self.check_every,
            "stop": self.stop,
        }
        return {"args": {**args, **self.options}, "attributes": {"episodes": self._checks.state()}}
