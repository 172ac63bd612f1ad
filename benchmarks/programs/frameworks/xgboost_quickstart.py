"""Boosted trees with early stopping on a held-out set, saved and loaded."""

import numpy as np
import xgboost as xgb

chance = np.random.default_rng(0)
x = chance.normal(size=(600, 8))
y = (x[:, 0] * x[:, 1] + x[:, 2] + chance.normal(0, 0.5, 600) > 0).astype(int)
train, held = xgb.DMatrix(x[:450], label=y[:450]), xgb.DMatrix(x[450:], label=y[450:])
settings = {"max_depth": 3, "eta": 0.3, "objective": "binary:logistic", "nthread": 1, "seed": 1}
found: dict = {}
booster = xgb.train(
    settings, train, 40, evals=[(train, "train"), (held, "eval")], early_stopping_rounds=5, evals_result=found,
    verbose_eval=10,
)  # fmt: skip
print(booster.best_iteration, found["eval"]["logloss"])
booster.save_model("model.json")
again = xgb.Booster(model_file="model.json")
print(again.predict(held)[:5].tolist())
