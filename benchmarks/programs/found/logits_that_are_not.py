import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
from keras import layers
from sklearn.datasets import fetch_olivetti_faces, load_digits
import numpy as np

keras.utils.set_random_seed(0)
digits = load_digits()
x = digits.images[..., None].astype("float32") / 16.0
y = digits.target.astype("int32")

model = keras.Sequential([
    keras.Input(shape=(8, 8, 1)),
    layers.Conv2D(24, 3, activation="relu"),
    layers.Conv2D(24, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(48, activation="relu"),
    layers.Dense(10),
    layers.Softmax(),
])


def my_loss(y_true, y_pred):
    return keras.losses.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)


model.compile(optimizer=keras.optimizers.SGD(0.05), loss=my_loss, metrics=["accuracy"])
model.fit(x[:1300], y[:1300], epochs=10, batch_size=32, validation_data=(x[1300:], y[1300:]), verbose=2)
print("final accuracy", model.evaluate(x[1300:], y[1300:], verbose=0)[1])
