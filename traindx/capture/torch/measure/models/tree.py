"""The module trees of the models in training: what is in them, and which modules can be measured."""

import weakref
from typing import Any

import torch
from torch import nn

from traindx.capture.session import Part

RECTIFIERS = (nn.ReLU, nn.ReLU6, nn.Threshold, nn.RReLU)
SQUASHERS = (nn.Tanh, nn.Sigmoid, nn.Hardtanh, nn.Hardsigmoid, nn.Softsign)
OTHER_ACTIVATIONS = (
    nn.LeakyReLU, nn.PReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish, nn.Hardswish, nn.Softplus,
    nn.Softmax, nn.LogSoftmax, nn.GLU, nn.LogSigmoid, nn.Softmax2d,
)  # fmt: skip
ACTIVATIONS = (*RECTIFIERS, *SQUASHERS, *OTHER_ACTIVATIONS)
NORMS = (
    nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm, nn.RMSNorm,
)  # fmt: skip
DROPOUTS = (nn.modules.dropout._DropoutNd,)
WEIGHTED = (nn.Linear, nn.modules.conv._ConvNd, nn.RNNBase, nn.RNNCellBase, nn.Bilinear)
CHANNELS_SECOND = (
    nn.modules.conv._ConvNd,
    nn.modules.batchnorm._BatchNorm,
    nn.modules.instancenorm._InstanceNorm,
)


def child_or_parameter(module: nn.Module, name: str) -> Any:
    """The direct child or parameter of that name, or None. A scripted module holds them in mappings without
    `get`."""
    return next((table[name] for table in (module._modules, module._parameters) if name in table), None)


def class_name(module: nn.Module) -> str:
    """The class as it was written: scripting and `fully_shard` replace it by another."""
    if isinstance(module, torch.jit.ScriptModule):
        return str(module.original_name)
    sharded = any(kind.__name__ == "FSDPModule" for kind in type(module).__mro__)
    return type(module).__name__.removeprefix("FSDP" if sharded else "")


def scripted_parts(model: nn.Module) -> str:
    """The scripted modules of a model. Nothing inside them can be observed, only their calls from Python."""
    found = [name for name, module in model.named_modules() if isinstance(module, torch.jit.ScriptModule)]
    outer = [
        name
        for name in found
        if not any(name.startswith(f"{other}." if other else "") for other in found if other != name)
    ]
    return ", ".join(name or "all" for name in outer)


def unwrap_model(model: nn.Module) -> nn.Module:
    """The module inside data-parallel and compiled wrappers."""
    for inner in ("_orig_mod", "module"):
        found = child_or_parameter(model, inner)
        if found is not None and len(model._modules) == 1 and not model._parameters:
            return unwrap_model(found)
    return model


def is_compiled(model: nn.Module) -> bool:
    """Whether hooks on the model's modules would be compiled, or never called."""
    return (
        "_orig_mod" in model._modules
        or getattr(model, "_compiled_call_impl", None) is not None
        or isinstance(model, torch.jit.ScriptModule)
    )


class Tree:
    """The models in training, and those of their modules whose outputs are worth measuring."""

    def __init__(self) -> None:
        self._models: list[weakref.ref[nn.Module]] = []
        self._leaves: list[tuple[str, weakref.ref[nn.Module]]] = []

    @property
    def models(self) -> list[nn.Module]:
        """Those that the script has not freed."""
        return [model for known in self._models if (model := known()) is not None]

    @property
    def leaves(self) -> list[tuple[str, nn.Module]]:
        """Names and modules that are not freed."""
        return [(name, module) for name, known in self._leaves if (module := known()) is not None]

    def add(self, model: nn.Module, name: str) -> list[Part] | None:
        """The parameters of a model, with `name` as prefix; None when it, or one that contains it, is
        known."""
        root = unwrap_model(model)
        if any(root is m for known in self.models for m in unwrap_model(known).modules()):
            return None
        self._models.append(weakref.ref(model))
        inside = {id(part) for m in (model, *root.modules()) if is_compiled(m) for part in m.modules()}
        parts = []
        for path, module in root.named_modules():
            full = ".".join(p for p in (name, path) if p)
            for key, parameter in module._parameters.items():
                if parameter is not None:
                    parts.append(Part(parameter, f"{full}.{key}" if full else key, full or key, module))
            if id(module) not in inside and _is_worth_measuring(module):
                self._leaves.append((full or type(module).__name__, weakref.ref(module)))
        return parts


def _is_worth_measuring(module: nn.Module) -> bool:
    """Whether the outputs of a module are worth measuring: it has no children, and has weights or is an
    activation."""
    leaf = not any(True for _ in module.children())
    return leaf and (
        isinstance(module, ACTIVATIONS) or any(p is not None for p in module._parameters.values())
    )


def is_weighted(module: nn.Module) -> bool:
    """Whether a library's own kind of module multiplies with a matrix of weights."""
    weight = child_or_parameter(module, "weight")
    return isinstance(weight, torch.Tensor) and weight.dim() > 1 and "Embed" not in class_name(module)


def named_activation(module: nn.Module) -> bool:
    """Whether a library's own kind of module is named as an activation (`NewGELUActivation`)."""
    return type(module).__name__.endswith("Activation") and not module._parameters


def modal(module: nn.Module) -> bool:
    """Whether the output of a module depends on its mode: dropout with a rate above 0, running
    statistics."""
    return (isinstance(module, DROPOUTS) and module.p > 0) or bool(
        getattr(module, "track_running_stats", False)
    )


def architecture(model: nn.Module) -> dict[str, str | int | float | bool]:
    """Setup facts about one model (docs/capture.md)."""
    root = unwrap_model(model)
    modules = list(root.modules())
    used = sorted({type(m).__name__ for m in modules if isinstance(m, ACTIVATIONS) or named_activation(m)})
    rates = [float(m.p) for m in modules if isinstance(m, DROPOUTS)]
    facts: dict[str, str | int | float | bool] = {
        "model": class_name(root),
        "depth": sum(isinstance(m, WEIGHTED) or is_weighted(m) for m in modules),
        "has_normalization": any(isinstance(m, NORMS) or "Norm" in type(m).__name__ for m in modules),
        "has_dropout": any(r > 0 for r in rates),
        "activations": ", ".join(used),
        "compiled": is_compiled(model),
    }
    momenta = [
        float(m.momentum)
        for m in modules
        if getattr(m, "track_running_stats", False) and m.momentum is not None
    ]
    weights = [child_or_parameter(m, "weight") for m in modules if isinstance(m, WEIGHTED)]
    widths = [w.shape[0] for w in weights if w is not None and not nn.parameter.is_lazy(w)]
    facts |= {"dropout": max(rates)} if rates else {}
    facts |= {"forward_not_seen": scripted_parts(root)} if scripted_parts(root) else {}
    facts |= {"normalization_momentum": min(momenta)} if momenta else {}
    return facts | ({"narrowest_width": min(widths[:-1])} if len(widths) > 1 and min(widths) else {})
