"""A session of rounds: names of evaluated sets and metrics as signals."""

from collections.abc import Mapping, Sequence
from typing import Any

from traindx.capture.session import Backend, Part
from traindx.vocabulary import Fact

LOSSES = ("loss", "logloss", "mlogloss", "rmse", "mae", "l1", "l2", "binary_logloss", "multi_logloss", "multiclass",
          "mse", "huber", "crossentropy")  # fmt: skip
TRAINED = ("train", "learn", "dtrain")


SETTINGS = {
    "learning_rate": "lr", "eta": "lr", "learning_rate_init": "lr", "max_depth": "max_depth", "depth": "max_depth",
    "n_estimators": "rounds", "iterations": "rounds", "alpha": "weight_decay", "batch_size": "batch_size",
    "num_leaves": "num_leaves", "subsample": "subsample", "reg_lambda": "reg_lambda",
    "dataset_size": "dataset_size", "momentum": "momentum", "solver": "optimizer",
}  # fmt: skip
Evaluated = dict[str, dict[str, float]]  # [set][metric]


class RoundsBackend(Backend):
    """Neither parameters nor optimizers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parts(self, model: Any, prefix: str) -> Sequence[Part] | None:
        return None

    def size(self, parameter: Any) -> int:
        return 0

    def parameters_of(self, optimizer: Any) -> list[Any]:
        return []

    def gradient_squares(self, parameters: Sequence[Any], elsewhere: bool) -> list[float]:
        return []

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        return {}


def settings_of(given: Mapping[str, Any]) -> dict[str, Fact]:
    """Facts of what a model was made with."""
    return {
        fact: given[name]
        for name, fact in SETTINGS.items()
        if isinstance(given.get(name), str if fact == "optimizer" else float | int)
        and not isinstance(given[name], bool)
    }


def settings_of_network(model: Any, piecewise: bool) -> dict[str, Any]:
    """What a network of scikit-learn was made with, after its first epoch, in which it counted its samples (`t_`).
    `piecewise`: it may be given a piece of the data at a time."""
    samples, given = int(model.t_) // len(model.loss_curve_), dict(model.get_params())
    if given["batch_size"] == "auto":
        given["batch_size"] = 200
    given["batch_size"] = min(given["batch_size"], samples)
    if given["solver"] != "sgd":
        del given["momentum"]
    return given if piecewise else {**given, "dataset_size": samples}


def evaluated_by_xgboost(log: Any) -> Evaluated:
    """What a round evaluated, of the log that XGBoost hands to its callbacks."""
    return {
        name: {metric: newest_value(values) for metric, values in found.items()}
        for name, found in log.items()
    }


def newest_value(values: Any) -> float:
    """The newest value of a metric; of a pair the mean."""
    newest = values[-1]
    return float(newest[0] if isinstance(newest, tuple | list) else newest)


def evaluated_by_lightgbm(environment: Any) -> Evaluated:
    """The same, of LightGBM's environment."""
    evaluated: Evaluated = {}
    for name, metric, value, *_ in environment.evaluation_result_list or ():
        evaluated.setdefault(name, {})[metric] = float(value)
    return evaluated


def evaluated_by_catboost(info: Any) -> Evaluated:
    """The same, of what CatBoost reports of an iteration."""
    return {
        name: {metric: float(v[-1]) for metric, v in found.items()} for name, found in info.metrics.items()
    }


def signals(evaluated: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Signals of `evaluated[set][metric]`. A set is the training's by its name, or as the first of several;
    the last of the others is the validation. The first metric that is a loss is `loss`."""
    names = list(evaluated)
    first = names[0] if len(names) > 1 else ""
    trained = next((n for n in names if any(word in n.lower() for word in TRAINED)), first)
    others = [name for name in names if name != trained]
    out: dict[str, float] = {}
    for split, name in (("train", trained), ("val", others[-1] if others else "")):
        metrics = evaluated.get(name, {})
        loss = next((metric for metric in metrics if metric.lower() in LOSSES), None)
        for metric, value in metrics.items():
            out[f"{split}/{'loss' if metric == loss else metric.lower()}"] = float(value)
    return out
