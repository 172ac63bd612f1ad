"""Faults of rate, schedule, momentum, batch, clipping, budget and regularization."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.recipe import Recipe
from benchmarks.gym.settings import COSINE_STEPS


def rate(recipe: Recipe, times: float) -> Recipe:
    return replace(recipe, lr=recipe.lr * times)


def no_warmup(recipe: Recipe, times: float) -> Recipe | None:
    """The rate at its peak from the first step; the peak a little higher than usual."""
    if not recipe.net.kind.startswith("transformer"):
        return None
    return replace(recipe, scheduler=COSINE_STEPS, lr=recipe.lr * times)


def decays_every_batch(recipe: Recipe, gamma: float) -> Recipe:
    schedule = f"torch.optim.lr_scheduler.ExponentialLR(optimizer, {gamma})"
    return replace(recipe, scheduler=schedule, per="step")


def drops_early(recipe: Recipe, share: float) -> Recipe:
    at = f"int({share} * EPOCHS * len(train_loader))"
    return replace(
        recipe,
        scheduler=f"torch.optim.lr_scheduler.MultiStepLR(optimizer, [{at}], gamma=1e-4)",
        per="step",
    )


def swings(recipe: Recipe, times: float) -> Recipe:
    """The rate alternates between far too high and far too low, epoch by epoch."""
    schedule = f"torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: {times} if e % 2 else 0.01)"
    return replace(recipe, scheduler=schedule, per="epoch")


def jumps_midway(recipe: Recipe, times: float) -> Recipe:
    schedule = (
        f"torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: {times} if e >= 0.5 * EPOCHS else 1.0)"
    )
    return replace(recipe, scheduler=schedule, per="epoch")


def momentum(recipe: Recipe, value: float) -> Recipe | None:
    if recipe.optimizer != "SGD":
        return None
    return replace(recipe, momentum=value)


def tiny_batch(recipe: Recipe, size: float) -> Recipe | None:
    if recipe.net.kind.endswith("-lm") or recipe.net.kind in ("segment", "rnn", "transformer"):
        return None  # thousands of steps
    return replace(recipe, batch=int(size), epochs=max(2, recipe.epochs // 4), scheduler="")


def whole_batch(recipe: Recipe, share: float) -> Recipe:
    return replace(
        recipe, batch=int(3000 * share), scheduler="" if recipe.per == "step" else recipe.scheduler
    )


def clipped(recipe: Recipe, norm: float) -> Recipe | None:
    return replace(recipe, clip=norm) if recipe.optimizer == "SGD" else None


def stopped(recipe: Recipe, share: float) -> Recipe:
    return replace(recipe, epochs=max(1, int(recipe.epochs * share)), scheduler="")


def resilient(recipe: Recipe, _: float) -> Recipe | None:
    """Rprop, which needs the whole gradient, on small batches."""
    return replace(recipe, optimizer="Rprop", weight_decay=0.0, options="", scheduler="", batch=16)


def adagrad(recipe: Recipe, lr: float) -> Recipe:
    return replace(recipe, optimizer="Adagrad", lr=lr, weight_decay=0.0, options="", scheduler="")


def decay(recipe: Recipe, value: float) -> Recipe:
    return replace(recipe, weight_decay=value * (10 if recipe.optimizer == "AdamW" else 1))


def dropout(recipe: Recipe, share: float) -> Recipe | None:
    if recipe.net.kind == "segment":
        return None
    return replace(recipe, net=replace(recipe.net, dropout=share))


def memorizes(recipe: Recipe, times: float) -> Recipe | None:
    """A wide net without decay or dropout, trained long on part of the data."""
    if recipe.net.kind != "mlp" or recipe.kind == "autoencoder":
        return None
    wide = tuple(max(256, 6 * h) for h in recipe.net.hidden)
    few = "keep = max(60, len(x_train) // 6)\nx_train, y_train = x_train[:keep], y_train[:keep]"
    return replace(recipe, net=replace(recipe.net, hidden=wide, dropout=0.0), weight_decay=0.0, spoil=few,
                   epochs=min(300, int(recipe.epochs * times)), optimizer="Adam", lr=2e-3, options="",
                   scheduler="")  # fmt: skip


def narrow(recipe: Recipe, width: float) -> Recipe | None:
    if recipe.net.kind not in ("mlp", "cnn", "segment") or (recipe.kind == "autoencoder" and width > 2):
        return None
    return replace(recipe, net=replace(recipe.net, hidden=tuple(int(width) for _ in recipe.net.hidden)))


def linear(recipe: Recipe, _: float) -> Recipe | None:
    return replace(recipe, net=replace(recipe.net, act="")) if recipe.net.kind in ("mlp", "cnn") else None


FAULTS = (
    Fault("rate-times", "learning-rate-too-high", rate, (10, 30, 100, 1000)),
    Fault("rate-over", "learning-rate-too-low", rate, (1e-2, 1e-3, 1e-4), ("undertrained",)),
    Fault("no-warmup", "missing-warmup", no_warmup, (3, 6), ("learning-rate-too-high",)),
    Fault("decay-every-batch", "learning-rate-schedule-fault", decays_every_batch, (0.9, 0.97)),
    Fault("drops-early", "learning-rate-schedule-fault", drops_early, (0.02, 0.06), onset=0.05),
    Fault("rate-swings", "learning-rate-schedule-fault", swings, (30, 100), ("learning-rate-too-high",)),
    Fault("rate-jumps", "learning-rate-schedule-fault", jumps_midway, (30, 100), ("learning-rate-too-high",),
          onset=0.5),
    Fault("momentum", "momentum-too-high", momentum, (0.99, 0.999), ("learning-rate-too-high",)),
    Fault("tiny-batch", "batch-too-small", tiny_batch, (1, 2), ("learning-rate-too-high",)),
    Fault("whole-batch", "batch-too-large", whole_batch, (0.3, 1), ("undertrained", "learning-rate-too-low")),
    Fault("clipped", "clip-too-tight", clipped, (1e-2, 1e-3, 1e-4)),
    Fault("stopped", "undertrained", stopped, (0.05, 0.12)),
    Fault("rprop", "unsuitable-optimizer", resilient, (1,)),
    Fault("adagrad", "unsuitable-optimizer", adagrad, (1e-3,), ("learning-rate-too-low", "undertrained")),
    Fault("decay", "weight-decay-too-high", decay, (0.03, 0.1, 0.5)),
    Fault("dropout", "dropout-too-high", dropout, (0.8, 0.95)),
    Fault("memorizes", "insufficient-regularization", memorizes, (4, 12), ("too-little-data",), onset=0.15,
          sees=("val",)),
    Fault("narrow", "insufficient-capacity", narrow, (1, 2)),
    Fault("linear", "insufficient-capacity", linear, (1,)),
)  # fmt: skip
