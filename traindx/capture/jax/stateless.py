"""Optimizers of Keras in custom loops on JAX (`stateless_apply`): their settings, rate and variables."""

from typing import Any

import numpy as np

from traindx.capture.compiled.leaves import Leaf
from traindx.vocabulary import Fact

SETTINGS = {"momentum": "momentum", "beta_1": "beta1", "beta_2": "beta2", "epsilon": "eps", "nesterov": "nesterov",
            "weight_decay": "weight_decay", "clipnorm": "clip_norm_each", "global_clipnorm": "clip_norm",
            "clipvalue": "clip_value"}  # fmt: skip


def settings_of(optimizer: Any) -> tuple[dict[str, Fact], float | None]:
    """Setup facts, and the rate where it is a number."""
    config = optimizer.get_config()
    out: dict[str, Fact] = {"optimizer": type(optimizer).__name__}
    out |= {f: config[name] for name, f in SETTINGS.items() if isinstance(config.get(name), float | int)}
    if "beta1" in out:
        out["momentum"] = out["beta1"]
    rate = config.get("learning_rate")
    if isinstance(rate, float | int):
        out["lr"] = float(rate)
        return out, float(rate)
    return out | {
        "schedule": str(rate.get("class_name", "function")) if isinstance(rate, dict) else "function"
    }, None


def rate_of(optimizer: Any, held: Any) -> Any:
    """The rate that a schedule gives for the steps made, which are the first of the optimizer's variables;
    None where there is no schedule."""
    rate = optimizer._learning_rate
    return rate(held[0]) if callable(rate) and not hasattr(rate, "assign") else None


def leaves_trained(optimizer: Any, values: Any) -> list[Leaf]:
    """The variables that an optimizer trains, by their paths."""
    paths = [variable.path for variable in optimizer._trainable_variables]
    return [
        Leaf(path, path.rpartition("/")[0] or path, int(np.size(w)), tuple(np.shape(w)))
        for path, w in zip(paths, values, strict=True)
    ]
