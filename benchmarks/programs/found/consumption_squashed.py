import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

rng = np.random.default_rng(8)
keras.utils.set_random_seed(8)
n = 1500
weight, horses, year = rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
mpg = 4 - 1.2 * weight - 0.8 * horses + 0.6 * year + 0.3 * weight * horses + 0.2 * rng.normal(size=n)
features = np.stack([weight, horses, year], 1).astype("float32")
train, test = slice(0, 1200), slice(1200, None)

inputs = keras.Input((3,))
h = keras.layers.Dense(64, activation="relu")(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
out = keras.layers.Dense(1, activation="sigmoid")(h)
model = keras.Model(inputs, out)
model.compile("adam", loss="mse", metrics=["mae"])
model.fit(features[train], mpg[train].astype("float32"), epochs=25, batch_size=32, verbose=2, validation_split=0.2)
print("final test mae", model.evaluate(features[test], mpg[test].astype("float32"), verbose=0)[1])
