"""Faults of initialization, activations, depth, normalization, outputs, loss and number formats."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.recipe import Recipe

EVERY = "for p in model.parameters():\n    if p.dim() > 1:\n        "
LINEAR = ("mlp", "cnn", "segment")


def start(recipe: Recipe, std: float) -> Recipe:
    return replace(recipe, init=EVERY + f"nn.init.normal_(p, 0.0, {std})")


def alike(recipe: Recipe, value: float) -> Recipe:
    return replace(recipe, init=EVERY + f"nn.init.constant_(p, {value})")


def sigmoids(recipe: Recipe, layers: float) -> Recipe | None:
    if recipe.net.kind != "mlp":
        return None
    width = max(recipe.net.hidden)
    net = replace(recipe.net, hidden=(width,) * int(layers), act="nn.Sigmoid()", norm="", dropout=0.0)
    return replace(recipe, net=net)


def deep(recipe: Recipe, layers: float) -> Recipe | None:
    if recipe.net.kind != "mlp":
        return None
    net = replace(
        recipe.net, hidden=(max(recipe.net.hidden),) * int(layers), act="nn.ReLU()", norm="", dropout=0.0
    )
    return replace(recipe, net=net)


def silent(recipe: Recipe, bias: float) -> Recipe | None:
    if recipe.net.kind not in LINEAR or "ReLU" not in recipe.net.act or recipe.net.norm:
        return None
    body = "for name, p in model.named_parameters():\n    if p.dim() == 1 and not name.startswith('head'):\n"
    return replace(recipe, init=body + f"        nn.init.constant_(p, {bias})")


def recurrence(recipe: Recipe, gain: float) -> Recipe | None:
    if recipe.net.kind != "rnn":
        return None
    init = (
        "for name, p in model.body.named_parameters():\n    if 'weight_hh' in name:\n"
        f"        nn.init.orthogonal_(p, {gain})"
    )
    net = replace(recipe.net, cell="RNN", cell_options=", nonlinearity='relu'")
    return replace(recipe, net=net, init=init, clip=None, optimizer="SGD", lr=0.05)


def stale(recipe: Recipe, value: float) -> Recipe | None:
    if recipe.net.norm != "batch":
        return None
    return replace(recipe, net=replace(recipe.net, norm_options=f", momentum={value}"))


def ends_with(code: str, kinds: tuple[str, ...]) -> object:
    def change(recipe: Recipe, _: float) -> Recipe | None:
        return replace(recipe, net=replace(recipe.net, out=code)) if recipe.kind in kinds else None

    return change


def doubled(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind not in ("classes", "lm"):
        return None
    return replace(recipe, net=replace(recipe.net, out="out = torch.softmax(out, dim=1)"))


def sigmoid_twice(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind not in ("binary", "segment"):
        return None
    return replace(recipe, net=replace(recipe.net, out="out = torch.sigmoid(out)"))


def loss_as(code: str, kinds: tuple[str, ...]) -> object:
    """Another training loss; the script's validation uses it too."""

    def change(recipe: Recipe, _: float) -> Recipe | None:
        if recipe.kind not in kinds:
            return None
        classes = str(recipe.net.outputs)
        return replace(recipe, criterion=code.replace("K", classes))

    return change


def across_batch(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind != "classes":
        return None
    return replace(recipe, criterion="lambda out, y: F.nll_loss(F.log_softmax(out, dim=0), y)")


def logs_of_zero(recipe: Recipe, scale: float) -> Recipe | None:
    """-log p by hand, without a floor, on inputs that make some p zero."""
    if recipe.kind == "classes":
        code = "lambda out, y: -torch.log(torch.softmax(out, dim=1))[torch.arange(len(y)), y].mean()"
    elif recipe.kind == "binary":
        code = ("lambda out, y: -(y * torch.log(torch.sigmoid(out)) + (1 - y) * torch.log(1 - torch.sigmoid(out)))"
                ".mean()")  # fmt: skip
    else:
        return None
    init = EVERY + f"p.data.mul_({scale})"
    return replace(recipe, criterion=code, init=init)


def root_of_zero(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind != "regression":
        return None
    code = "lambda out, y: (out - y).clamp(min=0).sqrt().mean() + ((out - y) ** 2).mean()"
    return replace(recipe, criterion=code)


def half(recipe: Recipe, scale: float) -> Recipe | None:
    """Loss scaled by a constant, gradients kept in float16, no check for overflow."""
    if recipe.net.kind != "mlp":
        return None
    backward = (
        f"(loss * {scale!r}).backward()\nfor p in model.parameters():\n    if p.grad is not None:\n"
        f"        p.grad = p.grad.half().float() / {scale!r}"
    )
    return replace(recipe, backward=backward)


def brain_weights(recipe: Recipe, times: float) -> Recipe | None:
    """Weights kept in bfloat16 with a small rate: most updates round to nothing."""
    if recipe.net.kind != "mlp" or recipe.net.norm:
        return None
    body = "model.to(torch.bfloat16)\nmodel.register_forward_pre_hook(lambda m, a: (a[0].bfloat16(),))\n"
    body += "model.register_forward_hook(lambda m, a, out: out.float())"
    return replace(recipe, init=body, lr=recipe.lr * times, epochs=recipe.epochs)


CLASSES = ("classes",)
FAULTS = (
    Fault("start-wide", "bad-initialization", start, (1.0, 3.0)),
    Fault("start-narrow", "bad-initialization", start, (1e-3, 1e-5)),
    Fault("start-alike", "bad-initialization", alike, (0.0, 0.02)),
    Fault("sigmoids", "saturating-activations", sigmoids, (5, 8), ("deep-without-skip-or-norm",)),
    Fault("deep", "deep-without-skip-or-norm", deep, (12, 20), ("bad-initialization",)),
    Fault("silent-units", "dead-relus", silent, (-3, -10), ("bad-initialization",)),
    Fault("recurrence", "exploding-recurrence", recurrence, (1.2, 1.5), ("bad-initialization",)),
    Fault("stale-statistics", "stale-normalization-statistics", stale, (0.0, 1e-3), sees=("val",)),
    Fault("relu-logits", "wrong-output-activation", ends_with("out = torch.relu(out)", ("classes", "lm", "binary"))),
    Fault("bounded-output", "wrong-output-activation", ends_with("out = torch.sigmoid(out)", ("regression",))),
    Fault("positive-output", "wrong-output-activation", ends_with("out = torch.relu(out)", ("regression",))),
    Fault("double-softmax", "double-softmax", doubled),
    Fault("sigmoid-twice", "double-softmax", sigmoid_twice, (1,), ("wrong-output-activation",)),
    Fault("squared-ids", "wrong-loss", loss_as("lambda out, y: ((out.argmax(1) - y) ** 2.0 + out.sum(1) * 0).mean()",
                                              CLASSES)),
    Fault("absolute-softmax", "wrong-loss",
          loss_as("lambda out, y: (torch.softmax(out, 1) - F.one_hot(y, K)).abs().mean()", CLASSES)),
    Fault("softmax-over-batch", "wrong-loss", across_batch),
    Fault("broadcast", "wrong-loss", loss_as("lambda out, y: ((out[:, None] - y[None]) ** 2).mean()", ("regression",))),
    Fault("summed", "wrong-loss", loss_as("nn.CrossEntropyLoss(reduction='sum')", CLASSES), (1,),
          ("learning-rate-too-high",)),
    Fault("logs-of-zero", "unstable-numerics", logs_of_zero, (4, 12), ("bad-initialization",)),
    Fault("root-of-zero", "unstable-numerics", root_of_zero),
    Fault("half-overflow", "half-precision-range", half, (2.0**20, 2.0**24)),
    Fault("half-underflow", "half-precision-range", half, (2.0**-14, 2.0**-20)),
    Fault("bf16-weights", "half-precision-range", brain_weights, (0.1, 0.02), ("learning-rate-too-low",)),
)  # fmt: skip
