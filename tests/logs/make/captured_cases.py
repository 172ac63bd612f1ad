"""The cases of `captured_training.py`: what each does otherwise than the plain training."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A net of `hidden` layers on 32 inputs, trained on 10 classes or (`task` "values") on one number."""

    task: str = "classes"
    loss: str = ""
    hidden: tuple[int, ...] = (64,)
    act: str = "ReLU"
    last: str = ""
    init: str = ""
    norm: bool = False
    dropout: float = 0.0
    cut: str = ""
    trains: str = "all"
    lr: float = 0.1
    momentum: float = 0.9
    decay: float = 0.0
    adam: bool = False
    epochs: int = 12
    batch: int = 50
    accumulate: int = 1
    divide: bool = True
    zero: bool = True
    zero_early: bool = False
    step: bool = True
    per_batch: bool = False
    clip_after: bool = False
    stays_eval: bool = False
    evaluates: bool = True
    data: str = ""
    inputs: float = 1.0
    held_inputs: float = 1.0
    targets: float = 1.0
    shuffle: bool = True


CASES: dict[str, Case] = {
    "healthy": Case(),
    "healthy_norm": Case(hidden=(64, 64), norm=True),
    "healthy_tanh": Case(hidden=(64, 64), act="Tanh"),
    "healthy_deep": Case(hidden=(64,) * 11, init="he", lr=0.02),
    "healthy_dropout": Case(dropout=0.3),
    "healthy_values": Case(task="values", lr=0.02, epochs=25),
    "healthy_accumulation": Case(accumulate=4, batch=16),
    "healthy_frozen_base": Case(hidden=(256, 256), trains="frozen", lr=0.02),
    "healthy_adam": Case(adam=True, lr=0.003),
    "rate_10": Case(lr=10.0),
    "rate_tiny": Case(lr=1e-5),
    "deep_sigmoid": Case(hidden=(64,) * 10, act="Sigmoid"),
    "deep_relu": Case(hidden=(64,) * 10),
    "deep_tanh": Case(hidden=(64,) * 12, act="Tanh", init="0.05"),
    "weights_large": Case(hidden=(64,) * 3, init="1.0"),
    "weights_tiny": Case(hidden=(64,) * 4, init="0.001"),
    "weights_zero": Case(init="0.0"),
    "dead_bias": Case(init="dead"),
    "saturated": Case(act="Tanh", inputs=300.0, hidden=(32, 32, 32), lr=2.0),
    "decay_1": Case(decay=1.0),
    "never_cleared": Case(zero=False),
    "never_cleared_slow": Case(zero=False, lr=0.005, momentum=0.0),
    "strangers": Case(trains="strangers"),
    "bias_only": Case(trains="bias"),
    "frozen_trunk": Case(trains="frozen", hidden=(2, 2), lr=1e-3),
    "detached": Case(cut="Detach", hidden=(64, 64)),
    "rounded": Case(cut="Round"),
    "no_step": Case(step=False),
    "zeroed_early": Case(zero_early=True),
    "stays_eval": Case(dropout=0.5, stays_eval=True),
    "evaluates_in_train": Case(dropout=0.5, evaluates=False),
    "double_softmax": Case(last="Softmax"),
    "relu_scores": Case(last="ReLU"),
    "relu_values": Case(task="values", last="ReLU", lr=0.02, epochs=25),
    "sigmoid_values": Case(task="values", last="Sigmoid", lr=0.02, targets=100.0),
    "broadcast": Case(task="values", data="flat targets", lr=0.02),
    "class_numbers": Case(loss="numbers", lr=0.01),
    "raw_targets": Case(task="values", targets=300.0, lr=0.02),
    "raw_inputs": Case(inputs=1000.0),
    "tiny_inputs": Case(inputs=1e-3, lr=0.01),
    "nan_input": Case(data="nan"),
    "outliers": Case(data="outliers"),
    "unscaled_held_out": Case(held_inputs=30.0),
    "overlap": Case(data="overlap"),
    "copies": Case(data="copies"),
    "sorted": Case(data="sorted", shuffle=False),
    "repeated": Case(data="repeated"),
    "rare_class": Case(data="rare"),
    "blank_inputs": Case(inputs=0.0),
    "scheduler_per_batch": Case(per_batch=True),
    "undivided": Case(accumulate=8, batch=16, divide=False, lr=0.3),
    "clipped_after": Case(clip_after=True),
}
