"""Train with Keras (torch backend) and keep CSVLogger files and a history.json.

pip install torch keras; KERAS_BACKEND=torch python tests/logs/make/keras_logs.py
`shifted.csv` is the trap of append mode: the third fit logs an accuracy, which sorts before the
loss, under the header of the first two.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from net import data
from places import fresh, oracle


def fit(
    epochs: int, log: keras.callbacks.Callback | None, lr: float = 0.01, metrics: tuple[str, ...] = ("mse",)
) -> dict[str, list[float]]:
    model = keras.Sequential(
        [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4, activation="softmax")]
    )
    x, y = (t.numpy() for t in data(seed=0))
    held = tuple(t.numpy() for t in data(seed=1))
    model.compile(keras.optimizers.Adam(lr), "mse", metrics=list(metrics))
    hot = keras.utils.to_categorical
    return model.fit(
        x,
        hot(y),
        validation_data=(held[0], hot(held[1])),
        epochs=epochs,
        verbose=0,
        batch_size=32,
        callbacks=[log] if log else [],
    ).history


folder = fresh("keras")
keras.utils.set_random_seed(1)
logger = keras.callbacks.CSVLogger
histories = {"plain": [fit(12, logger(folder / "plain.csv"))]}
(folder / "history.json").write_text(json.dumps(histories["plain"][0]))
histories["appended"] = [
    fit(n, logger(folder / "appended.csv", separator=";", append=True)) for n in (3, 2, 8)
]
histories["diverged"] = [fit(10, logger(folder / "diverged.csv"), lr=1e30)]
histories["shifted"] = [
    fit(15, logger(folder / "shifted.csv", append=True), metrics=m)
    for m in (("mse",), ("mse",), ("accuracy",))
]
oracle("keras", histories)
