"""Half precision with a loss scale, as Keras makes it of a policy."""

import hashlib

import keras
import numpy as np

keras.utils.set_random_seed(16)
keras.mixed_precision.set_dtype_policy("mixed_float16")
chance = np.random.default_rng(15)
x = chance.normal(size=(256, 16)).astype("float32")
y = (x @ chance.normal(size=(16, 3))).argmax(1)
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(3)])
model.add(keras.layers.Activation("softmax", dtype="float32"))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
print(model.fit(x, y, epochs=4, batch_size=32, verbose=0, validation_split=0.2).history)
print(type(model.optimizer).__name__)
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
