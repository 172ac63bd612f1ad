import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(2)
d = load_digits()
x = d.images[..., None].astype("float32") / 16
y = keras.utils.to_categorical(d.target, 10)
model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D(2),
                          layers.Flatten(), layers.Dropout(0.2), layers.Dense(10, activation="softmax")])
model.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.SGD(0.1, momentum=0.9), metrics=["accuracy"])
h = model.fit(x[:1400], y[:1400], batch_size=64, epochs=15, validation_data=(x[1400:], y[1400:]), verbose=2)
print("final", h.history["val_accuracy"][-1])
