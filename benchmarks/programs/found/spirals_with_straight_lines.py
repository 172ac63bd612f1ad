import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
n = 900
r = rng.uniform(0.3, 3, n)
side = rng.integers(0, 2, n)
angle = 2 * r + np.pi * side
pts = np.stack([r * np.cos(angle), r * np.sin(angle)], 1) + 0.08 * rng.normal(size=(n, 2))
pts = pts.astype("float32")

net = keras.Sequential([keras.Input((2,))])
for width in (64, 64, 32):
    net.add(keras.layers.Dense(width))
net.add(keras.layers.Dense(1, activation="sigmoid"))
net.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy", metrics=["accuracy"])
net.fit(pts[:700], side[:700], validation_data=(pts[700:], side[700:]), epochs=40, batch_size=32, verbose=2)
print("final val accuracy", net.evaluate(pts[700:], side[700:], verbose=0)[1])
