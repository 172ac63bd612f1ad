"""Faults of the training loop, of resuming, and of time and memory."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.recipe import Recipe


def never_zeroed(recipe: Recipe, _: float) -> Recipe:
    return replace(recipe, zero="")


def cut(recipe: Recipe, _: float) -> Recipe:
    return replace(recipe, net=replace(recipe.net, cut="h = h.detach()"))


def rounded(recipe: Recipe, _: float) -> Recipe | None:
    return (
        replace(recipe, net=replace(recipe.net, cut="h = torch.round(h)"))
        if recipe.net.kind == "mlp"
        else None
    )


def frozen(recipe: Recipe, _: float) -> Recipe:
    """All but the norms and biases of the head stay as they were drawn."""
    body = "for name, p in model.named_parameters():\n    p.requires_grad = name == 'head.bias'"
    return replace(recipe, init=body)


def frozen_trunk(recipe: Recipe, _: float) -> Recipe:
    body = "for name, p in model.named_parameters():\n    p.requires_grad = name.startswith('head')"
    return replace(recipe, init=body)


def unregistered(recipe: Recipe, kind: float) -> Recipe:
    return replace(recipe, params="model.head.parameters()" if kind else "[model.head.bias]")


def other_model(recipe: Recipe, _: float) -> Recipe:
    lazy = "\nmodel(x_train[:2])" if recipe.net.kind == "cnn" else ""
    return replace(recipe, after_optimizer=f"model = Net(){lazy}")


def no_step(recipe: Recipe, _: float) -> Recipe:
    return replace(recipe, step="")


def mode_forgotten(recipe: Recipe, _: float) -> Recipe | None:
    if not (recipe.net.dropout or recipe.net.norm == "batch"):
        return None
    return replace(recipe, epoch_start="if epoch == 1:\n    model.train()")


def never_eval(recipe: Recipe, share: float) -> Recipe | None:
    if recipe.net.kind == "segment" or not (recipe.net.dropout or recipe.net.norm == "batch"):
        return None
    net = replace(recipe.net, dropout=max(share, recipe.net.dropout))
    return replace(recipe, net=net, eval_mode="")


def accumulated(recipe: Recipe, times: float) -> Recipe:
    """Gradients of several batches are summed, not averaged."""
    n = int(times)
    return replace(
        recipe,
        batch=max(4, recipe.batch // n),
        step=f"if (i + 1) % {n} == 0:\n    optimizer.step()\n    optimizer.zero_grad()",
        zero="",
    )


def one_batch(recipe: Recipe, _: float) -> Recipe:
    return replace(recipe, on_batch="x, y = held", after_optimizer="held = next(iter(train_loader))")


def resumed(recipe: Recipe, times: float) -> Recipe:
    """The second half starts with a new optimizer at the first rate, without its state or its schedule."""
    lines = [
        f"if epoch == max(2, int(EPOCHS * 0.6)):\n    optimizer = {maker(recipe, times)}",
        recipe.epoch_start,
    ]
    return replace(recipe, epoch_start="\n".join(lines))


def maker(recipe: Recipe, times: float) -> str:
    return f"type(optimizer)(model.parameters(), lr=LR * {times})"


def slow_loader(recipe: Recipe, seconds: float) -> Recipe | None:
    if recipe.net.kind.endswith("-lm"):
        return None
    return replace(recipe, epochs=max(3, recipe.epochs // 3), spoil_late=SLOW.replace("SECONDS", str(seconds)),
                   scheduler="")  # fmt: skip


SLOW = """

class TensorDataset(TensorDataset):
    def __getitem__(self, index):
        time.sleep(SECONDS)
        return super().__getitem__(index)

"""


def creeping(recipe: Recipe, times: float) -> Recipe:
    """Every step works through all that earlier steps kept."""
    kept = "held.append(torch.cat([p.detach().flatten() for p in model.parameters()])[:4000])\n"
    kept += f"for old in held * {int(times)}:\n    old = (old * 2).sin().sum()"
    return replace(recipe, after_optimizer="held = []", step=recipe.step + "\n" + kept)


def leaking(recipe: Recipe, megabytes: float) -> Recipe:
    """Every step keeps its loss with the graph that made it, and a copy of what it worked on."""
    size = int(megabytes * 2**18)
    kept = f"held.append((loss, torch.cat([p.detach().flatten() for p in model.parameters()])[:1].expand({size}) + 0))"
    return replace(recipe, after_optimizer="held = []", step=recipe.step + "\n" + kept)


FAULTS = (
    Fault("no-zero-grad", "missing-zero-grad", never_zeroed),
    Fault("detached", "detached-graph", cut, (1,), ("frozen-parameters",)),
    Fault("rounded", "detached-graph", rounded),
    Fault("frozen", "frozen-parameters", frozen, (1,), ("params-not-in-optimizer",)),
    Fault(
        "frozen-trunk",
        "frozen-parameters",
        frozen_trunk,
        (1,),
        ("params-not-in-optimizer", "detached-graph"),
    ),
    Fault("unregistered", "params-not-in-optimizer", unregistered, (0, 1), ("frozen-parameters",)),
    Fault("other-model", "params-not-in-optimizer", other_model, (1,), ("missing-optimizer-step",)),
    Fault(
        "no-step", "missing-optimizer-step", no_step, (1,), ("params-not-in-optimizer", "frozen-parameters")
    ),
    Fault("mode-forgotten", "eval-mode-training", mode_forgotten, (1,), sees=("val",)),
    Fault("never-eval", "train-mode-evaluation", never_eval, (0.5, 0.7), harm="report", sees=("val",)),
    Fault("summed-batches", "unscaled-grad-accumulation", accumulated, (8, 16), ("learning-rate-too-high",)),
    Fault("one-batch", "repeated-batch", one_batch),
    Fault("resumed", "resume-without-state", resumed, (1, 5), ("learning-rate-schedule-fault",), onset=0.6),
    Fault("slow-loader", "data-loader-bottleneck", slow_loader, (5e-4, 2e-3), harm="time", sees=("clock",)),
    Fault("creeping", "step-time-creep", creeping, (1, 3), ("memory-leak",), harm="time", sees=("clock",)),
    Fault("leaking", "memory-leak", leaking, (0.5, 2), harm="memory", sees=("clock",)),
)
