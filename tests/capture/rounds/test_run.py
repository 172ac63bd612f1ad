"""Boosting and scikit-learn's networks under `traindx run`: the same answers, and their evaluations as curves."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.shown import assert_as_declared
from traindx.capture.rounds.backend import signals

DATA = """
import json
import numpy as np
chance = np.random.default_rng(0)
x, held = chance.normal(size=(300, 10)), chance.normal(size=(200, 10))
y, wanted = (x[:, 0] + chance.normal(size=300) > 0).astype(int), (held[:, 0] + chance.normal(size=200) > 0).astype(int)
"""
FITS = {
    "xgboost": """
import xgboost
model = xgboost.XGBClassifier(n_estimators=40, max_depth=8, learning_rate=0.3)
model.fit(x, y, eval_set=[(x, y), (held, wanted)], verbose=False)
kept = [model.evals_result()[f"validation_{i}"]["logloss"] for i in range(2)]
""",
    "lightgbm": """
import lightgbm
kept = {}
sets = [lightgbm.Dataset(x, y), lightgbm.Dataset(held, wanted)]
given = {"objective": "binary", "verbose": -1, "learning_rate": 0.2}
model = lightgbm.train(given, sets[0], 40, valid_sets=sets, valid_names=["training", "held"],
                       callbacks=[lightgbm.record_evaluation(kept), lightgbm.early_stopping(40, verbose=False)])
kept = [kept[name]["binary_logloss"] for name in ("training", "held")]
""",
    "catboost": """
import catboost
model = catboost.CatBoostClassifier(iterations=40, verbose=False, allow_writing_files=False, thread_count=1)
model.fit(x, y, eval_set=(held, wanted))
kept = [model.get_evals_result()[name]["Logloss"] for name in ("learn", "validation")]
""",
    "sklearn": """
from sklearn.neural_network import MLPClassifier
model = MLPClassifier((16,), max_iter=30, learning_rate_init=0.003, random_state=0)
model.fit(x[:250], y[:250])
for _ in range(3):
    model.partial_fit(x[:250], y[:250])
kept = [model.loss_curve_]
""",
}
RATES = {"xgboost": 0.3, "lightgbm": 0.2, "catboost": None, "sklearn": 0.003}
THERE = [name for name in FITS if importlib.util.find_spec(name)]


def started(folder: Path, *under: str) -> list[str]:
    done = subprocess.run(
        [*under, sys.executable, "-W", "ignore", "train.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(traindx.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "capture stopped" not in done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("library", THERE)
def test_an_unmodified_script(library: str, tmp_path: Path) -> None:
    said = "print(json.dumps(kept))\nprint(model.predict(held).sum())\n"
    (tmp_path / "train.py").write_text(DATA + FITS[library] + said)
    plain = started(tmp_path)
    seen = started(tmp_path, sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--")
    assert seen[:2] == plain
    run, kept = traindx.read(tmp_path / "run"), json.loads(plain[0])
    assert run.framework == library
    np.testing.assert_allclose(run.series["train/loss"].values, kept[0])
    if len(kept) > 1:
        np.testing.assert_allclose(run.series["val/loss"].values, kept[1])
    assert list(run.series["train/loss"].steps) == list(range(1, len(kept[0]) + 1))
    assert_as_declared(library, run)
    if RATES[library] is not None:
        assert run.setup.number("lr") == pytest.approx(RATES[library])


@pytest.mark.skipif("sklearn" not in THERE, reason="scikit-learn is not installed")
@pytest.mark.parametrize(("call", "size"), [("model.fit(x[:250], y[:250])", 250), (
    "for i in range(5):\n    model.partial_fit(x[:250][i::5], y[:250][i::5], classes=[0, 1])", None)])  # fmt: skip
def test_epochs_and_settings_of_a_network(call: str, size: int | None, tmp_path: Path) -> None:
    """A piece of the data at a time does not show how much there is."""
    made = "from sklearn.neural_network import MLPClassifier\nmodel = MLPClassifier((16,), solver='sgd', max_iter=30)\n"
    (tmp_path / "train.py").write_text(DATA + made + call + "\n")
    started(tmp_path, sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--")
    run = traindx.read(tmp_path / "run")
    assert run.setup.number("dataset_size") == size
    assert run.axis == ("epoch" if size else "step")
    assert run.setup.number("batch_size") == (200 if size else 50)  # "auto" is 200, or all samples
    assert (run.setup.word("optimizer"), run.setup.number("momentum")) == ("sgd", 0.9)


CONTINUED = {
    "xgboost": """
import xgboost
made = lambda n: xgboost.XGBClassifier(n_estimators=n, max_depth=3, learning_rate=0.1)
sets = dict(eval_set=[(x, y), (held, wanted)], verbose=False)
made(30).fit(x, y, **sets)
first = made(20).fit(x, y, **sets)
first.save_model("first.json")
loaded = xgboost.XGBClassifier()
loaded.load_model("first.json")
made(25).fit(x, y, xgb_model=loaded, **sets)
""",
    "lightgbm": """
import lightgbm
given = {"objective": "binary", "verbose": -1, "learning_rate": 0.1}
def made(n, rate=0.1, **more):
    sets = [lightgbm.Dataset(x, y, free_raw_data=False), lightgbm.Dataset(held, wanted, free_raw_data=False)]
    return lightgbm.train({**given, "learning_rate": rate}, sets[0], n, valid_sets=sets,
                          valid_names=["training", "held"], **more)
made(30)
first = made(20)
made(25, init_model=first)
""",
    "catboost": """
import catboost
made = lambda n: catboost.CatBoostClassifier(iterations=n, verbose=False, allow_writing_files=False, depth=3,
                                             thread_count=1, learning_rate=0.1)
made(30).fit(x, y, eval_set=(held, wanted), use_best_model=False)
first = made(20).fit(x, y, eval_set=(held, wanted), use_best_model=False)
made(25).fit(x, y, eval_set=(held, wanted), init_model=first, use_best_model=False)
""",
    "sklearn": """
from sklearn.neural_network import MLPClassifier
made = lambda n: MLPClassifier((16,), max_iter=n, learning_rate_init=0.003, random_state=0, warm_start=True)
made(30).fit(x, y)
first = made(20).fit(x, y)
first.set_params(max_iter=25).fit(x, y)
""",
}


@pytest.mark.parametrize("library", THERE)
def test_trainings_of_one_script_are_apart_unless_one_continues_another(
    library: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(DATA + CONTINUED[library])
    started(tmp_path, sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--")
    runs = sorted((run.series["train/loss"] for run in traindx.read_all(tmp_path / "run")), key=len)
    assert [len(curve) for curve in runs] == [30, 45]
    for curve in runs:
        assert list(curve.steps) == list(range(1, len(curve) + 1))
        assert curve.values[-1] < curve.values[0]
        assert np.diff(curve.values).max() < 0.05 * np.ptp(curve.values)  # nothing begins anew within it


def test_names_of_sets_and_metrics() -> None:
    pair = {"validation_0": {"auc": 0.9, "logloss": 0.2}, "validation_1": {"auc": 0.7, "logloss": 0.4}}
    found = {"train/auc": 0.9, "train/loss": 0.2, "val/auc": 0.7, "val/loss": 0.4}
    assert signals(pair) == found
    assert signals({"held": pair["validation_1"]}) == {"val/auc": 0.7, "val/loss": 0.4}
    assert signals({"held": pair["validation_1"], "training": pair["validation_0"]}) == found
    assert signals({}) == {}
