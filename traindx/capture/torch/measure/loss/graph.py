"""What the graph of a loss tells: how it was reduced to one number, and what activation its input ends in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

HOPS = 8  # operations that are gone through
NEAR = 12  # operations at the end of a loss in which a hand-written difference is looked for
MEANT = (
    "Unsqueeze",
    "T",
    "Transpose",
    "Permute",
    "Expand",
    "Index",
    "Select",
)  # shapes that are turned on purpose
NODES = 5000  # operations of a graph that are looked through
ACTIVATIONS = {
    "Relu": "relu", "Threshold": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softmax": "softmax",
    "LogSoftmax": "log_softmax", "Softplus": "softplus", "Gelu": "gelu", "Elu": "elu", "LeakyRelu": "leaky_relu",
    "Silu": "silu", "Hardtanh": "hardtanh", "Hardsigmoid": "hardsigmoid", "Clamp": "clamp", "LogSigmoid": "log_sigmoid",
}  # fmt: skip
LINEAR = (
    "Addmm", "Mm", "Bmm", "Baddbmm", "Convolution", "Linear", "MkldnnLinear", "NativeLayerNorm", "NativeBatchNorm",
    "CudnnBatchNorm", "Addmv", "Mv", "Dot", "Einsum",
)  # fmt: skip
SHAPES = (
    "View", "Reshape", "UnsafeView", "Clone", "Transpose", "Permute", "Squeeze", "Unsqueeze", "T", "Expand", "ToCopy",
    "Slice", "Select", "Index", "Alias", "Contiguous", "AsStrided", "Split", "Unbind",
)  # fmt: skip
LOOKED_UP = ("Embedding", "IndexSelect", "Gather")
FACTORS = ("Mul", "Div", "ToCopy", "Neg", "View", "Squeeze", "Reshape", "Add", "Sub")  # of the first term
CHAIN = 12  # graph nodes between a loss and its reduction
PASSED_THROUGH = (
    "DivBackward0",
    "MulBackward0",
    "NegBackward0",
    "ToCopyBackward0",
    "AddBackward0",
    "SqueezeBackward0",
)
REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}


def nodes_of(tensor: torch.Tensor, most: int) -> list[Any]:
    """The nodes of the graph of a tensor, at most so many, breadth first: the nearest ones come first."""
    seen = dict.fromkeys([] if tensor.grad_fn is None else [tensor.grad_fn])
    queue = list(seen)
    for node in queue:
        for following, _ in node.next_functions:
            if following is not None and following not in seen and len(seen) < most:
                seen[following] = None
                queue.append(following)
    return queue


def last_activation(output: torch.Tensor) -> str:
    """The activation that a tensor came out of, whether a module or a function: one of ACTIVATIONS, "none"
    after a product with weights, "" where that cannot be told."""
    node: Any = output.grad_fn
    for _ in range(HOPS):
        name = _name(node)
        if name in ACTIVATIONS:
            return ACTIVATIONS[name]
        if name in LINEAR:
            return "none"
        if name not in SHAPES or not node.next_functions:
            return ""
        node = node.next_functions[0][0]
    return ""


def activations(loss: torch.Tensor) -> str:
    """All activations that a loss was computed through, called as functions or as modules, without the softmaxes and
    clamps that losses and attention have of their own: sorted, with commas. "none" where there is none, "" where the
    graph is larger than is looked through."""
    seen = nodes_of(loss, NODES)
    if len(seen) == NODES:
        return ""
    found = {ACTIVATIONS[name] for name in map(_name, seen) if name in ACTIVATIONS}
    return ", ".join(sorted(found - {"softmax", "log_softmax", "clamp"})) or "none"


def used_plainly(loss: torch.Tensor, weights: Sequence[torch.Tensor]) -> bool:
    """Whether every one of some weights goes into a product, or is looked up in, as it is: by operations that leave
    its values alone. What is rounded first is not, however that is written."""
    users: dict[Any, list[Any]] = {}
    ends: dict[int, Any] = {}
    seen = nodes_of(loss, NODES)
    for node in seen if len(seen) < NODES else ():
        for following, _ in node.next_functions:
            users.setdefault(following, []).append(node)
            if isinstance(end := getattr(following, "variable", None), torch.Tensor):
                ends[id(end)] = following
    return bool(weights) and all(id(w) in ends and _into_products(ends[id(w)], users) for w in weights)


def _into_products(node: Any, users: dict[Any, list[Any]]) -> bool:
    """Whether what a node gives goes into products only."""
    waiting = list(users.get(node, ()))
    for user in waiting:
        if _name(user) in SHAPES:
            waiting += users.get(user, ())
        elif _name(user) not in (*LINEAR, *LOOKED_UP):
            return False
    return True


def reduction(loss: torch.Tensor) -> str:
    """How a loss (its first term) became one number: "mean" or "sum", of a loss function or written out.
    A sum that is then divided by a number is a mean; "" where it cannot be told."""
    node: Any = loss.grad_fn
    divided = False
    for _ in range(HOPS):
        name = _name(node)
        told = getattr(node, "_saved_reduction", None)
        kind = (
            REDUCTIONS.get(told, "")
            if isinstance(told, int)
            else name.lower()
            if name in ("Mean", "Sum")
            else None
        )
        if kind is not None:
            return "mean" if divided and kind == "sum" else kind
        divided = divided or name == "Div"
        if name not in FACTORS or not node.next_functions:
            return ""
        node = node.next_functions[0][0]
    return ""


def broadcast(loss: torch.Tensor) -> str:
    """Where a hand-written difference blew a column or a row up to a square, as "40x1 to 40x40"; "" where none did.
    Pairs that a script asks for are made by a new dimension or a turned table, and are none."""
    for node in nodes_of(loss, NEAR):
        before = [following for following, _ in node.next_functions if following is not None]
        if _name(node) != "Sub" or len(before) != 1 or _name(before[0]) in MEANT:
            continue
        made, given = _shape(node), _shape(before[0])
        if len(made) == 2 and made[0] == made[1] > 1 and given in ((made[0], 1), (1, made[0]), made[:1]):
            return f"{'x'.join(map(str, given))} to {'x'.join(map(str, made))}"
    return ""


def _shape(node: Any) -> tuple[int, ...]:
    """The shape of what an operation gave out; () where the graph does not tell."""
    told = getattr(node, "_input_metadata", None)
    return tuple(told[0].shape) if told else ()


def _name(node: Any) -> str:
    """The operation of a node: `AddmmBackward0` is Addmm."""
    return "" if node is None else str(node.name()).rstrip("0123456789").removesuffix("Backward")


def growth_in_graph(loss: torch.Tensor, count: int) -> float | None:
    """The same from the graph of a loss that was written by hand: whether its last reduction is a sum
    over the samples that nothing divides by their number. None where that is not clear."""
    node, divisor = loss.grad_fn, 1.0
    for _ in range(CHAIN):
        name = type(node).__name__
        if node is None or name.startswith("MeanBackward"):
            return None if node is None else 1.0
        if name == "SumBackward0":
            sizes = getattr(node, "_saved_self_sym_sizes", ())
            if count < 2 or not sizes or sizes[0] != count:
                return None
            return 1.0 if divisor >= count * (1 - 1e-6) else 2.0
        if name not in PASSED_THROUGH:
            return None
        other = getattr(node, "_saved_other", None) if name in ("DivBackward0", "MulBackward0") else None
        if (
            isinstance(other, torch.Tensor)
            and other.numel() == 1
            and other.device.type == "cpu"
            and float(other)
        ):
            divisor *= float(other) if name == "DivBackward0" else 1 / float(other)
        node = node.next_functions[0][0]
    return None
