"""XGBoost, LightGBM, CatBoost and scikit-learn's networks: trained in rounds, of which only numbers are
known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from traindx.capture.framework import Framework

if TYPE_CHECKING:
    from traindx.capture.session import RecordedProcess

OBSERVED_BY = "its callbacks report each round; without evaluation sets nothing is recorded."
SHOWS = ("loss", "clock")


def attach(library: str) -> Callable[[RecordedProcess], None]:
    def attach(process: RecordedProcess) -> None:
        from traindx.capture.rounds.launched import LIBRARIES, Rounds

        LIBRARIES[library](Rounds(process, library))

    return attach


def boosting_framework(name: str, label: str, distribution: str = "") -> Framework:
    return Framework(
        name=name, label=label, attach=attach(name), started_by=f"`traindx run`, `traindx.{name}.Watch`",
        observed_by=OBSERVED_BY, shows=SHOWS, tested_with=(distribution or name,),
    )  # fmt: skip


XGBOOST, LIGHTGBM = (
    boosting_framework("xgboost", "XGBoost", "xgboost-cpu"),
    boosting_framework("lightgbm", "LightGBM"),
)
CATBOOST = boosting_framework("catboost", "CatBoost")
SKLEARN = Framework(
    name="sklearn",
    label="scikit-learn's networks",
    module="sklearn.neural_network._multilayer_perceptron",  # of all scikit-learn, only its networks are recorded
    observed_by="`fit` and `partial_fit` of `MLPClassifier` and `MLPRegressor`; a round is an epoch.",
    shows=SHOWS,
    tested_with=("scikit-learn",),
    attach=attach("sklearn"),
)
