"""Samples of quantized-much-worse."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Event, Floats, Panel, Run
from traindx.vocabulary.setup import Setup

N = 40
IN_USE = Setup().with_facts({"quantized": True, "quantized_in": "evaluation"}, "capture")
BOTH = Setup().with_facts({"quantized": True, "quantized_in": "both"}, "capture")


def kept(*ends: float) -> dict[str, Panel]:
    values = np.array(ends)[None] + 0.01 * make.rng(7).standard_normal((N, len(ends)))
    return {
        "quant/kept": Panel(np.arange(N, dtype=float), tuple(f"body.{i}" for i in range(len(ends))), values)
    }


def error(*ends: float) -> dict[str, Panel]:
    return {"quant/error": kept(*ends)["quant/kept"]}


def begun(rise: float) -> Run:
    """Quantization begins after three quarters of the run, and the loss rises by so much."""
    loss: Floats = make.healthy_loss(200)
    event = Event("note", "the weights of body.0 are quantized", 150.0, code="quantization-begins")
    return make.run({"train/loss": loss + rise * (np.arange(200) >= 150)}, events=(event,), setup=BOTH)


def fires() -> dict[str, Run]:
    loss = make.healthy_loss(N)
    accuracy = 0.95 - 0.8 * np.exp(-np.arange(N) / 5)
    flat = 2.3 + 0.01 * make.rng(4).standard_normal(N)
    return {
        "two losses": make.run({"val/loss": loss, "val/quantized_loss": loss + 1.2}),
        "two accuracies": make.run({"val/accuracy": accuracy, "val/accuracy_int8": accuracy - 0.5}),
        "the gap, logged": make.run({"train/loss": loss, "quant/loss_gap": np.full(N, 1.5)}),
        "rounded in evaluation only": make.run(
            {"train/loss": loss, "val/loss": 0.1 * loss + 2.2}, setup=IN_USE, panels=kept(0.7, 0.6)
        ),
        "much worse once quantization begins": begun(1.5),
        "the same, of which no weights were measured": make.run(
            {"train/loss": loss, "val/loss": 0.1 * loss + 2.2}, setup=IN_USE
        ),
        "rounded to other weights in evaluation": make.run(
            {"train/loss": loss}, setup=IN_USE, panels={**kept(0.8, 0.7), **error(0.3, 0.8)}
        ),
        "little of the weights left": make.run({"train/loss": flat}, setup=BOTH, panels=kept(0.6, 0.05)),
    }


def stays_quiet() -> dict[str, Run]:
    loss = make.healthy_loss(N)
    noise = 0.02 * make.rng(8).standard_normal(N)
    accuracy = 0.95 - 0.8 * np.exp(-np.arange(N) / 5)
    return {
        "a little worse": make.run({"val/loss": loss, "val/quantized_loss": loss + 0.1 + noise}),
        "accuracies equal": make.run({"val/accuracy": accuracy, "val/accuracy_int8": accuracy - 0.01}),
        "hardly worse once quantization begins": begun(0.05),
        "healthy ternary weights": make.run({"train/loss": loss}, setup=BOTH, panels=kept(0.6, 0.4)),
        "rounded in evaluation only, to many bits": make.run(
            {"train/loss": loss, "val/loss": loss + 0.1 + noise}, setup=IN_USE, panels=kept(0.99, 1.0)
        ),
        "rounded a little in evaluation": make.run(
            {"train/loss": loss}, setup=IN_USE, panels={**kept(0.99, 0.98), **error(0.1, 0.25)}
        ),
        "plain signs in training": make.run(
            {"train/loss": loss}, setup=BOTH, panels={**kept(12.0), **error(13.0)}
        ),
        "trained quantized, and overfitted": make.run(
            {"train/loss": loss, "val/loss": 0.1 * loss + 2.2}, setup=BOTH, panels=kept(0.9, 0.8)
        ),
    }
