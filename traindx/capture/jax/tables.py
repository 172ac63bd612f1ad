"""What is known of optax's optimizers and losses, and of JAX's activations, by their names."""

from collections.abc import Mapping
from typing import Any

from traindx.capture.arrays.activations import Kind
from traindx.vocabulary import Fact

OPTIMIZERS = ("sgd", "adam", "adamw", "adamax", "adagrad", "adadelta", "rmsprop", "lion", "lamb", "nadam", "nadamw",
              "radam", "adabelief", "yogi", "adafactor", "novograd", "noisy_sgd", "lars", "sm3", "fromage")  # fmt: skip
SETTINGS = {"momentum": "momentum", "b1": "beta1", "b2": "beta2", "eps": "eps", "nesterov": "nesterov",
            "weight_decay": "weight_decay"}  # fmt: skip
KINDS: dict[str, Kind] = {
    "relu": "rectifier",
    "relu6": "rectifier",
    "sigmoid": "sigmoid output",
    "tanh": "tanh output",
}
NAMES = {"relu": "ReLU", "relu6": "ReLU6", "sigmoid": "Sigmoid", "tanh": "Tanh"}
LOSSES = {"softmax_cross_entropy_with_integer_labels": "cross_entropy", "softmax_cross_entropy": "cross_entropy",
          "sigmoid_binary_cross_entropy": "binary_cross_entropy_with_logits", "squared_error": "mse_loss",
          "l2_loss": "mse_loss", "huber_loss": "huber_loss"}  # fmt: skip


def facts_of_loss(name: str, outputs: Any, targets: Any) -> dict[str, Fact]:
    """Setup facts of a loss function of optax and what it was given."""
    facts: dict[str, Fact] = {"loss": LOSSES[name], "loss_name": LOSSES[name], "loss_reduction": "mean"}
    facts["loss_input_shape"] = "x".join(map(str, outputs.shape))
    facts["loss_target_shape"] = "x".join(map(str, targets.shape))
    if LOSSES[name] == "cross_entropy":
        facts["classes"] = int(outputs.shape[-1])
    return facts


def facts_of_optimizer(name: str, given: Mapping[str, Any]) -> dict[str, Fact]:
    """Setup facts of an optimizer of optax and the arguments that it was made with."""
    found: dict[str, Fact] = {"optimizer": name}
    found |= {f: given[name] for name, f in SETTINGS.items() if isinstance(given.get(name), float | int)}
    if "beta1" in found:
        found["momentum"] = found["beta1"]
    return found
