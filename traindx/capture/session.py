"""One recorded training: what a launcher or a loop tells it, and what is measured of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.guard import guarded, say
from traindx.vocabulary.run import EventKind
from traindx.vocabulary.setup import Fact

if TYPE_CHECKING:
    import torch

BUDGET = 64 << 20  # bytes of a run on disk


class Session:
    """Measures a training whose parts are told to it, and writes the native store to `out`.

    No method raises, draws a random number, keeps a graph alive or changes an order of
    operations. A failure inside is said once on stderr and as an event; the session then lets go
    of everything (`active` is False) and the training goes on.

    `every`: measure modules on every n-th step; None adapts to the cost. `budget`: bytes on disk.
    `curvature`: also Hessian eigenvalues on sampled batches. `rank`: place among the processes of
    a distributed run. `out=None` keeps the store in a temporary folder (`folder`).
    """

    active: bool = True

    def __init__(
        self,
        out: Path | None,
        *,
        every: int | None = None,
        budget: int = BUDGET,
        curvature: bool = False,
        rank: int = 0,
    ) -> None:
        self.folder = out
        self.step = 0  # optimizer steps done

    # What is trained.
    @guarded
    def add_model(self, model: torch.nn.Module, name: str = "") -> None:
        """A root module; told again it is ignored. `name` is put before its modules' names."""

    @guarded
    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer; told again it is ignored. The first that steps counts the steps."""

    @guarded
    def add_scaler(self, scaler: Any) -> None:
        """A GradScaler: its scale is recorded with each step."""

    # What happens in a step, in the order of the loop. All are optional.
    @guarded
    def data_wait(self, seconds: float) -> None:
        """Time that the loop waited for a batch (summed over the micro-batches of a step)."""

    @guarded
    def batch(self, inputs: Any, targets: Any = None, *, training: bool | None = None) -> None:
        """The tensors (or nested lists, tuples and dicts of them) of a batch that passes by.
        `training`: None takes whether gradients are enabled. May be told in two parts
        (inputs when the model is called, `batch(None, targets)` when the loss is)."""

    @guarded
    def loss(self, value: torch.Tensor | float, *, where: str = "") -> None:
        """The training loss of the current micro-batch (any tensor with one element). Several a
        step with the same `where` are averaged; another `where` (file:line) is another loss."""

    @guarded
    def backward_begin(self) -> None: ...

    @guarded
    def backward_end(self) -> None: ...

    @guarded
    def clip(self, norm: torch.Tensor | float, threshold: float) -> None:
        """Gradients were clipped: `norm` is the global norm before, `threshold` the one allowed."""

    @guarded
    def optimizer_step_begin(self, optimizer: torch.optim.Optimizer) -> None: ...

    @guarded
    def optimizer_step_end(self, optimizer: torch.optim.Optimizer) -> None: ...

    @guarded
    def zero_grad(self, optimizer: torch.optim.Optimizer | torch.nn.Module) -> None: ...

    # What is known besides.
    @guarded
    def validation(self, name: str, value: torch.Tensor | float) -> None:
        """A value on held-out data: recorded as `val/<name>` at the current step."""

    @guarded
    def metric(self, name: str, value: torch.Tensor | float) -> None:
        """A value on training data: recorded as `train/<name>`, or as it is when it has a `/` or
        is a canonical signal."""

    @guarded
    def fact(self, name: str, value: Fact, origin: str = "capture") -> None:
        """A setup fact; the last value of a name counts."""

    @guarded
    def event(self, kind: EventKind, message: str, code: str = "") -> None:
        """Something that happened, at the current step. A `crash`, `out-of-memory` or `stopped`
        event also writes the flight recorder; the event `note` with code `ended` is written by
        `close`, unless one of those three came."""

    @guarded
    def flush(self) -> None:
        """Write what was measured so far (an unflushed tail is lost by kill -9)."""

    def close(self) -> None:
        """Let go of the model and the optimizers, write everything, close the files. Idempotent."""

    def failed(self, where: str, error: Exception) -> None:
        """A hook raised: say so once and let go."""
        self.active = False
        say(f"capture stopped: {where} failed ({type(error).__name__}: {error}); the training goes on")
