"""Flax Linen with a `TrainState`, saved as bytes and taken up again."""

import hashlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import serialization
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(32)(x))
        return nn.Dense(3)(nn.LayerNorm()(x))


chance = np.random.default_rng(4)
x = chance.normal(size=(256, 10)).astype("f4")
y = (x @ chance.normal(size=(10, 3))).argmax(1)
model = Net()
params = model.init(jax.random.key(0), jnp.ones((1, 10)))["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1, 0.9))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        scores = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def epochs(state, numbers):
    for epoch in numbers:
        for at in range(0, 256, 32):
            state, loss = train_step(state, x[at : at + 32], y[at : at + 32])
        print(epoch, f"{float(loss):.5f}", int(state.step))
    return state


state = epochs(state, range(2))
saved = serialization.to_bytes(state)
state = epochs(serialization.from_bytes(state, saved), range(2, 5))
print(hashlib.sha256(b"".join(np.asarray(w).tobytes() for w in jax.tree.leaves(state.params))).hexdigest())
