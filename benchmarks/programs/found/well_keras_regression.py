import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from sklearn.datasets import make_friedman1

keras.utils.set_random_seed(7)
X, y = make_friedman1(2400, noise=0.5, random_state=7)
X = X * np.array([10, 1, 1, 100, 1, 1, 1, 5, 1, 1])
train_x, train_y, test_x, test_y = X[:2000].astype("float32"), y[:2000].astype("float32"), X[2000:].astype("float32"), y[2000:].astype("float32")
norm = keras.layers.Normalization()
norm.adapt(train_x)
mean, std = train_y.mean(), train_y.std()
model = keras.Sequential([norm, keras.layers.Dense(64, "relu"), keras.layers.Dense(64, "relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
model.fit(train_x, (train_y - mean) / std, validation_split=0.2, epochs=60, batch_size=32, verbose=2,
          callbacks=[keras.callbacks.EarlyStopping(patience=6, restore_best_weights=True)])
print("final r2", 1 - np.mean((model.predict(test_x, verbose=0)[:, 0] * std + mean - test_y) ** 2) / test_y.var())
