"""A model of Keras, trained by an optimizer and a loss of PyTorch."""

import hashlib
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch

keras.utils.set_random_seed(14)
chance = np.random.default_rng(12)
x = torch.from_numpy(chance.normal(size=(400, 15)).astype("float32"))
y = torch.from_numpy((x.numpy() @ chance.normal(size=(15, 3))).argmax(1))
model = keras.Sequential(
    [keras.Input((15,)), keras.layers.Dense(24, "relu"), keras.layers.Dropout(0.1), keras.layers.Dense(3)]
)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:320], y[:320]), batch_size=32, shuffle=True)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = torch.nn.CrossEntropyLoss()
for epoch in range(4):
    model.train()
    for xs, ys in loader:
        loss = loss_fn(model(xs, training=True), ys)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held = loss_fn(model(x[320:]), y[320:])
    print(f"epoch {epoch}: loss {loss.item():.6f}, held out {held.item():.6f}")
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
