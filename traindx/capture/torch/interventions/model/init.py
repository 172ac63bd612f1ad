"""New weights before the first step."""

import math
from collections import Counter

from traindx.capture.torch.alter.api import Any, Pass, Site, applies, generator, nn, script_of, torch

KINDS = ("he", "xavier", "orthogonal")
LAYERS = (nn.Linear, nn.Bilinear, nn.modules.conv._ConvNd)
NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)


@applies("init", unused="no module of a known type was called")
def init(site: Site, kind: str) -> None:

    script = script_of(site)

    def fresh(this: Pass) -> None:
        if this.number:
            return
        if any(module in script.loaded for module in this.plain.modules()):
            site.refuse("the script has loaded weights into the model")
        touched, left = reinitialize(this.plain, kind, generator("init"))
        for name, number in touched.items():
            site.touched(f"{name} modules", number)
        if left:
            site.fact("init_parameters_left", left)

    script.needs_model(site)
    script.before_pass(site, fresh)


def reinitialize(model: nn.Module, kind: str, random: torch.Generator) -> tuple[Counter[str], int]:
    """Give a model new weights in place. How many modules of each type got some, and how many
    parameter values were left as they were."""
    touched: Counter[str] = Counter()
    done: set[int] = set()
    shared = Counter(id(p) for m in model.modules() for p in m._parameters.values() if p is not None)
    with torch.no_grad():
        for module in model.modules():
            fresh = values_of(module, kind, random, shared)
            fresh = {n: v for n, v in fresh.items() if needs_initialization(module, n, done)}
            for name, value in fresh.items():
                parameter = module._parameters[name]
                assert parameter is not None
                parameter.copy_(value)
                done.add(id(parameter))
            if fresh:
                touched[type(module).__name__] += 1
                if isinstance(module, nn.modules.batchnorm._NormBase) and module.track_running_stats:
                    module.reset_running_stats()
    return touched, sum(p.numel() for p in model.parameters() if id(p) not in done)


def needs_initialization(module: nn.Module, name: str, done: set[int]) -> bool:
    parameter = module._parameters.get(name)
    return parameter is not None and parameter.requires_grad and id(parameter) not in done


def values_of(module: nn.Module, kind: str, random: torch.Generator, shared: Counter[int]) -> dict[str, Any]:
    """New values, on the host, of the parameters that a module holds itself."""
    own = {name: p for name, p in module._parameters.items() if p is not None}
    if isinstance(module, nn.Embedding | nn.EmbeddingBag) and "weight" in own:
        weight = own["weight"]
        value = torch.randn(weight.shape, generator=random)
        if shared[id(weight)] > 1:
            value /= math.sqrt(weight.shape[1])
        if module.padding_idx is not None:
            value[module.padding_idx] = 0
        return {"weight": value}
    if isinstance(module, nn.RNNBase | nn.RNNCellBase):
        return {name: recurrent(module, name, p.shape, kind, random) for name, p in own.items()}
    if isinstance(module, NORMS):
        return {name: torch.full(p.shape, float(name == "weight")) for name, p in own.items()}
    if isinstance(module, nn.MultiheadAttention):
        projections = {n: matrix(p.shape, kind, random, 1.0) for n, p in own.items() if p.dim() == 2}
        return projections | {n: torch.zeros(p.shape) for n, p in own.items() if "proj_bias" in n}
    if isinstance(module, LAYERS):
        backwards = bool(getattr(module, "transposed", False))
        return {n: torch.zeros(p.shape) if p.dim() < 2 else matrix(p.shape, kind, random, math.sqrt(2), backwards)
                for n, p in own.items()}  # fmt: skip
    return {}


def matrix(
    shape: torch.Size, kind: str, random: torch.Generator, gain: float, backwards: bool = False
) -> torch.Tensor:
    """Weights of one layer, output units in rows (`backwards`: in columns). The gain is that of what
    follows; `xavier` knows none."""
    made = torch.empty(shape)
    if kind == "orthogonal":
        return nn.init.orthogonal_(made, gain, generator=random)
    if kind == "xavier":
        return nn.init.xavier_normal_(made, generator=random)
    inside = math.prod(shape[2:])
    fan_in = shape[0 if backwards else 1] * inside
    return made.normal_(0, gain / math.sqrt(max(fan_in, 1)), generator=random)


def recurrent(
    module: nn.RNNBase | nn.RNNCellBase, name: str, shape: torch.Size, kind: str, random: torch.Generator
) -> torch.Tensor:
    """A parameter of a recurrent layer; its gates are stacked in rows."""
    gates = {"LSTM": 4, "GRU": 3}.get(type(module).__name__.removesuffix("Cell"), 1)
    if name.startswith("bias"):
        value = torch.zeros(shape)
        if gates == 4 and name.startswith("bias_ih"):
            value[module.hidden_size : 2 * module.hidden_size] = 1  # the forget gate
        return value
    size = torch.Size((shape[0] // gates, *shape[1:]))
    kind = "orthogonal" if name.startswith("weight_hh") else kind
    return torch.cat([matrix(size, kind, random, 1.0) for _ in range(gates)])
