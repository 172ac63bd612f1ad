"""Compiles a model in several ways before and while it is trained, and says what was compiled."""

import os
import sys
import warnings

if sys.argv[1:]:  # to machine code, of which a second process would count what the first compiled
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
import torch
from torch import nn
from training import batch, made, report, train

GRAPHS = []
warnings.simplefilter("always")


def keeping(graph, inputs):
    GRAPHS.append(graph.code)
    return graph


def after_training(compiled, model, optimizer):
    """Graphs, losses, recompilations and what was reported of the compiler."""
    torch._dynamo.utils.counters.clear()
    GRAPHS.clear()
    with warnings.catch_warnings(record=True) as said:
        losses = [train(model, optimizer, step, step + 4, compiled) for step in range(0, 60, 4)]
        model.eval()
        with torch.no_grad():
            losses.append(compiled(batch(99)[0]).sum().item())
        model.train()
    stats = {
        key: dict(found)
        for key, found in torch._dynamo.utils.counters.items()
        if key in ("stats", "graph_break")
    }
    return [GRAPHS.copy(), losses, stats, sorted({str(w.message) for w in said}), sorted(vars(compiled))]


def whole(model, optimizer):
    return after_training(torch.compile(model, backend=keeping, fullgraph=True), model, optimizer)


def in_place(model, optimizer):
    model.compile(backend=keeping)
    return after_training(model, model, optimizer)


def part(model, optimizer):
    model.attends = torch.compile(model.attends, backend=keeping)
    return after_training(model, model, optimizer)


def with_hooks(model, optimizer):
    """Of the user's own."""
    model.last.register_forward_hook(lambda _module, _given, out: out * 2)
    model.norm.register_forward_hook(lambda _module, _given, out: out * 2)
    return after_training(torch.compile(model, backend=keeping), model, optimizer)


def function(model, optimizer):
    """The forward pass and the loss."""

    @torch.compile(backend=keeping)
    def step(x, y):
        return nn.functional.cross_entropy(model(x), y)

    return [
        after_training(torch.compile(lambda x: model(x), backend=keeping), model, optimizer),
        step(*batch(0)).item(),
    ]


def ahead_of_time(model, optimizer):
    return after_training(torch.compile(model, backend="aot_eager"), model, optimizer)


def inductor(model, optimizer):
    return after_training(torch.compile(model), model, optimizer)


def reduced(model, optimizer):
    return after_training(torch.compile(model, mode="reduce-overhead"), model, optimizer)


def tuned(model, optimizer):
    return after_training(torch.compile(model, mode="max-autotune"), model, optimizer)


LOOKS = (whole, in_place, part, with_hooks, function, ahead_of_time)
SLOW = (inductor, reduced, tuned)

if __name__ == "__main__":
    for steps in (0, 3, 40):
        for look in SLOW if "slow" in sys.argv else LOOKS:
            torch._dynamo.reset()
            model, optimizer = made()
            if steps:
                train(model, optimizer, 0, steps)
            report(f"{look.__name__} after {steps}", {"compiled": look}, model, optimizer)
