"""Normalization inserted into the hidden layers."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site

if TYPE_CHECKING:
    from traindx.capture.torch.alter.calls import Pass

REPLICATED = ("DistributedDataParallel", "FullyShardedDataParallel")


@intervention("normalize", stage="model", values=("layer", "batch"), order=3)
def normalize(value: str) -> Apply:
    """Normalization between a layer and the hidden activation that its output goes straight into (which these are is
    seen from a trial pass, see `activation`): layer or batch normalization of the features behind linear layers; over
    all channels, or of each over the batch, behind convolutions. A layer with a norm behind it already has none added.
    The new scales and shifts begin at 1 and 0 and join the optimizer, in the group of the layer's bias (or weight). A
    script without an optimizer object trains them if it goes through `model.parameters()` in each step.

    Not between two layers without an activation, in recurrent layers, or behind layers of the script's own making.
    The model's `state_dict` has new entries (`traindx_norm`). Refused for models that are compiled or wrapped by
    DistributedDataParallel or FSDP, and those that cannot be called twice on the same inputs."""
    kind = one_of(value, "normalize", ("layer", "batch"))

    def apply(site: Site) -> None:
        from torch import is_inference_mode_enabled as is_inference  # no graph: the next pass will have one

        from traindx.capture.torch.alter.layers import insert, join, places
        from traindx.capture.torch.alter.rehearsal import CannotRehearse
        from traindx.capture.torch.alter.script import script_of

        script = script_of(site)
        done: weakref.WeakSet[Any] = weakref.WeakSet()

        def build(this: Pass) -> None:
            if this.module in done or is_inference():
                return
            done.add(this.module)
            if type(this.module).__name__ in REPLICATED:
                site.refuse(
                    f"{type(this.module).__name__} would not keep new parameters alike in all processes"
                )
            try:
                calls, _ = script.rehearsal(site, this)
            except CannotRehearse as why:
                site.refuse(f"the model cannot be looked at: {why}")
            for layer in places(calls):
                norm = insert(layer, kind)
                site.touched("layers")
                if not join(layer, norm, script.optimizers):
                    site.fact("normalize_without_optimizer", True)

        script.needs_model(site)
        script.before_pass(site, build)
        site.unused = (
            "inside of what the script calls no layer's output goes straight into a hidden activation"
        )

    return apply
