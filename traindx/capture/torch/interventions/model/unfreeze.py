"""All parameters trainable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("unfreeze", stage="model", values=("all",))
def unfreeze(value: str) -> Apply:
    """All parameters of the models that the optimizer trains a part of require gradients, from their first
    call with gradients on. Whether they are also updated is up to the optimizer: what it was not given is
    added by `register=all`. What the script freezes later stays frozen."""
    one_of(value, "unfreeze", ("all",))

    def apply(site: Site) -> None:
        import torch

        from traindx.capture.torch.discover.models import largest

        waiting: list[Optimizer] = []

        def hook(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
            if waiting and torch.is_grad_enabled():
                held = {id(p) for o in waiting for group in o.param_groups for p in group["params"]}
                waiting.clear()
                for model in largest(lambda m: any(id(p) in held for p in m.parameters())):
                    frozen = [p for p in model.parameters() if not p.requires_grad and p.is_floating_point()]
                    for p in frozen:
                        p.requires_grad_(True)
                    if frozen:
                        site.touched("tensors", len(frozen))
                        site.touched("parameters", sum(p.numel() for p in frozen))
            return call(module, *args, **named)

        site.on_optimizer(waiting.append)
        site.around_calls(hook)
        site.unused = "no parameter was frozen"

    return apply
