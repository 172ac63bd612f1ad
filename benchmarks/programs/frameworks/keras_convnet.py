"""A small convnet on images of strokes, with a held-out share."""

import hashlib

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(812)
chance = np.random.default_rng(0)
labels = chance.integers(0, 4, 600)
images = chance.normal(0, 0.3, (600, 12, 12, 1)).astype("float32")
for i, label in enumerate(labels):
    images[i, 3 * label : 3 * label + 2, :, 0] += 1.0
wanted = keras.utils.to_categorical(labels, 4)

model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
history = model.fit(images[:500], wanted[:500], batch_size=50, epochs=4, validation_split=0.1, verbose=0)
print(history.history)
print("test", model.evaluate(images[500:], wanted[500:], verbose=0))
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
