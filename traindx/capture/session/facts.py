"""Names and setup facts that need no measuring."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

from traindx.vocabulary.setup import Fact
from traindx.vocabulary.signals import SIGNALS

if TYPE_CHECKING:
    import torch

CANONICAL = frozenset(kind.name for kind in SIGNALS)


def signal_name(name: str, prefix: str) -> str:
    """The signal of a value that the loop names: as it is when it is canonical or says its split."""
    return name if name in CANONICAL or "/" in name else prefix + name


def optimizer_facts(optimizer: torch.optim.Optimizer) -> dict[str, Fact]:
    """Kind and settings of an optimizer, from its first group (the highest rate of all)."""
    out: dict[str, Fact] = {"optimizer": type(optimizer).__name__, "parameter_groups": len(optimizer.param_groups)}
    first = optimizer.param_groups[0]
    if all(isinstance(g.get("lr"), float | int) for g in optimizer.param_groups):
        out["lr"] = float(max(g["lr"] for g in optimizer.param_groups))
    for name in ("momentum", "weight_decay", "nesterov", "eps", "amsgrad", "dampening", "maximize", "alpha"):
        if isinstance(first.get(name), float | int | bool):
            out[name] = first[name]
    betas = first.get("betas")
    if isinstance(betas, tuple) and all(isinstance(b, float | int) for b in betas):
        out |= {f"beta{i}": float(b) for i, b in enumerate(betas, 1)}
        out["momentum"] = float(betas[0])
    return out


def versions() -> dict[str, str]:
    """Versions of what is loaded."""
    out = {"python": platform.python_version()}
    for name in ("traindx", "torch", "numpy", "lightning", "transformers", "accelerate"):
        found = getattr(sys.modules.get(name), "__version__", None)
        if found is not None:
            out[name] = str(found)
    return out
