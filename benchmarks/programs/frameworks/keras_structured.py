"""Numbers and categories in a functional model with several inputs, early stopping with the best weights."""

import hashlib

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(1)
chance = np.random.default_rng(3)
n = 800
age, rate = chance.uniform(20, 80, (n, 1)).astype("float32"), chance.normal(130, 20, (n, 1)).astype("float32")
kind = chance.integers(0, 5, (n, 1))
score = (age - 50) / 15 + (rate - 130) / 25 + np.array([1.0, -1, 0.5, -0.5, 0])[kind]
y = (score + chance.normal(0, 0.5, (n, 1)) > 0).astype("float32")

normal_age, normal_rate = layers.Normalization(), layers.Normalization()
normal_age.adapt(age[:600])
normal_rate.adapt(rate[:600])
inputs = {"age": keras.Input((1,), name="age"), "rate": keras.Input((1,), name="rate"),
          "kind": keras.Input((1,), dtype="int32", name="kind")}  # fmt: skip
parts = [
    normal_age(inputs["age"]),
    normal_rate(inputs["rate"]),
    layers.Flatten()(layers.Embedding(5, 3)(inputs["kind"])),
]
x = layers.Dense(32, activation="relu")(layers.Concatenate()(parts))
outputs = layers.Dense(1, activation="sigmoid")(layers.Dropout(0.2)(x))
model = keras.Model(inputs, outputs)
model.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])


def rows(part):
    return {"age": age[part], "rate": rate[part], "kind": kind[part]}


stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True)
train, held = slice(0, 600), slice(600, None)
found = model.fit(
    rows(train), y[train], batch_size=32, epochs=25, validation_data=(rows(held), y[held]), callbacks=[stop], verbose=0
)
print(len(found.epoch), found.history["val_loss"][-1], found.history["auc"][-1])
print(model.predict(rows(slice(0, 3)), verbose=0).tolist())
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
