"""A loop from scratch in PyTorch, with a model of Keras, Keras's optimizer and a loader."""

import hashlib
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch

keras.utils.set_random_seed(13)
chance = np.random.default_rng(10)
x = chance.normal(size=(512, 20)).astype("float32")
y = (x @ chance.normal(size=(20, 4))).argmax(1)
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=32, shuffle=True
)
inputs = keras.Input((20,))
z = keras.layers.Dense(32, activation="relu")(inputs)
z = keras.layers.Dense(32, activation="relu")(z)
model = keras.Model(inputs, keras.layers.Dense(4)(z))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-3)
right = keras.metrics.SparseCategoricalAccuracy()
for epoch in range(4):
    for xs, ys in loader:
        scores = model(xs)
        loss = loss_fn(ys, scores)
        model.zero_grad()
        trainable = list(model.trainable_weights)
        loss.backward()
        grads = [v.value.grad for v in trainable]
        with torch.no_grad():
            optimizer.apply(grads, trainable)
        right.update_state(ys, scores)
    print(f"epoch {epoch}: loss {loss.detach():.6f}, accuracy {float(right.result()):.5f}")
    right.reset_state()
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
