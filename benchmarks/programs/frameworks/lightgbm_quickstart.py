"""Boosted trees with callbacks: early stopping and a log of evaluations."""

import lightgbm as lgb
import numpy as np

chance = np.random.default_rng(1)
x = chance.normal(size=(600, 8))
y = x[:, 0] * x[:, 1] + x[:, 2] + chance.normal(0, 0.3, 600)
train = lgb.Dataset(x[:450], y[:450])
held = lgb.Dataset(x[450:], y[450:], reference=train)
settings = {"objective": "regression", "metric": ["l2", "l1"], "num_leaves": 15, "learning_rate": 0.1, "verbose": -1,
            "num_threads": 1, "seed": 2, "deterministic": True}  # fmt: skip
found: dict = {}
callbacks = [lgb.early_stopping(5, verbose=False), lgb.record_evaluation(found)]
booster = lgb.train(settings, train, 60, valid_sets=[train, held], valid_names=["train", "eval"], callbacks=callbacks)
print(booster.best_iteration, found["eval"]["l2"])
print(booster.predict(x[450:455]).tolist())
