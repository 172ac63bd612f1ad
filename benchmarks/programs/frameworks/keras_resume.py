"""A training that is broken off in its third epoch and taken up again where it was, under a schedule."""

import hashlib
import tempfile

import keras
import numpy as np

folder = tempfile.mkdtemp()
chance = np.random.default_rng(6)
x = chance.normal(size=(256, 10)).astype("float32")
y = np.tanh(x @ chance.normal(size=(10, 1))).astype("float32")


class Broken(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


def model():
    keras.utils.set_random_seed(10)
    made = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)])
    rate = keras.optimizers.schedules.CosineDecay(1e-2, 8 * 5, warmup_target=2e-2, warmup_steps=8)
    made.compile(keras.optimizers.AdamW(rate, weight_decay=1e-3), "mse", metrics=["mae"])
    return made


keep = keras.callbacks.BackupAndRestore(folder)
try:
    model().fit(x, y, epochs=5, batch_size=32, verbose=0, callbacks=[keep, Broken()])
except KeyboardInterrupt:
    print("broken off")
second = model()
found = second.fit(x, y, epochs=5, batch_size=32, verbose=0, callbacks=[keras.callbacks.BackupAndRestore(folder)])
print(found.epoch, found.history, int(second.optimizer.iterations.numpy()))
print(hashlib.sha256(b"".join(w.tobytes() for w in second.get_weights())).hexdigest())
