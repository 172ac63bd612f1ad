"""What others hang into the same loop: wandb.watch, and histograms for TensorBoard, of all parameters and gradients.

wandb is told to stay offline; what its own process does beside the training is not counted.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.overhead.models import Case

Log = Callable[[Any], None]
Peer = Callable[[Case, Path], AbstractContextManager[Log]]


@contextlib.contextmanager
def wandb_watch(case: Case, folder: Path, *, every: int) -> Iterator[Log]:
    """Histograms of parameters and gradients and the loss, each `every` steps."""
    os.environ.update(WANDB_SILENT="true", WANDB_MODE="offline", WANDB_DIR=str(folder))
    import wandb

    run = wandb.init(mode="offline", dir=str(folder), project="overhead")
    run.watch(case.model, log="all", log_freq=every)
    steps = [0]

    def log(loss: Any) -> None:
        steps[0] += 1
        if steps[0] % every == 0:
            run.log({"loss": loss.item()})

    try:
        yield log
    finally:
        run.unwatch(case.model)
        run.finish()


@contextlib.contextmanager
def tensorboard_histograms(case: Case, folder: Path, *, every: int) -> Iterator[Log]:
    """As most examples have it: add_histogram of each parameter and its gradient, each `every` steps."""
    from torch.utils.tensorboard import SummaryWriter

    steps = [0]
    with SummaryWriter(str(folder)) as writer:

        def log(loss: Any) -> None:
            steps[0] += 1
            if steps[0] % every:
                return
            writer.add_scalar("loss", loss.item(), steps[0])
            for name, parameter in case.model.named_parameters():
                writer.add_histogram(name, parameter, steps[0])
                writer.add_histogram(f"{name}.grad", parameter.grad, steps[0])

        yield log


PEERS: dict[str, Peer] = {
    "wandb.watch, 100th": partial(wandb_watch, every=100),
    "wandb.watch, every": partial(wandb_watch, every=1),
    "tensorboard, 100th": partial(tensorboard_histograms, every=100),
    "tensorboard, every": partial(tensorboard_histograms, every=1),
}
