"""Reattach the graph.

Remove .detach(), .data, .item(), NumPy calls, torch.no_grad and newly created tensors from the path
between inputs and loss. Use straight-through estimators for rounding and argmax. In distributed training
call the wrapped model, not the module inside it: the wrapper averages the gradients.

Verify: no parameter in the optimizer has a gradient of None after the backward pass.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    if (setup.number("world_size") or setup.number("ranks_reporting") or 1) > 1:
        return (
            "call the wrapped model on every rank, not the module in it; divide gradients summed by hand by "
            "the number of processes, once; initialize or load weights before wrapping; never skip or "
            "clip on one rank alone; and remove detach and no_grad between the inputs and the loss"
        )
    remove = "remove detach, .item(), .data and no_grad between the inputs and the loss"
    return f"{remove}, and call the wrapped model"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=("detached-graph", "rank-desync"),
    expected="all trainable parameters get gradients",
)
