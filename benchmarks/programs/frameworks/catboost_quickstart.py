"""Boosted trees on numbers and categories, the best iteration kept."""

import numpy as np
from catboost import CatBoostClassifier, Pool

chance = np.random.default_rng(2)
numbers, kinds = chance.normal(size=(500, 5)), chance.integers(0, 4, (500, 1))
y = (numbers[:, 0] + (kinds[:, 0] - 1.5) + chance.normal(0, 0.5, 500) > 0).astype(int)
rows = [[*a.tolist(), str(b[0])] for a, b in zip(numbers, kinds, strict=True)]
train, held = Pool(rows[:400], y[:400], cat_features=[5]), Pool(rows[400:], y[400:], cat_features=[5])
model = CatBoostClassifier(
    iterations=40, depth=4, learning_rate=0.1, loss_function="Logloss", eval_metric="Accuracy", random_seed=3,
    thread_count=1, verbose=False, allow_writing_files=False, use_best_model=True,
)  # fmt: skip
model.fit(train, eval_set=held)
print(model.tree_count_, model.get_evals_result()["validation"]["Logloss"])
print(model.predict_proba(held)[:3].tolist())
