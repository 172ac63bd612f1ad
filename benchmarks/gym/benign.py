"""Healthy recipes that look like trouble: what a diagnosis must leave in peace."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym import data as d
from benchmarks.gym.net import Net
from benchmarks.gym.quantized import LOOK_ALIKES
from benchmarks.gym.recipe import Recipe
from benchmarks.gym.scripts import ADVERSARIAL, REINFORCE
from benchmarks.gym.settings import CE, SETTINGS, STEPS

BY_NAME = {r.setting: r for r in SETTINGS}
PRETRAIN = """
warm = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(ROUNDS):
    for x, y in train_loader:
        warm.zero_grad()
        criterion = nn.CrossEntropyLoss()
        criterion(model(x), y).backward()
        warm.step()
"""
RESTARTS = "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3 * len(train_loader))"
LONG_WARMUP = "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / (0.4 * EPOCHS * len(train_loader))))"


def like(name: str, setting: str, pattern: str | None = None, **changes: object) -> Recipe:
    """A benign recipe, from a setting with changes."""
    return replace(BY_NAME[name], setting=setting, pattern=pattern, **changes)  # type: ignore[arg-type]


def net(name: str, **changes: object) -> Net:
    return replace(BY_NAME[name].net, **changes)  # type: ignore[arg-type]


BENIGN: tuple[Recipe, ...] = (
    like("digits-mlp-sgd", "small-batch-noise", batch=4, lr=0.01, epochs=4),
    like("clusters-mlp-onecycle", "warm-restarts", "restart-bump", scheduler=RESTARTS, lr=0.1, epochs=12),
    like("digits-mlp-sgd", "short-fine-tune", pretrain=PRETRAIN.replace("ROUNDS", "6"), optimizer="Adam", lr=3e-4,
         epochs=4),
    like("digits-cnn-adam", "frozen-base-fine-tune", pretrain=PRETRAIN.replace("ROUNDS", "2"), epochs=4,
         init="for p in model.stem.parameters():\n    p.requires_grad = False\nnn.init.zeros_(model.head.weight)"),
    like("digits-deep-mlp-adam", "dropout-gap", "regularization-gap",
         net=net("digits-deep-mlp-adam", dropout=0.5), epochs=20),
    Recipe(setting="parity", task="classification", kind="classes", data=d.PARITY, net=Net("mlp", 12, 2, (64,)),
           criterion=CE, lr=0.01, batch=64, epochs=40, pattern="s-curve"),
    like("friedman-mlp-adam", "negative-loss",
         criterion="lambda out, y: F.gaussian_nll_loss(out, y, torch.full_like(y, 0.05))"),
    like("textures-cnn-sgd", "loss-to-zero", "converged", epochs=22, lr=0.05),
    like("wine-mlp-adam", "long-converged", "converged", epochs=150),
    like("digits-mlp-sgd", "smoothed-labels", criterion="nn.CrossEntropyLoss(label_smoothing=0.2)", epochs=25),
    Recipe(setting="overlapping-classes", task="classification", kind="classes", data=d.OVERLAPPING,
           scale=d.STANDARDIZE, net=Net("mlp", 20, 2, (16,)), criterion=CE, lr=0.01, weight_decay=1e-3, batch=64,
           epochs=15),
    like("digits-bn-mlp-sgd", "always-clipped", clip=0.3, lr=0.15),
    like("digits-mlp-sgd", "one-bad-batch", "recovered-spike", clip=1.0, epochs=20,
         on_batch="if step == 150:\n    x = x * 30"),
    like("friedman-mlp-adam", "scaled-accumulation", batch=16, loss="loss = criterion(out, y) / 4", zero="",
         step="if (i + 1) % 4 == 0:\n    optimizer.step()\n    optimizer.zero_grad()"),
    like("text-transformer-adamw", "long-warmup", "warmup-phase", scheduler=LONG_WARMUP, epochs=4),
    like("digits-bn-mlp-sgd", "drops-with-rate", lr=0.3, scheduler=STEPS, epochs=24, batch=32),
    like("text-gru-adam", "still-learning", "still-learning", epochs=2),
    like("wine-mlp-adam", "tiny-data", data=d.bundled("load_wine", 80, 40), epochs=30),
    like("diabetes-mlp-sgd", "noisy-target", epochs=20),
    Recipe(setting="policy-gradient", task="control", kind="own", data="", net=Net("mlp", 8, 2), criterion="",
           whole=REINFORCE),
    Recipe(setting="adversarial", task="generation", kind="own", data="", net=Net("mlp", 4, 1), criterion="",
           whole=ADVERSARIAL, pattern="adversarial-balance"),
    like("cancer-mlp-sgd", "full-batch", batch=512, lr=0.3, epochs=80),
    *(made(BY_NAME[name], setting) for setting, name, made in LOOK_ALIKES),
)  # fmt: skip
