"""Boosting and scikit-learn's networks in a script that `traindx run` started: by the callbacks that they have."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from traindx.capture.rounds.backend import RoundsBackend, signals
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream

SETTINGS = {
    "learning_rate": "lr", "eta": "lr", "learning_rate_init": "lr", "max_depth": "max_depth", "depth": "max_depth",
    "n_estimators": "rounds", "iterations": "rounds", "alpha": "weight_decay", "batch_size": "batch_size",
    "num_leaves": "num_leaves", "subsample": "subsample", "reg_lambda": "reg_lambda",
}  # fmt: skip


class Process(Protocol):
    """The script's process, of `launch/attach`."""

    def stream(self, make: Callable[..., Session]) -> Stream: ...
    def taken_over(self, by: Stream) -> bool: ...

    ends: list[Callable[[], None]]


def attach(process: Process, library: str) -> None:
    """Look for the trainings of a library that was imported."""
    LIBRARIES[library](Rounds(process, library.partition(".")[0]))


class Rounds:
    """The trainings of one library, told one round at a time."""

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self.stream = process.stream(lambda out, **options: Session(out, RoundsBackend(name), **options))
        process.ends.append(self.stream.detach)
        self._first = 0

    def told(self, number: int, evaluated: Mapping[str, Mapping[str, float]]) -> None:
        """Round `number` (from 0) is over, with `evaluated[set][metric]`."""
        found = signals(evaluated)
        if found:
            self.stream.safely(self._write, number, found)
            session = self.stream.opened
            if session is not None:
                self.stream.after_step(session.step)

    def _write(self, number: int, found: dict[str, float]) -> None:
        if self.stream.opened is None and not self._process.taken_over(self.stream):
            return
        session = self.stream.session()
        if session is not None:
            self._first = session.step if not number else self._first
            session.told(self._first + number + 1, found)

    def settings(self, given: Mapping[str, Any]) -> None:
        """Facts of what a model was made with."""
        for name, fact in SETTINGS.items():
            value = given.get(name)
            if isinstance(value, float | int) and not isinstance(value, bool):
                self.stream.fact(fact, value)

    def train(self, homes: Sequence[Any], callback: Callable[[], Any]) -> None:
        """Every call of the library's `train`, wherever it is known, gets one more callback."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def train(*args: Any, **named: Any) -> Any:
                bound = added(original, args, named, callback())
                self.stream.safely(self.settings, dict(bound.arguments.get("params") or {}))
                return original(*bound.args, **bound.kwargs)

            return train

        for home in homes:
            self.stream.patches.replace(home, "train", make)


def added(original: Callable[..., Any], args: Any, named: Any, callback: Any) -> inspect.BoundArguments:
    """The arguments of a call with one more callback."""
    bound = inspect.signature(original).bind(*args, **named)
    bound.arguments["callbacks"] = [*(bound.arguments.get("callbacks") or ()), callback]
    return bound


def xgboost(rounds: Rounds) -> None:
    library = sys.modules["xgboost"]

    class Heard(library.callback.TrainingCallback):  # type: ignore[misc,name-defined]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            latest = {name: {m: last(v) for m, v in metrics.items()} for name, metrics in evals_log.items()}
            rounds.told(epoch, latest)
            return False

    rounds.train((library, library.training, library.sklearn), Heard)


def last(values: Any) -> float:
    """The newest value of a metric; of a pair the mean."""
    newest = values[-1]
    return float(newest[0] if isinstance(newest, tuple | list) else newest)


def lightgbm(rounds: Rounds) -> None:
    library = sys.modules["lightgbm"]

    def heard(environment: Any) -> None:
        evaluated: dict[str, dict[str, float]] = {}
        for name, metric, value, *_ in environment.evaluation_result_list or ():
            evaluated.setdefault(name, {})[metric] = value
        rounds.told(environment.iteration - environment.begin_iteration, evaluated)

    heard.order = 5  # type: ignore[attr-defined] # before early stopping, which raises

    rounds.train((library, library.engine, library.sklearn), lambda: heard)


def catboost(rounds: Rounds) -> None:
    library = sys.modules["catboost"]

    class Heard:
        def after_iteration(self, info: Any) -> bool:
            evaluated = {name: {m: float(v[-1]) for m, v in metrics.items()} for name, metrics in info.metrics.items()}
            rounds.told(info.iteration - 1, evaluated)
            return True

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def fit(model: Any, *args: Any, **named: Any) -> Any:
            bound = added(original, (model, *args), named, Heard())
            rounds.stream.safely(rounds.settings, dict(model.get_params()))
            return original(*bound.args, **bound.kwargs)

        return fit

    rounds.stream.patches.replace(library.CatBoost, "_fit", make)


def networks(rounds: Rounds) -> None:
    """scikit-learn's MLPClassifier and MLPRegressor, by `fit` and `partial_fit`: a round is an epoch."""
    kind = sys.modules["sklearn.neural_network._multilayer_perceptron"].BaseMultilayerPerceptron

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def update(model: Any, *args: Any, **named: Any) -> Any:
            if len(model.loss_curve_) == 1:
                rounds.stream.safely(rounds.settings, model.get_params())
            found = {"train": {"loss": float(model.loss_curve_[-1])}}
            result = original(model, *args, **named)
            scores = getattr(model, "validation_scores_", None)
            if scores:
                found["validation"] = {"score": float(scores[-1])}
            rounds.told(len(model.loss_curve_) - 1, found)
            return result

        return update

    rounds.stream.patches.replace(kind, "_update_no_improvement_count", make)


LIBRARIES: dict[str, Callable[[Rounds], None]] = {
    "xgboost": xgboost,
    "lightgbm": lightgbm,
    "catboost": catboost,
    "sklearn.neural_network._multilayer_perceptron": networks,
}
