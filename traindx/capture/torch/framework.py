"""PyTorch, and what is written with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.framework import Framework, as_list

if TYPE_CHECKING:
    from traindx.capture.session import Loop, RecordedProcess


def attach(process: RecordedProcess) -> None:
    from traindx.capture.torch.launched import attach

    attach(process)


def loop(model: Any, optimizer: Any, out: Path | None, scaler: Any, options: dict[str, Any]) -> Loop | None:
    from traindx.capture.torch.backend import torch_session
    from traindx.capture.torch.discover.watching import TorchLoop, watches

    models, optimizers = as_list(model), as_list(optimizer)
    if not watches(models, optimizers):
        return None
    return TorchLoop(torch_session(out, **options), models, optimizers, scaler)


TORCH = Framework(
    name="torch",
    label="PyTorch",
    title="PyTorch, Lightning, Hugging Face",
    started_by="`traindx run`, `traindx.watch`, `traindx check`, `fix`, `investigate`, `--with`, notebooks",
    observed_by="hooks and thin wrappers; bit-identical.",
    tested_with=("torch", "lightning", "transformers"),
    attach=attach,
    loop=loop,
    watched="PyTorch's modules with their optimizers",
    abilities=("experiment", "trace", "memory"),
    untrained=(
        ("backward", "the script ended before its first optimizer step was recorded"),
        ("optimizer", "an optimizer was made, but backward() was never called: nothing was trained"),
        ("torch", "torch was imported, but no optimizer was made and backward() was never called"),
    ),
)
