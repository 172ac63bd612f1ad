"""Layers that are exchanged or added: activations and normalization."""

import weakref
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from traindx.capture.torch.alter.activations import SATURATING, Call
from traindx.capture.torch.alter.api import Any, Pass, Site, applies, nn, script_of, torch
from traindx.capture.torch.alter.swaps import FUNCTIONS, AtCalls, calls_to_swap, compute_instead, exchange


@applies("activation", unused="the models that the script calls have no hidden activation to replace")
def activation(site: Site, into: str) -> None:

    script = script_of(site)
    wanted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    change = compute_instead(FUNCTIONS[into])

    def rehearse(this: Pass) -> None:
        # Inference mode keeps no graph: the next pass will have one.
        if this.module in wanted or torch.is_inference_mode_enabled():
            return
        calls, _ = script.rehearsal(site, this)
        wanted[this.module] = found = calls_to_swap(calls, into)
        if found:
            site.touched("calls", len(found))
            exchange(this.plain, calls, found, into)
        record_unchanged_activations(site, calls)

    def enter(this: Pass) -> AbstractContextManager[Any]:
        found = wanted.get(this.module)
        return AtCalls(found, change) if found else nullcontext()

    script.needs_model(site)
    script.before_pass(site, rehearse)
    script.around_pass(site, enter)


def record_unchanged_activations(site: Site, calls: list[Call]) -> None:
    """Record how many saturating activations stay because they are not hidden ones."""
    left = Counter(call.role for call in calls if call.kind in SATURATING and call.role != "hidden")
    for role, number in left.items():
        site.fact(f"activation_left_{role}", number)


REPLICATED = ("DistributedDataParallel", "FullyShardedDataParallel")
NAME = "traindx_norm"  # of the module that is put into a layer


@applies(
    "normalize",
    unused="no layer's output goes directly into a hidden activation in the models that the script calls",
)
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
        calls, _ = script.rehearsal(site, this)
        for layer in layers_before_activations(calls):
            norm = insert(layer, kind)
            site.touched("layers")
            if not join(layer, norm, script.optimizers):
                site.fact("normalize_without_optimizer", True)

    script.needs_model(site)
    script.before_pass(site, build)


class BatchNorm(nn.modules.batchnorm._BatchNorm):  # type: ignore[misc]
    """Batch normalization over channels (dimension 1 of convolutions) or features (the last dimension). A
    batch with a single value of each is normalized by the running statistics: it has no spread."""

    def __init__(self, size: int, last: bool, **where: Any) -> None:
        super().__init__(size, **where)
        self.last = last

    def _check_input_dim(self, input: torch.Tensor) -> None:
        """Any number of dimensions."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        given = input.movedim(-1, 1) if self.last and input.dim() > 2 else input
        batch = self.training and given.numel() != given.shape[1]
        found = nn.functional.batch_norm(
            given,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            batch,
            self.momentum or 0.1,
            self.eps,
        )
        return found.movedim(1, -1) if given is not input else found


def apply_norm(layer: nn.Module, _args: Any, found: torch.Tensor) -> torch.Tensor:
    """The forward hook of a layer with a norm in it."""
    made: torch.Tensor = layer.get_submodule(NAME)(found)
    return made


def layers_before_activations(calls: Iterable[Call]) -> list[nn.Module]:
    """The linear and convolution layers whose output goes straight into a hidden activation."""
    found = {id(c.layer): c.layer for c in calls if c.role == "hidden" and c.layer is not None}
    return [layer for layer in found.values() if NAME not in layer._modules]


def insert(layer: nn.Module, kind: str) -> nn.Module:
    """Put a norm behind a layer, in the mode, type and place of the layer's weights."""
    weight = layer.weight
    where = {"device": weight.device, "dtype": weight.dtype}
    linear = isinstance(layer, nn.Linear)
    size = layer.out_features if linear else layer.out_channels
    norm: nn.Module
    if kind == "batch":
        norm = BatchNorm(size, linear, **where)
    else:
        norm = nn.LayerNorm(size, **where) if linear else nn.GroupNorm(1, size, **where)
    layer.add_module(NAME, norm.train(layer.training))
    layer.register_forward_hook(apply_norm)
    return norm


def join(layer: nn.Module, norm: nn.Module, optimizers: Iterable[torch.optim.Optimizer]) -> int:
    """Let the optimizers that train a layer train its norm, too, in the group of the layer's bias (or
    weight). How many did."""
    joined = 0
    own = [p for p in (layer.bias, layer.weight) if isinstance(p, torch.Tensor)]
    for optimizer in optimizers:
        groups = [g for p in own for g in optimizer.param_groups if any(p is q for q in g["params"])]
        if groups:
            groups[0]["params"].extend(norm.parameters())
            if "param_names" in groups[0]:
                groups[0]["param_names"].extend(f"{NAME}.{name}" for name, _ in norm.named_parameters())
            joined += 1
    return joined
