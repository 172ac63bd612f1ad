"""All parameters trainable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.discover.models import largest
from traindx.capture.torch.experiment.settings import Optimizer, parameters_of
from traindx.capture.torch.experiment.site import Site


@applies("unfreeze")
def unfreeze(site: Site, _value: str) -> None:

    waiting: list[Optimizer] = []

    def hook(call: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        if waiting and torch.is_grad_enabled():
            held = {id(p) for o in waiting for p in parameters_of(o)}
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
