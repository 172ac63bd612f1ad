"""Boost trees with CatBoost, XGBoost and LightGBM and keep their logs.

pip install catboost xgboost-cpu lightgbm numpy; python tests/logs/make/boosting.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost
from places import fresh, oracle


def data(seed: int, count: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, 6))
    return x, (x[:, 0] + x[:, 1] * x[:, 2] + rng.standard_normal(count) > 0).astype(int)


train, held = data(0), data(1)
metrics = {}

folder = fresh("catboost")
with tempfile.TemporaryDirectory() as work:
    model = catboost.CatBoostClassifier(
        iterations=40,
        eval_metric="AUC",
        custom_metric=["Logloss"],
        train_dir=work,
        verbose=0,
        thread_count=1,
        allow_writing_files=True,
    )
    model.fit(*train, eval_set=held)
    for name in ("learn_error.tsv", "test_error.tsv", "time_left.tsv", "catboost_training.json"):
        (folder / "catboost_info").mkdir(exist_ok=True)
        (folder / "catboost_info" / name).write_bytes((Path(work) / name).read_bytes())
metrics["catboost"] = model.get_evals_result()

folder = fresh("boosting")
rounds: dict[str, dict[str, list[float]]] = {}
matrices = [xgboost.DMatrix(x, label=y) for x, y in (train, held)]
xgboost.train(
    {"objective": "binary:logistic", "eval_metric": ["logloss", "error"], "nthread": 1},
    matrices[0],
    30,
    evals=list(zip(matrices, ("validation_0", "validation_1"), strict=True)),
    evals_result=rounds,
    verbose_eval=False,
)
(folder / "xgboost_evals_result.json").write_text(json.dumps(rounds))
metrics["xgboost"] = rounds

history: dict[str, dict[str, list[float]]] = {}
sets = lightgbm.Dataset(*train)
lightgbm.train(
    {"objective": "binary", "metric": ["binary_logloss", "auc"], "verbose": -1, "num_threads": 1},
    sets,
    30,
    valid_sets=[sets, lightgbm.Dataset(*held, reference=sets)],
    valid_names=["training", "valid_1"],
    callbacks=[lightgbm.record_evaluation(history)],
)
(folder / "lightgbm_evals_result.json").write_text(json.dumps(history))
metrics["lightgbm"] = history
oracle("boosting", metrics)
