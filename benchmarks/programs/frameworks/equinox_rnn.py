"""Spirals told apart by a GRU under `lax.scan`; saved half way and loaded into a new model."""

import hashlib
import tempfile

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

chance = np.random.default_rng(6)
t = np.linspace(0, 6.28, 16)
phase, turn = chance.uniform(0, 6.28, 256), chance.integers(0, 2, 256)
way = np.where(turn, 1, -1)[:, None]
x = np.stack([np.cos(way * t + phase[:, None]), np.sin(way * t + phase[:, None])], -1).astype("f4")
y = turn.astype("f4")


class Rnn(eqx.Module):
    cell: eqx.nn.GRUCell
    linear: eqx.nn.Linear
    bias: jax.Array

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.cell, self.linear = eqx.nn.GRUCell(2, 8, key=a), eqx.nn.Linear(8, 1, use_bias=False, key=b)
        self.bias = jnp.zeros(1)

    def __call__(self, xs):
        held, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(8), xs)
        return jax.nn.sigmoid(self.linear(held) + self.bias)


@eqx.filter_value_and_grad
def compute_loss(model, x, y):
    found = jax.vmap(model)(x)[:, 0]
    return -jnp.mean(y * jnp.log(found) + (1 - y) * jnp.log(1 - found))


optimizer = optax.adam(3e-3)


@eqx.filter_jit
def make_step(model, x, y, state):
    loss, grads = compute_loss(model, x, y)
    updates, state = optimizer.update(grads, state)
    return loss, eqx.apply_updates(model, updates), state


def train(model, state, steps):
    for step in steps:
        at = 32 * (step % 8)
        loss, model, state = make_step(model, x[at : at + 32], y[at : at + 32], state)
        if step % 10 == 9:
            print(step, f"{float(loss):.5f}")
    return model, state


model = Rnn(jax.random.key(0))
model, state = train(model, optimizer.init(eqx.filter(model, eqx.is_inexact_array)), range(40))
file = tempfile.mktemp(suffix=".eqx")
eqx.tree_serialise_leaves(file, (model, state))
model, state = train(*eqx.tree_deserialise_leaves(file, (model, state)), range(40, 80))
print(hashlib.sha256(b"".join(np.asarray(w).tobytes() for w in jax.tree.leaves(model))).hexdigest())
