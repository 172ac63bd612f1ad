"""Sequences of words by two bidirectional LSTMs."""

import hashlib
from pathlib import Path

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(4)
chance = np.random.default_rng(1)
x = chance.integers(1, 40, (320, 12))
y = (x[:, :6].sum(1) > x[:, 6:].sum(1)).astype("float32")
inputs = keras.Input(shape=(None,), dtype="int32")
z = layers.Embedding(40, 16)(inputs)
z = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(z)
z = layers.Bidirectional(layers.LSTM(12))(z)
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(z))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
log = keras.callbacks.CSVLogger("log.csv")
found = model.fit(
    x[:256], y[:256], batch_size=32, epochs=3, validation_data=(x[256:], y[256:]), verbose=0, callbacks=[log]
)
print(found.history)
print(Path("log.csv").read_text())
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
