"""How to get a signal that a log lacks: signal -> (its name in words, how to log it)."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.vocabulary.signals import SIGNALS

WITH_CAPTURE = "traindx run -- python train.py"
WITH_A_TRACE = "traindx profile -- python train.py"
# What `traindx check` measures by starting the script in several ways (docs/check.md).
CHECKED = (
    "whether the model can learn one batch, and uses its inputs and labels",
    "traindx check -- python train.py",
)

HOW_TO_LOG: Mapping[str, tuple[str, str]] = {
    "objective": ("a training loss", "log the loss with its step"),
    "train/loss": ("the training loss", "log the loss with its step"),
    "val": ("the validation loss", "evaluate every few hundred steps and log val/loss"),
    "train": ("a training loss", "log the loss with its step"),
    "val/loss": ("the validation loss", "evaluate every few hundred steps and log val/loss"),
    "val/accuracy": ("a validation metric", "log an accuracy or error next to the loss"),
    "train/accuracy": ("a training metric", "log an accuracy or error next to the loss"),
    "lr": ("the learning rate of every step", "log lr (optimizer.param_groups[0]['lr'])"),
    "grad_norm": (
        "the global gradient norm",
        f"log what torch.nn.utils.clip_grad_norm_ returns, or: {WITH_CAPTURE}",
    ),
    "grad_norm/": ("the gradient norm of every layer", WITH_CAPTURE),
    "clip_ratio": ("the gradient norm before and after clipping", WITH_CAPTURE),
    "loss_scale": ("the loss scale", "log scaler.get_scale()"),
    "skipped_steps": ("the number of skipped steps", "log it from the gradient scaler"),
    "time/step": ("the time of each step", "log seconds per step"),
    "time/data": ("the time spent waiting for data", f"log it, or: {WITH_CAPTURE}"),
    "time/idle": ("the time of a step in which nothing is computed", WITH_A_TRACE),
    "calls/synchronize": ("how often the host waits for the accelerator", WITH_A_TRACE),
    "operator_time/": ("the time of a step in each operator", WITH_A_TRACE),
    "operator_calls/": ("the calls of each operator in a step", WITH_A_TRACE),
    "throughput": ("samples per second", "log samples per second"),
    "mem/host": ("the memory of the process", f"log it, or: {WITH_CAPTURE}"),
    "mem/device": ("the memory of the device", f"log torch.cuda.memory_allocated(), or: {WITH_CAPTURE}"),
    "util/device": (
        "the utilization of the accelerator",
        "log it (nvidia-smi, or the system metrics of your logger)",
    ),
    "epoch": ("the epoch of each row", "log the (fractional) epoch"),
    "rank": ("the time of a step of every rank", "log rank/<i>/time/step"),
}


def how_to_log(name: str) -> tuple[str, str]:
    """The name in words of a signal that a rule needs ("act_mean/*": of every module), and how to log it."""
    base, panel = name.removesuffix("/*"), name.endswith("/*")
    known = HOW_TO_LOG.get(f"{base}/" if panel else base) or HOW_TO_LOG.get(base)
    if known is not None:
        return known
    meant = {kind.name: kind.meaning for kind in SIGNALS}.get(f"{base}/<module>" if panel else base)
    words = f"{meant} of every module" if meant and panel else meant or name
    return words, WITH_CAPTURE
