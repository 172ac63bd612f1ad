"""What the autograd graph of a loss shows: how it was reduced to one number, and which activations it went
through, and in which operation it became NaN or infinite."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from traindx.capture.session import Layout
from traindx.vocabulary import Fact

HOPS = 8  # operations from a tensor backwards
NEAR = 12  # operations at the end of a loss in which a hand-written difference is looked for
# Operations that change a shape on purpose.
RESHAPING = ("Unsqueeze", "T", "Transpose", "Permute", "Expand", "Index", "Select")
NODES = 5000  # operations of a graph that are read
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
LOOKUPS = ("Embedding", "IndexSelect", "Gather")
FACTORS = ("Mul", "Div", "ToCopy", "Neg", "View", "Squeeze", "Reshape", "Add", "Sub")  # of the first term
CHAIN = 12  # operations between a loss and its reduction, at most
BEFORE_REDUCTION = (
    "Div",
    "Mul",
    "Neg",
    "ToCopy",
    "Add",
    "Squeeze",
)  # operations between a loss and its reduction
REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}
READ = 3  # losses and outputs whose graphs are read


def nodes_of(tensor: torch.Tensor, most: int) -> list[Any]:
    """The nodes of the graph of a tensor, at most so many, breadth first: the nearest ones come first."""
    return list(reachable([] if tensor.grad_fn is None else [tensor.grad_fn], most))


def reachable(nodes: list[Any], most: int) -> Iterator[Any]:
    """These nodes and those behind them, at most so many, breadth first."""
    seen, queue = set(nodes), list(nodes)
    for node in queue:
        yield node
        for following, _ in node.next_functions:
            if following is not None and following not in seen and len(seen) < most:
                seen.add(following)
                queue.append(following)


def last_activation(output: torch.Tensor) -> str:
    """The activation that computed a tensor, as a module or a function: one of ACTIVATIONS, "none" after a
    product with weights, "" where that is unknown."""
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
    """All activations that a loss was computed with, as functions or modules: sorted, with commas. Softmaxes
    and clamps are left out, as losses and attention use them. "none" where there is none, "" where the graph
    is too large."""
    seen = nodes_of(loss, NODES)
    if len(seen) == NODES:
        return ""
    found = {ACTIVATIONS[name] for name in map(_name, seen) if name in ACTIVATIONS}
    return ", ".join(sorted(found - {"softmax", "log_softmax", "clamp"})) or "none"


def are_used_unchanged(loss: torch.Tensor, weights: Sequence[torch.Tensor]) -> bool:
    """Whether all these weights are used in products or lookups with unchanged values: only operations on
    their shape come before. Weights that are rounded first are not, however that is written."""
    users: dict[Any, list[Any]] = {}
    ends: dict[int, Any] = {}
    seen = nodes_of(loss, NODES)
    for node in seen if len(seen) < NODES else ():
        for following, _ in node.next_functions:
            users.setdefault(following, []).append(node)
            if isinstance(end := getattr(following, "variable", None), torch.Tensor):
                ends[id(end)] = following
    return bool(weights) and all(id(w) in ends and _feeds_products(ends[id(w)], users) for w in weights)


def _feeds_products(node: Any, users: dict[Any, list[Any]]) -> bool:
    """Whether the output of a node is used in products and lookups only."""
    waiting = list(users.get(node, ()))
    for user in waiting:
        if _name(user) in SHAPES:
            waiting += users.get(user, ())
        elif _name(user) not in (*LINEAR, *LOOKUPS):
            return False
    return True


def reduction(loss: torch.Tensor) -> str:
    """How a loss (its first term) became one number: "mean" or "sum", by a loss function or by hand. A sum
    that is then divided by a number is a mean; "" where it is unknown."""
    node: Any = loss.grad_fn
    divided = False
    for _ in range(HOPS):
        name = _name(node)
        saved, kind = getattr(node, "_saved_reduction", None), None
        if isinstance(saved, int):
            kind = REDUCTIONS.get(saved, "")
        elif name in ("Mean", "Sum"):
            kind = name.lower()
        if kind is not None:
            return "mean" if divided and kind == "sum" else kind
        divided = divided or name == "Div"
        if name not in FACTORS or not node.next_functions:
            return ""
        node = node.next_functions[0][0]
    return ""


def broadcast(loss: torch.Tensor) -> str:
    """Where a hand-written difference was broadcast from a column or a row to a square, as "40x1 to 40x40";
    "" where none was. Pairwise differences on purpose follow a new dimension or a transposition, and do not
    count."""
    for node in nodes_of(loss, NEAR):
        before = [following for following, _ in node.next_functions if following is not None]
        if _name(node) != "Sub" or len(before) != 1 or _name(before[0]) in RESHAPING:
            continue
        after, given = _shape(node), _shape(before[0])
        if (
            len(after) == 2
            and after[0] == after[1] > 1
            and given in ((after[0], 1), (1, after[0]), after[:1])
        ):
            return f"{'x'.join(map(str, given))} to {'x'.join(map(str, after))}"
    return ""


def _shape(node: Any) -> tuple[int, ...]:
    """The shape of the output of an operation; () where the graph does not have it."""
    metadata = getattr(node, "_input_metadata", None)
    return tuple(metadata[0].shape) if metadata else ()


def _name(node: Any) -> str:
    """The operation of a node: `AddmmBackward0` is Addmm."""
    return "" if node is None else str(node.name()).rstrip("0123456789").removesuffix("Backward")


def constant_divisor(node: Any) -> float | None:
    """The number on the host (no tensor of the user's on a device) that an operation divides by, or by whose
    inverse it multiplies; None for other operations."""
    name = type(node).__name__
    other = getattr(node, "_saved_other", None) if name in ("DivBackward0", "MulBackward0") else None
    if not isinstance(other, torch.Tensor) or other.numel() != 1:
        return None
    if other.device.type != "cpu" or not float(other):
        return None
    return float(other) if name == "DivBackward0" else 1 / float(other)


def growth_in_graph(loss: torch.Tensor, count: int) -> float | None:
    """How many times its value the loss of two such batches is: 1 for a mean, 2 for a sum over the samples
    that is not divided by their number. Read from the graph of a loss that was written by hand; None where
    it is not clear."""
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
        if name.removesuffix("Backward0") not in BEFORE_REDUCTION:
            return None
        divisor *= constant_divisor(node) or 1.0
        node = node.next_functions[0][0]
    return None


class FirstGraphs:
    """`facts` of them; one that is not the same for all of them is the empty string."""

    def __init__(self) -> None:
        self._losses = self._outputs = 0
        self.facts: dict[str, Fact] = {}

    @property
    def wants_losses(self) -> bool:
        return self._losses < READ

    def read_output(self, output: torch.Tensor) -> None:
        if self._outputs < READ:
            self._outputs += 1
            self._agree("outputs_last_activation", last_activation(output))

    def read_loss(self, loss: torch.Tensor, matrices: Sequence[torch.Tensor]) -> None:
        """`matrices`: all trained weights with two dimensions or more."""
        self._losses += 1
        self._agree("loss_reduction_seen", reduction(loss))
        if shapes := broadcast(loss):
            self.facts["loss_broadcasts"] = shapes
        if "graph_activations" not in self.facts:
            self.facts["graph_activations"] = activations(loss)
        if "quantized" not in self.facts and matrices:
            self.facts["quantized"] = False if are_used_unchanged(loss, matrices) else ""

    def _agree(self, fact: str, word: str) -> None:
        self.facts[fact] = word if self.facts.get(fact, word) == word else ""


MOST_NODES = 20_000
POLES = ("LogBackward", "Log2Backward", "Log10Backward")


def first_nonfinite(loss: torch.Tensor, layout: Layout) -> dict[str, Fact]:
    """The earliest operation (by the order of the forward pass) with an input or output that is not finite,
    and the module whose parameters are nearest before it. Only values that autograd has saved can be
    read."""
    out: dict[str, Fact] = {"nonfinite_first_direction": "forward"}
    try:
        bad = [(node._sequence_nr(), node) for node in nodes_of(loss, MOST_NODES) if _holds_nonfinite(node)]
    except RuntimeError:  # the backward pass is over and has freed what was saved
        bad = []
    broken = [layout.names[place] for place, parameter in layout.alive() if not _finite(parameter)]
    if broken:
        out |= {"nonfinite_weights": ", ".join(broken[:10]), "nonfinite_first_direction": "weights"}
    if bad:
        first = min(bad, key=lambda pair: pair[0])[1]
        out["nonfinite_first_operation"] = first.name().removesuffix("0").removesuffix("Backward")
        given = _given_nonfinite(first)
        if given and not broken:
            out["nonfinite_first_direction"] = given
        module = _module_before(first, layout)
        if module:
            out["nonfinite_first_module"] = module
    return out


def _holds_nonfinite(node: Any) -> bool:
    """Whether an operation has saved such a value, or must have made one of the values that it has saved."""
    kind = node.name()
    if kind.startswith(POLES) and hasattr(node, "_saved_self"):
        return bool((node._saved_self.detach() <= 0).any())
    if kind.startswith("Div") and isinstance(getattr(node, "_saved_other", None), torch.Tensor):
        return bool((node._saved_other.detach() == 0).any()) or not _finite(node._saved_other)
    for name in dir(node):
        if name.startswith("_saved_"):
            saved = getattr(node, name)
            if isinstance(saved, torch.Tensor) and not _finite(saved):
                return True
    return False


def _given_nonfinite(node: Any) -> str:
    """ "inputs" or "targets" where an operation got values that are not finite and were not computed with
    gradients; "" elsewhere."""
    if getattr(node, "_saved_target", None) is not None and not _finite(node._saved_target):
        return "targets"
    taken = [getattr(node, name, None) for name in ("_saved_mat1", "_saved_input", "_saved_self")]
    bad = any(isinstance(t, torch.Tensor) and not t.requires_grad and not _finite(t) for t in taken)
    return "inputs" if bad and any(following is None for following, _ in node.next_functions) else ""


def _finite(tensor: torch.Tensor) -> bool:
    tensor = tensor.detach()
    if not tensor.is_floating_point() or tensor.layout is not torch.strided:
        return True
    return bool(torch.isfinite(tensor.sum())) or bool(torch.isfinite(tensor).all())


def _module_before(node: Any, layout: Layout) -> str:
    """The module that owns the parameter nearest to a node on the way back to the inputs."""
    for current in reachable([node], MOST_NODES):
        parameter = getattr(current, "variable", None)
        if parameter is not None and id(parameter) in layout.place:
            return layout.modules[int(layout.owner[layout.place[id(parameter)]])]
    return ""
