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
            "clip on one rank alone; and remove what cuts the gradient between the inputs and the loss"
        )
    return "remove what cuts the gradient between the inputs and the loss"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    idioms={
        "torch": "detach, .item(), .data, no_grad; a module in the wrapped model",
        "keras": "stop_gradient, NumPy, rounding, argmax",
        "jax": "stop_gradient, NumPy, rounding, argmax",
    },
    applicability="patch",
    causes=("detached-graph", "rank-desync"),
    expected="all trainable parameters get gradients",
)
