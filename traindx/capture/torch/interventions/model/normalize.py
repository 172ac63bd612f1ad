"""Normalization inserted into the hidden layers."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.layers import insert, join, places
from traindx.capture.torch.alter.rehearsal import CannotRehearse
from traindx.capture.torch.alter.script import script_of
from traindx.capture.torch.experiment.site import Site

REPLICATED = ("DistributedDataParallel", "FullyShardedDataParallel")


@applies("normalize")
def normalize(site: Site, kind: str) -> None:

    script = script_of(site)
    done: weakref.WeakSet[Any] = weakref.WeakSet()

    def build(this: Pass) -> None:
        # Inference mode keeps no graph: the next pass will have one.
        if this.module in done or torch.is_inference_mode_enabled():
            return
        done.add(this.module)
        if type(this.module).__name__ in REPLICATED:
            site.refuse(f"{type(this.module).__name__} would not keep new parameters equal in all processes")
        try:
            calls, _ = script.rehearsal(site, this)
        except CannotRehearse as why:
            site.refuse(f"no trial pass of the model is possible: {why}")
        for layer in places(calls):
            norm = insert(layer, kind)
            site.touched("layers")
            if not join(layer, norm, script.optimizers):
                site.fact("normalize_without_optimizer", True)

    script.needs_model(site)
    script.before_pass(site, build)
    site.unused = (
        "no layer's output goes directly into a hidden activation in the models that the script calls"
    )
