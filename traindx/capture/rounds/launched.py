"""Boosting and scikit-learn's networks in a script that `traindx run` started: by the callbacks that they
have."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traindx.capture.process.guard import say
from traindx.capture.rounds.backend import (
    RoundsBackend,
    evaluated_by_catboost,
    evaluated_by_lightgbm,
    evaluated_by_xgboost,
    settings_of,
    signals,
)
from traindx.capture.session import RecordedProcess


class Rounds:
    """The trainings of one library, reported one round at a time."""

    def __init__(self, process: RecordedProcess, name: str) -> None:
        self._process = process
        self.stream = process.stream(lambda: RoundsBackend(name))
        process.ends.append(self.stream.detach)
        self._first = 0

    def add(self, number: int, evaluated: Mapping[str, Mapping[str, float]]) -> None:
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
            session.record_round(self._first + number + 1, found)

    def settings(self, given: Mapping[str, Any]) -> None:
        """Facts of what a model was made with."""
        for fact, value in settings_of(given).items():
            self.stream.fact(fact, value)

    def train(self, homes: Sequence[Any], callbacks: Callable[[], Sequence[Any]]) -> None:
        """Every call of the library's `train`, wherever it is known, gets more callbacks."""

        def train(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            bound = self.stream.safely(added, original, args, named, callbacks())
            if bound is None:  # called as it cannot be: it says so itself
                return original(*args, **named)
            self.stream.safely(self.settings, dict(bound.arguments.get("params") or {}))
            return original(*bound.args, **bound.kwargs)

        for home in homes:
            self.stream.patches.around(home, "train", train)


def added(
    original: Callable[..., Any], args: Any, named: Any, callbacks: Sequence[Any]
) -> inspect.BoundArguments:
    """The arguments of a call with more callbacks, before the others: the first that ends a training keeps
    the rest from hearing of its last round."""
    bound = inspect.signature(original).bind(*args, **named)
    if callbacks:
        bound.arguments["callbacks"] = [*callbacks, *(bound.arguments.get("callbacks") or ())]
    return bound


def xgboost(rounds: Rounds) -> None:
    """By what holds the callbacks: its older versions keep them in a set, where one more changes the order
    of all."""
    library = sys.modules["xgboost"]

    def after_iteration(
        original: Any, container: Any, model: Any, epoch: int, *args: Any, **named: Any
    ) -> bool:
        ended: bool = original(container, model, epoch, *args, **named)
        if not container.is_cv:
            rounds.add(epoch, evaluated_by_xgboost(container.history))
        return ended

    rounds.stream.patches.around(library.callback.CallbackContainer, "after_iteration", after_iteration)
    rounds.train((library, library.training, library.sklearn), tuple)


def lightgbm(rounds: Rounds) -> None:
    library = sys.modules["lightgbm"]

    def report(environment: Any) -> None:
        rounds.add(environment.iteration - environment.begin_iteration, evaluated_by_lightgbm(environment))

    report.order = 5  # type: ignore[attr-defined] # before early stopping, which raises

    rounds.train((library, library.engine, library.sklearn), lambda: (report,))


def catboost(rounds: Rounds) -> None:
    library = sys.modules["catboost"]

    class Callback:
        def after_iteration(self, info: Any) -> bool:
            rounds.add(info.iteration - 1, evaluated_by_catboost(info))
            return True

    def fit(original: Callable[..., Any], model: Any, *args: Any, **named: Any) -> Any:
        settings = dict(model.get_params())
        if str(settings.get("task_type")).upper() == "GPU":
            say("not recorded: CatBoost takes no callbacks on a GPU")
            return original(model, *args, **named)
        bound = rounds.stream.safely(added, original, (model, *args), named, (Callback(),))
        if bound is None:
            return original(model, *args, **named)
        rounds.stream.safely(rounds.settings, settings)
        return original(*bound.args, **bound.kwargs)

    rounds.stream.patches.around(library.CatBoost, "_fit", fit)


def networks(rounds: Rounds) -> None:
    """scikit-learn's MLPClassifier and MLPRegressor, by `fit` and `partial_fit`: a round is an epoch."""
    kind = sys.modules["sklearn.neural_network._multilayer_perceptron"].BaseMultilayerPerceptron

    def update(original: Callable[..., Any], model: Any, *args: Any, **named: Any) -> Any:
        if len(model.loss_curve_) == 1:
            rounds.stream.safely(rounds.settings, model.get_params())
        found = {"train": {"loss": float(model.loss_curve_[-1])}}
        result = original(model, *args, **named)
        scores = getattr(model, "validation_scores_", None)
        if scores:
            found["validation"] = {"score": float(scores[-1])}
        rounds.add(len(model.loss_curve_) - 1, found)
        return result

    rounds.stream.patches.around(kind, "_update_no_improvement_count", update)


LIBRARIES: dict[str, Callable[[Rounds], None]] = {
    "xgboost": xgboost,
    "lightgbm": lightgbm,
    "catboost": catboost,
    "sklearn": networks,
}
