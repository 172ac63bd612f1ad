"""Gradients of four small batches for each step, by `MultiSteps`."""

import hashlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

chance = np.random.default_rng(1)
x = chance.normal(size=(512, 12)).astype("f4")
y = np.sin(x @ chance.normal(size=(12, 1))).astype("f4")
keys = jax.random.split(jax.random.key(1), 2)
params = {"a": jax.random.normal(keys[0], (12, 32)) * 0.3, "b": jax.random.normal(keys[1], (32, 1)) * 0.2}
optimizer = optax.MultiSteps(optax.adam(5e-3), every_k_schedule=4)
state = optimizer.init(params)


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - y) ** 2)


@jax.jit
def step(params, state, x, y):
    value, grads = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


for epoch in range(4):
    order, total = np.random.default_rng(epoch).permutation(512), 0.0
    for at in range(0, 512, 16):
        params, state, value = step(params, state, x[order[at : at + 16]], y[order[at : at + 16]])
        total += float(value)
    print(epoch, f"{total / 32:.5f}", int(state.gradient_step))
print(hashlib.sha256(b"".join(np.asarray(w).tobytes() for w in jax.tree.leaves(params))).hexdigest())
