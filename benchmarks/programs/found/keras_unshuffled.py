import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from sklearn.datasets import load_digits

keras.utils.set_random_seed(5)
x, y = load_digits(return_X_y=True)
x = (x / 16).astype("float32")
rng = np.random.default_rng(0)
perm = rng.permutation(len(x))
x, y = x[perm], y[perm]
x_val, y_val = x[1400:], y[1400:]
# files were read directory by directory: 0/, 1/, 2/ ...
order = np.argsort(y[:1400], kind="stable")
x_train, y_train = x[:1400][order], y[:1400][order]

model = keras.Sequential([
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=12, batch_size=20, shuffle=False, validation_data=(x_val, y_val), verbose=2)
print("final accuracy", model.evaluate(x_val, y_val, verbose=0)[1])
