"""How the loop is written: how batches, backward passes and steps relate."""

from collections import Counter
from operator import itemgetter

from traindx.vocabulary import Fact


class Habits:
    """How the loop is written: backward passes a step, zeroed gradients, modes."""

    def __init__(self) -> None:
        self.backwards, self.steps = 0, 0  # since the last step; optimizer steps
        self.total_backwards, self.seen_steps = 0, 0  # steps whose backward passes were reported
        self.missing_zero, self.checked_zero = 0, 0
        self.zeroed, self.wasted = False, 0  # since the last backward pass; steps made after that
        self.eval_steps, self.forwards = 0, 0  # of the backward passes, or of all passes with gradients
        self._training: bool | None = None  # mode of the last pass with gradients
        self.held_out, self.held_out_training = 0, 0
        self._samples = 0  # of the backward passes since the last step
        self.inside_step = False  # an optimizer is at work, which may call for the loss again (L-BFGS)
        self._last, self._together = 0, 0  # call since the last backward pass; samples of all such calls
        self._shared = False  # whether one backward pass ever used several calls
        self._sizes: Counter[float] = Counter()  # of the steps

    @property
    def batch_size(self) -> float:
        """That of most steps, so that no picture drawn in between counts, or else the largest: batches by the number
        of tokens have any size."""
        (size, count) = max(self._sizes.items(), key=itemgetter(1), default=(0.0, 0))
        return float(size if 2 * count > self._sizes.total() else max(self._sizes, default=0.0))

    def batch(self, samples: int, alone: bool = False) -> None:
        """A call with gradients enabled. Calls before one backward pass share their samples, as the positions
        of a sequence do; the last of them counts, because validation and generation come before. Calls with
        a backward pass each are micro-batches. `alone`: a step takes only one."""
        self._last, self._together = samples, samples + (0 if alone else self._together)

    def correct(self, samples: int) -> None:
        """The last call had so many samples, as was found out during the call."""
        self._last, self._together = samples, self._together - self._last + samples

    @property
    def samples(self) -> int:
        """What has gone into the coming step so far. Without reports of backward passes, each call is one,
        unless several were seen to share a pass."""
        if self.backwards:
            return self._samples
        return self._last if self._shared else self._together

    def backward(self, stale: bool | None) -> None:
        """A backward pass begins; `stale`: the first one since a step finds gradients there."""
        if stale is not None and self.steps and not self.backwards:
            self.checked_zero += 1
            self.missing_zero += stale
        if self._training is not None:
            # What was called in eval mode with gradients enabled is an evaluation, unless it is differentiated.
            first = not self.total_backwards
            self.forwards, self.eval_steps = (0, 0) if first else (self.forwards, self.eval_steps)
            self.forwards += 1
            self.eval_steps += not self._training
        again = self.inside_step and self.backwards > 0  # of the same batch, at other weights
        self._shared = self._shared or self._together > self._last
        if self.zeroed:  # what the gradients held, as those of an epoch's last batches, goes into no step
            self._samples = 0
        self._samples += 0 if again else self._last
        self._last = self._together = 0
        self.zeroed = False
        if again:
            return
        self.backwards += 1
        self.total_backwards += 1

    def abandon(self) -> None:
        """The step is not made."""
        self._samples = self._last = self._together = self.backwards = 0

    def step(self) -> float:
        """An optimizer step is over; returns the samples that went into it (0: not known)."""
        self.steps += 1
        self.seen_steps += self.backwards > 0
        self.wasted += self.zeroed
        samples = self.samples
        self.abandon()
        if samples:
            self._sizes[samples] += 1
        return samples

    def forward(self, grad: bool, training: bool, has_modes: bool) -> None:
        """A pass of the whole model; `has_modes`: it has modules that differ between train and eval mode."""
        if grad:
            self._training = training
            if not self.total_backwards:
                self.forwards += 1
                self.eval_steps += not training
        elif has_modes:
            self.held_out += 1
            self.held_out_training += training

    def facts(self) -> dict[str, Fact]:
        out: dict[str, Fact] = {}
        if self.steps:
            out["optimizer_steps"] = self.steps
            if self.seen_steps:
                out["backwards_per_step"] = round(self.total_backwards / self.seen_steps, 3)
        if self.wasted:
            out["steps_after_zeroing"] = self.wasted
        if self.total_backwards and not self.steps:
            out["backwards_without_step"] = self.total_backwards
        if self.checked_zero:
            out |= {
                "zero_grad_missing_steps": self.missing_zero,
                "zero_grad_checked_steps": self.checked_zero,
            }
        if self.forwards:
            out |= {
                "model_training_mode_during_backward": self.eval_steps * 2 < self.forwards,
                "steps_in_eval_mode_share": self.eval_steps / self.forwards,
            }
        if self.held_out:
            out["validation_in_train_mode_share"] = self.held_out_training / self.held_out
        if self.batch_size:
            out["batch_size"] = self.batch_size
        return out
