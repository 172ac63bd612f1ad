import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
from sklearn.datasets import load_digits

keras.utils.set_random_seed(7)
d = load_digits()
x, y = d.images[..., None].astype("float32") / 16, d.target
model = keras.Sequential([
    keras.Input((8, 8, 1)),
    keras.layers.Conv2D(16, 3, activation="relu", padding="same"),
    keras.layers.MaxPooling2D(),
    keras.layers.Flatten(),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:1400], y[:1400], batch_size=32, epochs=6, validation_data=(x[1400:], y[1400:]), verbose=2)
loss, acc = model.evaluate(x[1400:], y[1400:], verbose=0)
print(f"final accuracy: {acc:.4f}")
