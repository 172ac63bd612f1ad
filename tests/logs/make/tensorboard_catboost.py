"""Boost trees with CatBoost, which writes event files without a suffix.

pip install catboost tensorboard; python tests/logs/make/tensorboard_catboost.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import catboost
import numpy as np
from places import fresh, oracle
from tb_oracle import found_below

folder = fresh("tensorboard_catboost")
rng = np.random.default_rng(0)
inputs = rng.standard_normal((300, 5))
target = inputs[:, 0] * inputs[:, 1] + rng.standard_normal(300)
with tempfile.TemporaryDirectory() as work:
    model = catboost.CatBoostRegressor(iterations=60, train_dir=work, verbose=0, thread_count=1)
    model.fit(inputs[:200], target[:200], eval_set=(inputs[200:], target[200:]))
    for split in ("learn", "test"):
        (folder / split).mkdir()
        shutil.copy(Path(work) / split / "events.out.tfevents", folder / split)
oracle("tensorboard_catboost", found_below(folder))
