"""Reattach the graph.

Remove .detach(), .data, .item(), numpy, torch.no_grad and new tensors from the path between inputs and loss; use
straight-through forms for rounding and argmax. In distributed training call the wrapped model, not the module
inside: the wrapper is what averages the gradients.

Verify: no parameter of the optimizer has a gradient of None after backward.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    if (setup.number("world_size") or setup.number("ranks_reporting") or 1) > 1:
        return (
            "call the wrapped model on every rank, not the module in it; divide what is summed by hand by the number "
            "of processes, once; draw and load weights before wrapping; let no rank skip or clip by itself; and remove "
            "detach and no_grad between the inputs and the loss"
        )
    return "remove detach, .item(), .data and no_grad between the inputs and the loss, and call the wrapped model"


FIX = Fix(
    slug="reattach-graph",
    title="Reattach the graph",
    applicability="patch",
    causes=("detached-graph", "rank-desync"),
    expected="all trainable parameters get gradients",
    page=page(__doc__),
    propose=propose,
)
