"""Where a model calls activations, and which of these calls are hidden ones.

The model is rehearsed once: its first pass is computed on a copy of the inputs, without the script
noticing. The autograd graph of the output shows where each activation's result went:

    hidden     it passes through a further layer with weights on its way out
    gate       it is multiplied with something else that was computed (LSTM and GRU cells, attention, GLU)
    recurrent  it comes back to the same call through the same weights (a recurrent net's state)
    output     no further layer follows
    other      it does not come from a layer with weights

Activations inside of PyTorch's own recurrent layers are not Python calls and are never seen.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from traindx.capture.process.patches import WRAPPER

NODES = 200_000  # of a graph are visited at most
HERE = str(Path(__file__).parents[2])
FOREIGN = (str(Path(torch.__file__).parent), HERE, WRAPPER)

LAYERS = ("AddmmBackward0", "ConvolutionBackward0", "EmbeddingBackward0", "MkldnnRnnLayerBackward0",
          "CudnnRnnBackward0", "AddmvBackward0", "BaddbmmBackward0")  # fmt: skip
PRODUCTS = ("MmBackward0", "BmmBackward0", "MvBackward0")  # of a layer if one factor is a weight
FACTORS = ("MulBackward0", *PRODUCTS)
SHAPES = ("View", "UnsafeView", "Reshape", "ReshapeAlias", "Unsqueeze", "Squeeze", "Expand", "Permute", "Transpose",
          "T", "Slice", "Select", "Split", "SplitWithSizes", "Unbind", "Chunk", "Alias", "Clone", "Rsub", "ToCopy",
          "Unflatten", "Repeat", "Unfold")  # fmt: skip

KINDS: dict[Any, str] = {
    **dict.fromkeys((torch.sigmoid, torch.sigmoid_, torch.Tensor.sigmoid, torch.Tensor.sigmoid_,
                     functional.sigmoid, torch.special.expit), "sigmoid"),
    **dict.fromkeys((torch.tanh, torch.tanh_, torch.Tensor.tanh, torch.Tensor.tanh_, functional.tanh), "tanh"),
    **dict.fromkeys((torch.relu, torch.relu_, torch.Tensor.relu, torch.Tensor.relu_, functional.relu,
                     functional.relu_), "relu"),
    functional.relu6: "relu6",
    functional.hardtanh: "hardtanh",
    functional.hardsigmoid: "hardsigmoid",
    functional.softsign: "softsign",
    functional.leaky_relu: "leaky_relu",
    functional.gelu: "gelu",
    functional.silu: "silu",
    functional.elu: "elu",
    functional.selu: "selu",
    functional.softplus: "softplus",
}  # fmt: skip
SATURATING = ("sigmoid", "tanh", "hardtanh", "hardsigmoid", "softsign")
Key = tuple[Any, ...]


@dataclass
class Call:
    """One call of an activation in a rehearsal. `layer` is the module whose output it was given."""

    key: Key
    turn: int  # how often this key was met before in the pass
    kind: str
    node: Any
    place: str
    layer: torch.nn.Module | None
    module: torch.nn.Module | None  # the innermost
    role: str = "other"


class Spy(TorchFunctionMode):  # type: ignore[misc]
    """Writes down every activation call, and every call of a dropout function."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.modules = {id(module): module for module in model.modules()}
        self.calls: list[Call] = []
        self.dropouts = 0
        self.turns: Counter[Key] = Counter()
        self.made: dict[
            int, tuple[Any, torch.nn.Module]
        ] = {}  # id of a tensor -> it, and the layer it came from

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = KINDS.get(func)
        given = args[0] if args else (kwargs or {}).get("input")
        source = self.made.get(id(given))  # asked first: a call in place gives the same tensor back
        found = func(*args, **(kwargs or {}))
        if kind is not None and isinstance(found, torch.Tensor):
            key, place = key_of(sys._getframe(1))
            layer = source[1] if source is not None else None
            module = self.modules.get(key[0])
            self.calls.append(Call(key, self.turns[key], kind, found.grad_fn, place, layer, module))
            self.turns[key] += 1
        elif getattr(func, "__name__", "").endswith("dropout"):
            self.dropouts += 1
        elif isinstance(found, torch.Tensor):
            owner = owner_of(sys._getframe(1))
            if owner is not None:
                self.made[id(found)] = (found, owner)
        return found


def owner_of(frame: FrameType | None) -> torch.nn.Module | None:
    """The linear or convolution layer in whose `forward` of PyTorch's own this runs."""
    while frame is not None and frame.f_code.co_filename.startswith(FOREIGN):
        if frame.f_code.co_name == "forward":
            found = frame.f_locals.get("self")
            return found if isinstance(found, torch.nn.Linear | torch.nn.modules.conv._ConvNd) else None
        frame = frame.f_back
    return None


def key_of(frame: FrameType | None) -> tuple[Key, str]:
    """What identifies a call in every pass: the innermost module, and the running instruction of the model's
    own code. Second, file and line of that instruction."""
    module = 0
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("called", "rehearse") and code.co_filename.startswith(HERE):
            break  # where the model was called from differs between passes
        if not module and code.co_name == "forward" and "self" in code.co_varnames:
            module = id(frame.f_locals.get("self"))
        if not code.co_filename.startswith(FOREIGN):
            return (module, code, frame.f_lasti), f"{Path(code.co_filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return (module,), ""


def classify(calls: list[Call], outputs: Any) -> None:
    """Write each call's role, from the graph that leads to `outputs` (nested)."""
    consumers = consumers_of(tensors_in(outputs))
    known: dict[Any, bool] = {}
    ids = {call.node: call for call in calls if call.node is not None}
    for call in calls:
        if call.node not in consumers:
            continue  # not part of what came out, or of no graph
        if not sources(call.node):
            call.role = "other"
        elif call.kind in (*SATURATING, "softplus") and is_gate(call.node, consumers):
            call.role = "gate"
        else:
            call.role = "hidden" if leads_to_layer(call.node, consumers, known) else "output"
    by_key: dict[Key, list[Call]] = defaultdict(list)
    for call in ids.values():
        by_key[call.key].append(call)
    for same in by_key.values():
        if len(same) > 1 and comes_back(same[0], same[1], consumers):
            role = "gate" if any(call.role == "gate" for call in same) else "recurrent"
            for call in same:  # a first state that is not computed is not seen as a factor
                call.role = role


def tensors_in(found: Any) -> list[torch.Tensor]:
    if isinstance(found, torch.Tensor):
        return [found]
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list | tuple):
        return [tensor for part in found for tensor in tensors_in(part)]
    inner = getattr(found, "__dict__", None)
    return [tensor for part in inner.values() for tensor in tensors_in(part)] if inner else []


def consumers_of(outputs: list[torch.Tensor]) -> dict[Any, list[Any]]:
    """Of every node of the graph, the nodes that its result goes into."""
    found: dict[Any, list[Any]] = {tensor.grad_fn: [] for tensor in outputs if tensor.grad_fn is not None}
    nodes = list(found)
    while nodes and len(found) < NODES:
        node = nodes.pop()
        for before, _ in node.next_functions:
            if before is None:
                continue
            if before not in found:
                found[before] = []
                nodes.append(before)
            found[before].append(node)
    return found


def is_weight(node: Any, depth: int = 8) -> bool:
    """A parameter, or what is computed of parameters alone (weight norm, a bounded weight)."""
    if node is None or not depth:
        return False
    if hasattr(node, "variable"):
        return True
    before = node.next_functions
    return bool(before) and all(is_weight(n, depth - 1) for n, _ in before)


def is_shape(node: Any) -> bool:
    return node.name().rstrip("0123456789").removesuffix("Backward") in SHAPES


def is_layer(node: Any) -> bool:
    """A product with weights."""
    if node.name() in LAYERS:
        return True
    return node.name() in PRODUCTS and any(is_weight(before) for before, _ in node.next_functions)


def sources(node: Any) -> frozenset[int]:
    """The weights (ids) of the layers that a node's input comes from directly."""
    found: set[int] = set()
    seen: set[Any] = set()
    nodes = [before for before, _ in node.next_functions]
    while nodes and len(seen) < NODES:
        this = nodes.pop()
        if this is None or this in seen:
            continue
        seen.add(this)
        if is_layer(this):
            found |= {id(w) for before, _ in this.next_functions if (w := weight_of(before)) is not None}
        else:
            nodes += [before for before, _ in this.next_functions]
    return frozenset(found)


def weight_of(node: Any) -> Any:
    """The (first) parameter that a weight is made of."""
    if not is_weight(node):
        return None
    while not hasattr(node, "variable"):
        node = node.next_functions[0][0]
    return node.variable


def is_gate(node: Any, consumers: dict[Any, list[Any]]) -> bool:
    """Multiplied, maybe after a change of shape, with something else that was computed."""
    nodes = [(node, after) for after in consumers[node]]
    seen: set[Any] = set()
    while nodes:
        before, this = nodes.pop()
        if this in seen:
            continue
        seen.add(this)
        if this.name() in FACTORS:
            factors = [n for n, _ in this.next_functions if n is not None]
            weighs = (
                this.name() == "MulBackward0" or factors[0] is before
            )  # of a matrix product, the left one
            if weighs and any(n is not before and not is_weight(n) for n in factors):
                return True
        elif is_shape(this):
            nodes += [(this, after) for after in consumers[this]]
    return False


def leads_to_layer(node: Any, consumers: dict[Any, list[Any]], known: dict[Any, bool]) -> bool:
    """Whether a product with weights follows anywhere between here and the outputs."""
    stack = [node]
    while stack:
        this = stack[-1]
        if this in known:
            stack.pop()
            continue
        after = consumers[this]
        waiting = [n for n in after if n not in known and not is_layer(n)]
        if waiting:
            stack.extend(waiting)
        else:
            known[this] = any(is_layer(n) or known[n] for n in after)
            stack.pop()
    return known[node]


def comes_back(first: Call, second: Call, consumers: dict[Any, list[Any]]) -> bool:
    """Whether one turn of a call feeds the next through the same weights."""
    if first.node not in consumers or second.node not in consumers:
        return False
    if not sources(first.node) & sources(second.node):
        return False
    nodes = [first.node]
    seen: set[Any] = set()
    while nodes and len(seen) < NODES:
        this = nodes.pop()
        if this is second.node:
            return True
        if this not in seen:
            seen.add(this)
            nodes += consumers[this]
    return False


def in_place(func: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether an activation was called so that it overwrites its input."""
    name = getattr(func, "__name__", "")
    flag = named.get("inplace", False) or (
        name in ("relu", "relu6", "leaky_relu") and args[1:] and args[-1] is True
    )
    return bool(flag) or name.endswith("_")
