"""Boosting and scikit-learn's networks in a script that `traindx run` started: by the callbacks that they
have."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from traindx.capture.process.guard import say
from traindx.capture.process.patches import set_within
from traindx.capture.rounds.backend import (
    RoundsBackend,
    evaluated_by_catboost,
    evaluated_by_lightgbm,
    evaluated_by_xgboost,
    settings_of,
    settings_of_network,
    signals,
)
from traindx.capture.session import RecordedProcess

MOST = 32  # records of one script: a search over settings fits hundreds of models


class Rounds:
    """The trainings of one library, reported one round at a time."""

    def __init__(self, process: RecordedProcess, name: str) -> None:
        self._process = process
        self.stream = process.stream(lambda: RoundsBackend(name))
        process.ends.append(self.stream.detach)
        self._begins, self._left_out = False, False  # a training that has no round yet; one too many
        self._settings: dict[str, Any] = {}
        self._first = self._before = 0  # steps of this record before this training; of closed records
        self._levels: dict[str, tuple[float, float]] = {}  # first and last value of each signal

    def begin(self, settings: Mapping[str, Any]) -> None:
        """A training begins, with what its model was made with. It may evaluate nothing: then it has no round."""
        self._begins, self._settings = True, settings_of(settings)

    def add(
        self, number: int, evaluated: Mapping[str, Mapping[str, float]], continued: bool = False
    ) -> None:
        """Round `number` (from 0) is over, with `evaluated[set][metric]`; of a model that had rounds before
        (`continued`) or of a new one."""
        found = signals(evaluated)
        if found:
            if self._begins or not number:  # apart, as it may end the session whose clock this call stops
                self.stream.safely(self._next, found, continued)
            self.stream.safely(self._write, number, found)
            session = self.stream.opened
            if session is not None:
                self.stream.after_step(self._before + session.step)

    def _write(self, number: int, found: dict[str, float]) -> None:
        if self._left_out or (self.stream.opened is None and not self._process.claim_process(self.stream)):
            return
        session = self.stream.session()
        if session is not None:
            session.record_round(self._first + number + 1, found)
            self._levels |= {name: (self._levels.get(name, (now,))[0], now) for name, now in found.items()}

    def _next(self, found: dict[str, float], continued: bool) -> None:
        """A training has its first round. A training of another model gets its own record."""
        self._begins, session = False, self.stream.opened
        if session is not None and not (continued and self._goes_on(found)):
            self._left_out = self._process.records >= MOST
            if self._left_out:
                return
            self._before += session.step
            self._process.begin_anew()
            self.stream.anew()
            self._levels, session = {}, None
        self._first = 0 if session is None else session.step
        for fact, value in self._settings.items():
            self.stream.fact(fact, value)

    def _goes_on(self, found: dict[str, float]) -> bool:
        """Whether a model that had rounds before is the recorded one: its loss is nearer to the last one than to
        the first one."""
        name = next((name for name in ("train/loss", "val/loss", *found) if name in found), "")
        first, last = self._levels.get(name, (0.0, 0.0))
        return abs(found[name] - last) <= abs(found[name] - first)

    def train(self, homes: Sequence[Any], callbacks: Callable[[], Sequence[Any]]) -> None:
        """Every call of the library's `train`, wherever it is known, gets more callbacks."""

        def train(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            bound = self.stream.safely(with_callbacks, original, args, named, callbacks())
            if bound is None:  # called as it cannot be: it says so itself
                return original(*args, **named)
            self.stream.safely(self.begin, dict(bound.arguments.get("params") or {}))
            return original(*bound.args, **bound.kwargs)

        for home in homes:
            self.stream.patches.around(home, "train", train)


def with_callbacks(
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
            rounds.add(
                epoch, evaluated_by_xgboost(container.history), model.num_boosted_rounds() > epoch + 1
            )
        return ended

    rounds.stream.patches.around(library.callback.CallbackContainer, "after_iteration", after_iteration)
    rounds.train((library, library.training, library.sklearn), tuple)


def lightgbm(rounds: Rounds) -> None:
    library = sys.modules["lightgbm"]

    def report(environment: Any) -> None:
        done = environment.iteration - environment.begin_iteration
        rounds.add(done, evaluated_by_lightgbm(environment), environment.begin_iteration > 0)

    report.order = 5  # type: ignore[attr-defined] # before early stopping, which raises

    rounds.train((library, library.engine, library.sklearn), lambda: (report,))


def catboost(rounds: Rounds) -> None:
    library = sys.modules["catboost"]

    class Callback:
        def __init__(self, continued: bool) -> None:
            self._continued = continued

        def after_iteration(self, info: Any) -> bool:
            rounds.add(info.iteration - 1, evaluated_by_catboost(info), self._continued)
            return True

    def fit(original: Callable[..., Any], model: Any, *args: Any, **named: Any) -> Any:
        settings = dict(model.get_params())
        if str(settings.get("task_type")).upper() == "GPU":
            say("not recorded: CatBoost takes no callbacks on a GPU")
            return original(model, *args, **named)
        bound = rounds.stream.safely(with_callbacks, original, (model, *args), named, ())
        if bound is None:
            return original(model, *args, **named)
        reporting = Callback(bound.arguments.get("init_model") is not None)
        bound.arguments["callbacks"] = [reporting, *(bound.arguments.get("callbacks") or ())]
        rounds.stream.safely(rounds.begin, settings)
        return original(*bound.args, **bound.kwargs)

    rounds.stream.patches.around(library.CatBoost, "_fit", fit)


def networks(rounds: Rounds) -> None:
    """scikit-learn's MLPClassifier and MLPRegressor, by `fit` and `partial_fit`: a round is an epoch."""
    kind = sys.modules["sklearn.neural_network._multilayer_perceptron"].BaseMultilayerPerceptron
    pieces = SimpleNamespace(of_data=False)  # `partial_fit` may be given a piece of the data at a time

    def fit(original: Callable[..., Any], model: Any, *args: Any, **named: Any) -> Any:
        with set_within(pieces, "of_data", bool(named.get("incremental"))):
            return original(model, *args, **named)

    def update(original: Callable[..., Any], model: Any, *args: Any, **named: Any) -> Any:
        if len(model.loss_curve_) == 1:
            rounds.stream.safely(lambda: rounds.begin(settings_of_network(model, pieces.of_data)))
        found = {"train": {"loss": float(model.loss_curve_[-1])}}
        result = original(model, *args, **named)
        scores = getattr(model, "validation_scores_", None)
        if scores:
            found["validation"] = {"score": float(scores[-1])}
        rounds.add(len(model.loss_curve_) - 1, found)
        return result

    rounds.stream.patches.around(kind, "_fit", fit)
    rounds.stream.patches.around(kind, "_update_no_improvement_count", update)


LIBRARIES: dict[str, Callable[[Rounds], None]] = {
    "xgboost": xgboost,
    "lightgbm": lightgbm,
    "catboost": catboost,
    "sklearn": networks,
}
