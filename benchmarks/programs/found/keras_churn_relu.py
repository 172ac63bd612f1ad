import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(18)
rng = np.random.default_rng(18)
X = rng.normal(size=(1500, 11)).astype("float32")
y = (X[:, 0] + X[:, 3] - X[:, 5] + 0.4 * rng.normal(size=1500) > 0).astype("float32")
classifier = keras.Sequential()
classifier.add(keras.Input((11,)))
classifier.add(layers.Dense(6, activation="relu"))
classifier.add(layers.Dense(6, activation="relu"))
classifier.add(layers.Dense(1, activation="relu"))
classifier.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
h = classifier.fit(X, y, batch_size=20, epochs=12, validation_split=0.2, verbose=2)
print("final", h.history["val_accuracy"][-1])
