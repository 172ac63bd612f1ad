"""Setup facts of a Keras model, its optimizer and the arguments of `compile` and `fit`, under the names of
docs/capture.md."""

from typing import Any

import keras
import numpy as np

from traindx.vocabulary import Fact

LOSSES = {
    "MeanSquaredError": "mse_loss", "MeanAbsoluteError": "l1_loss", "Huber": "huber_loss", "KLDivergence": "kl_div",
    "Poisson": "poisson_nll_loss", "BinaryCrossentropy": "binary_cross_entropy",
    "CategoricalCrossentropy": "cross_entropy", "SparseCategoricalCrossentropy": "cross_entropy",
}  # fmt: skip
KINDS = {"relu": "ReLU", "relu6": "ReLU6", "tanh": "Tanh", "sigmoid": "Sigmoid", "hard_sigmoid": "Hardsigmoid",
         "leaky_relu": "LeakyReLU", "elu": "ELU", "selu": "SELU", "gelu": "GELU", "silu": "SiLU", "swish": "SiLU",
         "softsign": "Softsign", "softplus": "Softplus", "softmax": "Softmax"}  # fmt: skip
SETTINGS = {"momentum": "momentum", "beta_1": "beta1", "beta_2": "beta2", "epsilon": "eps", "nesterov": "nesterov",
            "clipnorm": "clip_norm_each", "global_clipnorm": "clip_norm", "clipvalue": "clip_value",
            "weight_decay": "weight_decay", "gradient_accumulation_steps": "accumulation"}  # fmt: skip


def activation_of(layer: Any) -> str:
    """The name of the activation that a layer's output comes out of; "linear" where it has none."""
    own = type(layer).__name__
    if own in ("ReLU", "LeakyReLU", "ELU", "Softmax"):
        return {"ReLU": "relu", "LeakyReLU": "leaky_relu", "ELU": "elu", "Softmax": "softmax"}[own]
    given = getattr(layer, "activation", None)
    return str(getattr(given, "__name__", "") or "linear") if given is not None else "linear"


def plain_layers(model: Any) -> list[Any]:
    """The layers of a model that hold no others, in their order."""
    return [
        layer for layer in model._flatten_layers(include_self=False) if not getattr(layer, "_layers", None)
    ]


def is_weighted(layer: Any) -> bool:
    """Whether a layer multiplies with a matrix of weights (embeddings look up)."""
    found = any(len(v.shape) > 1 for v in layer._trainable_variables + layer._non_trainable_variables)
    return found and "Embedding" not in type(layer).__name__


def architecture(model: Any) -> dict[str, Fact]:
    """Of one model."""
    layers = plain_layers(model)
    used = [activation_of(layer) for layer in layers[:-1]]
    rates = [float(layer.rate) for layer in layers if "Dropout" in type(layer).__name__]
    widths = [
        int(v.shape[-1]) for layer in layers if is_weighted(layer) for v in layer.trainable_variables[:1]
    ]
    norms = [layer for layer in layers if "Normalization" in type(layer).__name__ and layer.weights]
    out: dict[str, Fact] = {
        "model": type(model).__name__,
        "keras_backend": keras.backend.backend(),
        "depth": sum(is_weighted(layer) for layer in layers),
        "has_normalization": bool(norms),
        "has_dropout": any(rate > 0 for rate in rates),
        "activations": ", ".join(
            sorted({KINDS.get(name, name) for name in used if name not in ("linear", "softmax")})
        ),
        "modules": ", ".join(kinds_of(layer) for layer in layers),
        "parameter_dtype": str(getattr(model, "variable_dtype", "float32")),
        "precision": precision(model),
    }
    if all(
        type(layer).__module__.startswith("keras.") for layer in layers
    ):  # one of the script's own may round
        out["quantized"] = any(getattr(layer, "quantization_mode", None) for layer in layers)
    momenta = [1 - float(layer.momentum) for layer in norms if hasattr(layer, "momentum")]
    out |= {"dropout": max(rates)} if rates else {}
    out |= {"normalization_momentum": min(momenta)} if momenta else {}
    return out | ({"narrowest_width": min(widths[:-1])} if len(widths) > 1 else {})


def kinds_of(layer: Any) -> str:
    """The layer's kind, and the activation behind it."""
    name = activation_of(layer)
    return type(layer).__name__.lower() + ("" if name == "linear" else f" {name}")


def precision(model: Any) -> str:
    policy = str(getattr(getattr(model, "dtype_policy", None), "name", "float32"))
    return policy.replace("mixed_", "") + "-mixed" if policy.startswith("mixed_") else policy


def optimizer_facts(optimizer: Any) -> dict[str, Fact]:
    """Kind and settings, of the optimizer inside a loss scale."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    config = inner.get_config()
    out: dict[str, Fact] = {"optimizer": type(inner).__name__}
    rate = config.get("learning_rate")  # a dict, where it follows a schedule
    if isinstance(rate, float | int):
        out["lr"] = float(rate)
    elif isinstance(rate, dict):
        out["schedule"] = str(rate.get("class_name", "function"))
    for setting, fact in SETTINGS.items():
        value = config.get(setting)
        if isinstance(value, float | int | bool) and value is not False:
            out[fact] = value
    if "beta1" in out:
        out["momentum"] = out["beta1"]
    return out


class Loss:
    """The loss that `compile` was given. Keras's losses of probabilities take their logarithm, which is what
    a cross-entropy of scores gets elsewhere, so the facts are those of the logarithm."""

    def __init__(self, model: Any) -> None:
        names = list(getattr(model, "output_names", None) or ())
        first = names[0] if len(names) > 1 else ""  # of several outputs, the first is looked at
        given = model.loss
        if isinstance(given, dict) and given:
            given = given.get(first, next(iter(given.values())))
        given = given[0] if isinstance(given, list | tuple) and given else given
        found = keras.losses.get(given) if isinstance(given, str) else given
        config = found.get_config() if isinstance(found, keras.losses.Loss) else {}
        if callable(found) and not config:  # a function of keras.losses is taken for its class
            name = "".join(part.capitalize() for part in str(getattr(found, "__name__", "")).split("_"))
            name = {"Mse": "MeanSquaredError", "Mae": "MeanAbsoluteError"}.get(name, name)
        else:
            name = type(found).__name__
        self.kind = name
        self.logits = bool(config.get("from_logits", False))
        self.smoothing = float(config.get("label_smoothing", 0.0) or 0.0)
        self.name = LOSSES.get(name, str(getattr(found, "__name__", getattr(found, "name", "")) or name))
        if name == "BinaryCrossentropy" and self.logits:
            self.name = "binary_cross_entropy_with_logits"
        last = plain_layers(model)
        named = [layer for layer in model.layers if layer.name == first]
        self.last = activation_of((named or last)[-1]) if last else ""
        self.twice = [activation_of(layer) for layer in last[-2:]] == ["softmax"] * 2 and not is_weighted(
            last[-1]
        )

    @property
    def of_probabilities(self) -> bool:
        """The loss is a cross-entropy over classes, and takes the logarithm itself."""
        return self.name == "cross_entropy" and not self.logits

    def scores(self, output: Any) -> Any:
        """The scores that the cross-entropy is of: logarithms of probabilities; and of outputs that are
        none, what the loss leaves of them, which is nothing below 0."""
        if not self.of_probabilities:
            return output
        if self.twice and self.last == "softmax":  # what the second softmax was given, whose rows sum to 1
            logs = np.log(np.clip(output, 1e-7, 1.0))
            return np.clip(logs - logs.mean(-1, keepdims=True) + 1 / logs.shape[-1], 0.0, 1.0)
        return np.log(np.clip(output, 1e-7, 1.0)) if self.last == "softmax" else np.maximum(output, 0.0)

    def labels(self, target: Any) -> Any:
        """Class numbers, of targets that have a column for each class."""
        if (
            self.kind == "CategoricalCrossentropy"
            and target is not None
            and target.ndim > 1
            and target.shape[-1] > 1
        ):
            return target.argmax(-1)
        if self.kind == "SparseCategoricalCrossentropy" and target is not None and target.dtype.kind == "f":
            target = target.astype(np.int64)
        if self.name == "cross_entropy" and target is not None and target.ndim > 1 and target.shape[-1] == 1:
            return target[..., 0]
        return target

    def facts(self) -> dict[str, Fact]:
        out: dict[str, Fact] = {"loss": self.name, "loss_name": self.name, "loss_reduction": "mean"}
        last = (
            "none"
            if self.last == "linear" or (self.of_probabilities and self.last == "softmax" and not self.twice)
            else self.last
        )
        if self.of_probabilities and self.last == "linear":
            last = "relu"
        out |= {"outputs_last_activation": last} if last else {}
        return out | ({"label_smoothing": self.smoothing} if self.smoothing else {})
