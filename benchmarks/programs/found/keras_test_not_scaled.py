import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
from sklearn.datasets import load_digits

keras.utils.set_random_seed(5)
d = load_digits()
x_train, y_train = d.data[:1300].astype("float32") / 255 * 16, d.target[:1300]
x_test, y_test = d.data[1300:].astype("float32"), d.target[1300:]   # forgot to divide
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64, activation="relu"),
                          keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h = model.fit(x_train, y_train, epochs=12, batch_size=32, validation_data=(x_test, y_test), verbose=2)
print("final", h.history["val_accuracy"][-1])
