"""Healthy settings: task, data, model and optimizer together; each trains to a good model in seconds."""

from __future__ import annotations

import random
from dataclasses import replace

from benchmarks.gym import data as d
from benchmarks.gym.net import Net
from benchmarks.gym.recipe import Recipe

CE, BCE, MSE = "nn.CrossEntropyLoss()", "nn.BCEWithLogitsLoss()", "nn.MSELoss()"
COSINE_EPOCHS = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)"
COSINE_STEPS = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(train_loader))"
WARM_COSINE = (
    "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / (0.1 * EPOCHS * len(train_loader)))"
    " * (0.55 + 0.45 * math.cos(math.pi * s / (EPOCHS * len(train_loader)))))"
)
ONE_CYCLE = "torch.optim.lr_scheduler.OneCycleLR(optimizer, LR, total_steps=EPOCHS * len(train_loader))"
STEPS = "torch.optim.lr_scheduler.StepLR(optimizer, max(1, EPOCHS // 3), 0.3)"

CONTRAST = """

def contrast(out, y, temperature=0.2):
    out, self = F.normalize(out, dim=1), torch.eye(len(y), dtype=torch.bool)
    scores = (out @ out.T / temperature).masked_fill(self, -1e9)
    same = (y[:, None] == y[None]) & ~self
    return -((scores - torch.logsumexp(scores, 1, keepdim=True)) * same).sum() / same.sum().clamp(min=1)

"""

SETTINGS: tuple[Recipe, ...] = (
    Recipe(setting="digits-mlp-sgd", task="classification", kind="classes", data=d.DIGITS, scale=d.SIXTEENTHS,
           net=Net("mlp", 64, 10), criterion=CE, lr=0.1, epochs=20),
    Recipe(setting="digits-deep-mlp-adam", task="classification", kind="classes", data=d.DIGITS, scale=d.SIXTEENTHS,
           net=Net("mlp", 64, 10, (96, 96, 64), dropout=0.1), criterion=CE, optimizer="AdamW", lr=2e-3,
           weight_decay=0.01, batch=32, epochs=15, scheduler=COSINE_STEPS, per="step"),
    Recipe(setting="digits-bn-mlp-sgd", task="classification", kind="classes", data=d.DIGITS, scale=d.SIXTEENTHS,
           net=Net("mlp", 64, 10, (64, 64), norm="batch"), criterion=CE, lr=0.05, weight_decay=5e-4, batch=64,
           epochs=15, scheduler=STEPS),
    Recipe(setting="digits-cnn-adam", task="classification", kind="classes", data=d.DIGITS, scale=d.SQUARE,
           net=Net("cnn", 1, 10, (12, 24), norm="batch"), criterion=CE, optimizer="Adam", lr=2e-3, batch=32, epochs=8),
    Recipe(setting="textures-cnn-sgd", task="classification", kind="classes", data=d.TEXTURES,
           net=Net("cnn", 1, 6, (12, 24)), criterion=CE, lr=0.03, weight_decay=1e-4, batch=32, epochs=14,
           scheduler=COSINE_EPOCHS, options=", nesterov=True"),
    Recipe(setting="cancer-mlp-sgd", task="classification", kind="binary", data=d.CANCER, scale=d.STANDARDIZE,
           net=Net("mlp", 30, 1, (16,), squeeze=True), criterion=BCE, lr=0.03, batch=32, epochs=25),
    Recipe(setting="wine-mlp-adam", task="classification", kind="classes", data=d.WINE, scale=d.STANDARDIZE,
           net=Net("mlp", 13, 3, (32,), act="nn.Tanh()"), criterion=CE, optimizer="Adam", lr=5e-3, batch=16,
           epochs=40),
    Recipe(setting="clusters-mlp-onecycle", task="classification", kind="classes", data=d.CLUSTERS,
           scale=d.STANDARDIZE, net=Net("mlp", 20, 5, (128, 64), act="nn.GELU()"), criterion=CE, lr=0.2, batch=64,
           epochs=14, scheduler=ONE_CYCLE, per="step"),
    Recipe(setting="circles-mlp-sgd", task="classification", kind="binary", data=d.CIRCLES,
           net=Net("mlp", 2, 1, (16, 16), act="nn.Tanh()", squeeze=True), criterion=BCE, lr=0.2, batch=64, epochs=30),
    Recipe(setting="moons-mlp-rmsprop", task="classification", kind="classes", data=d.MOONS,
           net=Net("mlp", 2, 2, (24, 24)), criterion=CE, optimizer="RMSprop", momentum=0.0, lr=3e-3, batch=50,
           epochs=20),
    Recipe(setting="diabetes-mlp-sgd", task="regression", kind="regression", data=d.DIABETES,
           scale=d.STANDARDIZE + d.STANDARDIZE_TARGET, net=Net("mlp", 10, 1, (16,), squeeze=True), criterion=MSE,
           lr=5e-3, batch=32, epochs=30),
    Recipe(setting="friedman-mlp-adam", task="regression", kind="regression", data=d.FRIEDMAN,
           scale=d.STANDARDIZE + d.STANDARDIZE_TARGET, net=Net("mlp", 10, 1, (64, 64), squeeze=True), criterion=MSE,
           optimizer="Adam", lr=2e-3, batch=64, epochs=20),
    Recipe(setting="labelsets-mlp-adam", task="multi-label", kind="multilabel", data=d.LABEL_SETS,
           scale=d.STANDARDIZE, net=Net("mlp", 20, 6, (64,)), criterion=BCE, optimizer="Adam", lr=3e-3, batch=64,
           epochs=20),
    Recipe(setting="digits-autoencoder", task="autoencoder", kind="autoencoder", data=d.PICTURES, scale=d.SIXTEENTHS,
           net=Net("mlp", 64, 64, (64, 12, 64)), criterion=MSE, optimizer="Adam", lr=3e-3, batch=64, epochs=25),
    Recipe(setting="waves-gru-adam", task="sequence", kind="classes", data=d.WAVES,
           net=Net("rnn", 1, 4, (24, 1)), criterion=CE, optimizer="Adam", lr=6e-3, batch=64, epochs=12, clip=1.0),
    Recipe(setting="recall-rnn-sgd", task="sequence", kind="classes", data=d.RECALL,
           net=Net("rnn", 4, 4, (32, 1), cell="RNN"), criterion=CE, lr=0.05, batch=64, epochs=20, clip=1.0),
    Recipe(setting="recall-transformer-adamw", task="sequence", kind="classes", data=d.RECALL,
           net=Net("transformer", 4, 4, (32, 2), dropout=0.1), criterion=CE, optimizer="AdamW", lr=2e-3, batch=64,
           epochs=8, scheduler=WARM_COSINE, per="step"),
    Recipe(setting="text-gru-adam", task="language-model", kind="lm", data=d.SENTENCES,
           net=Net("rnn-lm", 27, 27, (48, 1)), criterion=CE, optimizer="Adam", lr=5e-3, batch=32, epochs=4, clip=1.0),
    Recipe(setting="text-transformer-adamw", task="language-model", kind="lm", data=d.SENTENCES,
           net=Net("transformer-lm", 27, 27, (48, 2)), criterion=CE, optimizer="AdamW", lr=3e-3, batch=32, epochs=4,
           scheduler=WARM_COSINE, per="step", weight_decay=0.01),
    Recipe(setting="blobs-segment-adam", task="segmentation", kind="segment", data=d.BLOBS_IN_IMAGES,
           net=Net("segment", 1, 1, (8, 8)), criterion=BCE, optimizer="Adam", lr=5e-3, batch=32, epochs=8),
    Recipe(setting="digits-contrastive", task="contrastive", kind="contrastive", data=d.DIGITS, scale=d.SIXTEENTHS,
           net=Net("mlp", 64, 16, (96, 64)), criterion="contrast", imports=CONTRAST, optimizer="Adam", lr=2e-3,
           batch=96, epochs=20),
    Recipe(setting="clusters-contrastive", task="contrastive", kind="contrastive", data=d.CLUSTERS,
           scale=d.STANDARDIZE, net=Net("mlp", 20, 8, (64, 64)), criterion="contrast", imports=CONTRAST,
           optimizer="AdamW", lr=3e-3, batch=128, epochs=14, scheduler=COSINE_STEPS, per="step"),
)  # fmt: skip


def variant(recipe: Recipe, number: int) -> Recipe:
    """Another healthy version of a setting (0: as it is): width, batch, rate and budget a little different."""
    if number == 0:
        return recipe
    rng = random.Random(f"{recipe.setting} {number}")
    width = rng.choice((0.75, 1, 1, 1.5)) if recipe.net.kind in ("mlp", "cnn", "segment") else 1
    batch = rng.choice((0.5, 1, 1, 2))
    return replace(
        recipe,
        net=replace(recipe.net, hidden=tuple(max(4, int(h * width)) for h in recipe.net.hidden)),
        batch=max(8, int(recipe.batch * batch)),
        lr=recipe.lr * rng.choice((0.6, 0.8, 1, 1.2)) * batch**0.5,
        epochs=max(3, int(recipe.epochs * rng.choice((0.9, 1, 1.3, 1.6)) * batch**0.5)),
    )
