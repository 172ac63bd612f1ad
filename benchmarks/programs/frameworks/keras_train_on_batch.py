"""Batches given one by one, an autoencoder whose parts are saved and loaded, and a rate that the loop lowers."""

import hashlib
import tempfile

import keras
import numpy as np

keras.utils.set_random_seed(15)
chance = np.random.default_rng(14)
x = (chance.normal(size=(384, 3)) @ chance.normal(size=(3, 12))).astype("float32")
encoder = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(3)])
decoder = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(12)])
inputs = keras.Input((12,))
model = keras.Model(inputs, decoder(encoder(inputs)))
model.compile(keras.optimizers.SGD(0.02, momentum=0.9), "mse", metrics=["mae"])
for epoch in range(5):
    if epoch == 3:
        model.optimizer.learning_rate = 0.005
    order = np.random.default_rng(epoch).permutation(384)
    for step in range(12):
        rows = order[32 * step : 32 * step + 32]
        loss, mae = model.train_on_batch(x[rows], x[rows])
    print(f"epoch {epoch}: loss {float(loss):.6f}, mae {float(mae):.6f}, test {model.test_on_batch(x, x)}")
    model.reset_metrics()
folder = tempfile.mkdtemp()
encoder.save(f"{folder}/encoder.keras")
again = keras.models.load_model(f"{folder}/encoder.keras")
print(np.abs(again.predict_on_batch(x[:8]) - encoder.predict_on_batch(x[:8])).max())
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
