"""`traindx.xgboost.Watch` and its siblings in real trainings: the numbers of the library, the same predictions."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traindx
from tests.captured import untimed

LIBRARIES = ("xgboost", "lightgbm", "catboost")
THERE = [name for name in LIBRARIES if importlib.util.find_spec(name)]
pytestmark = pytest.mark.skipif(not THERE, reason=f"needs one of {', '.join(LIBRARIES)}")
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Fit = Callable[[Data, int, Any], tuple[list[float], list[float], np.ndarray]]


def data(noise: float) -> Data:
    chance = np.random.default_rng(1)
    x, held = chance.normal(size=(400, 8)), chance.normal(size=(400, 8))
    labels = [(a[:, 0] + a[:, 1] + noise * chance.normal(size=400) > 0).astype(int) for a in (x, held)]
    return x, labels[0], held, labels[1]


def with_xgboost(given: Data, rounds: int, watch: Any) -> tuple[list[float], list[float], np.ndarray]:
    import xgboost

    x, y, held, wanted = given
    model = xgboost.XGBClassifier(n_estimators=rounds, max_depth=6, learning_rate=0.3, n_jobs=1,
                                  callbacks=[watch] if watch else None)  # fmt: skip
    model.fit(x, y, eval_set=[(x, y), (held, wanted)], verbose=False)
    metrics = model.evals_result()
    return metrics["validation_0"]["logloss"], metrics["validation_1"]["logloss"], model.predict_proba(held)


def with_lightgbm(given: Data, rounds: int, watch: Any) -> tuple[list[float], list[float], np.ndarray]:
    import lightgbm

    x, y, held, wanted = given
    kept: dict[str, Any] = {}
    settings = {
        "objective": "binary",
        "verbose": -1,
        "learning_rate": 0.2,
        "num_threads": 1,
        "deterministic": True,
    }
    sets = [lightgbm.Dataset(x, y), lightgbm.Dataset(held, wanted)]
    callbacks = [lightgbm.record_evaluation(kept), *([watch] if watch else [])]
    model = lightgbm.train(
        settings, sets[0], rounds, valid_sets=sets, valid_names=["train", "val"], callbacks=callbacks
    )
    return kept["train"]["binary_logloss"], kept["val"]["binary_logloss"], np.asarray(model.predict(held))


def with_catboost(given: Data, rounds: int, watch: Any) -> tuple[list[float], list[float], np.ndarray]:
    import catboost

    x, y, held, wanted = given
    model = catboost.CatBoostClassifier(iterations=rounds, verbose=False, allow_writing_files=False, thread_count=1,
                                        learning_rate=0.3, depth=6, use_best_model=False)  # fmt: skip
    model.fit(x, y, eval_set=(held, wanted), callbacks=[watch] if watch else None)
    metrics = model.get_evals_result()
    return metrics["learn"]["Logloss"], metrics["validation"]["Logloss"], model.predict_proba(held)


FITS: dict[str, Fit] = {"xgboost": with_xgboost, "lightgbm": with_lightgbm, "catboost": with_catboost}
every_library = pytest.mark.parametrize("name", THERE)


def watch_of(name: str, out: Path | None = None, **settings: Any) -> Any:
    return importlib.import_module(f"traindx.{name}").Watch(out, **settings)


@every_library
def test_the_numbers_are_the_librarys(name: str, tmp_path: Path) -> None:
    watch = watch_of(name, tmp_path / "run", learning_rate=0.3)
    train, held, predicted = FITS[name](data(0.5), 30, watch)
    np.testing.assert_array_equal(predicted, FITS[name](data(0.5), 30, None)[2])
    (run,) = watch.diagnose().runs
    assert run.boosted
    np.testing.assert_allclose(run.series["train/loss"].values, train, rtol=1e-6)
    np.testing.assert_allclose(run.series["val/loss"].values, held, rtol=1e-6)
    assert run.series["train/loss"].steps.tolist() == list(range(1, 31))
    assert run.setup.lr == 0.3


@every_library
def test_too_many_rounds_on_noisy_labels(name: str) -> None:
    watch = watch_of(name)
    FITS[name](data(2.0), 150, watch)
    found = watch.diagnose().first
    assert "validation-gap-grows" in {f.slug for f in found.findings}
    assert found.hypotheses[0].cause == "insufficient-regularization"


@every_library
def test_what_learns_well_is_not_sick(name: str) -> None:
    watch = watch_of(name)
    FITS[name](data(0.0), 25, watch)
    found = traindx.diagnose(untimed(traindx.read(watch.record.folder))).first
    assert found.health in ("healthy", "watch")


@every_library
def test_a_second_training_goes_on_in_the_same_record(name: str) -> None:
    watch = watch_of(name)
    for _ in range(2):
        FITS[name](data(0.5), 10, watch)
    assert watch.diagnose().runs[0].series["train/loss"].steps.tolist() == list(range(1, 21))
