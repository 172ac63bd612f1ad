import os
os.environ["KERAS_BACKEND"] = "torch"
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(3)
d = load_digits()
images = (d.images * (255 / 16)).round().astype("float32").reshape(-1, 64)
y = keras.utils.to_categorical(d.target, 10)
x_train, x_test, y_train, y_test = images[:1400], images[1400:], y[:1400], y[1400:]

model = keras.Sequential()
model.add(keras.Input((64,)))
model.add(layers.Dense(64, activation="sigmoid"))
model.add(layers.Dense(64, activation="sigmoid"))
model.add(layers.Dense(10, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.SGD(learning_rate=0.01), metrics=["accuracy"])
hist = model.fit(x_train, y_train, batch_size=64, epochs=12, verbose=2, validation_data=(x_test, y_test))
print("final test accuracy", hist.history["val_accuracy"][-1])
