"""Rare frauds: class weights, dropout, metrics of rare classes, a checkpoint of every epoch, the last one loaded."""

import hashlib
import tempfile
from pathlib import Path

import keras
import numpy as np

keras.utils.set_random_seed(2)
chance = np.random.default_rng(11)
x = chance.normal(size=(2000, 12)).astype("float32")
y = (x[:, 0] + x[:, 1] * x[:, 2] + chance.normal(0, 0.4, 2000) > 2.6).astype("uint8")[:, None]
counts = np.bincount(y[:1600, 0])
weights = {0: 1.0 / counts[0], 1: 1.0 / counts[1]}
mean, std = x[:1600].mean(0), x[:1600].std(0)
x = (x - mean) / std

model = keras.Sequential([keras.Input((12,))])
for _ in range(2):
    model.add(keras.layers.Dense(64, activation="relu"))
    model.add(keras.layers.Dropout(0.3))
model.add(keras.layers.Dense(1, activation="sigmoid"))
metrics = [keras.metrics.FalseNegatives(name="fn"), keras.metrics.Precision(name="p"), keras.metrics.Recall(name="r")]
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=metrics)
folder = Path(tempfile.mkdtemp())
callbacks = [keras.callbacks.ModelCheckpoint(str(folder / "at_{epoch}.keras"))]
found = model.fit(
    x[:1600], y[:1600], batch_size=256, epochs=6, callbacks=callbacks, validation_data=(x[1600:], y[1600:]),
    class_weight=weights, verbose=0,
)  # fmt: skip
print(found.history["val_r"], found.history["loss"])
again = keras.models.load_model(folder / "at_6.keras")
print(np.abs(again.predict(x[:50], verbose=0) - model.predict(x[:50], verbose=0)).max())
print(hashlib.sha256(b"".join(w.tobytes() for w in again.get_weights())).hexdigest())
