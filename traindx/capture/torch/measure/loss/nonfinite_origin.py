"""The operation in which a loss became NaN or infinite, read from its graph before that is freed."""

from __future__ import annotations

from typing import Any

import torch

from traindx.capture.session.layout import Layout
from traindx.capture.torch.measure.loss.graph import nodes_of, reachable
from traindx.vocabulary.setup import Fact

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
        out["nonfinite_weights"] = ", ".join(broken[:10])
        out["nonfinite_first_direction"] = "weights"
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
