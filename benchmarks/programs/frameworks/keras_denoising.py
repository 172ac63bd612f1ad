"""A convolutional autoencoder: first clean images to themselves, then noisy ones to clean ones, in a second `fit`."""

import hashlib

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(9)
chance = np.random.default_rng(4)
images = np.zeros((256, 12, 12, 1), "float32")
for image in images:
    row, column = chance.integers(0, 8, 2)
    image[row : row + 4, column : column + 4] = 1
noisy = np.clip(images + 0.4 * chance.normal(size=images.shape), 0, 1).astype("float32")

inputs = layers.Input((12, 12, 1))
x = layers.Conv2D(8, 3, activation="relu", padding="same")(inputs)
x = layers.MaxPooling2D(2, padding="same")(x)
x = layers.Conv2D(8, 3, activation="relu", padding="same")(x)
x = layers.Conv2DTranspose(8, 3, strides=2, activation="relu", padding="same")(x)
model = keras.Model(inputs, layers.Conv2D(1, 3, activation="sigmoid", padding="same")(x))
model.compile(optimizer="adam", loss="binary_crossentropy")
train, held = slice(0, 192), slice(192, None)
for given in (images, noisy):
    found = model.fit(
        given[train], images[train], epochs=2, batch_size=32, shuffle=True, verbose=0,
        validation_data=(given[held], images[held]),
    )  # fmt: skip
    print(found.history)
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
