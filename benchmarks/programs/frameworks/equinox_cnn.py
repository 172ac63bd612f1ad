"""A convnet in Equinox: one image under `vmap`, `filter_jit`, evaluation now and then."""

import hashlib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

chance = np.random.default_rng(5)
labels = chance.integers(0, 4, 320)
images = chance.normal(0, 0.3, (320, 1, 8, 8)).astype("f4")
for i, label in enumerate(labels):
    images[i, 0, 2 * label : 2 * label + 2] += 1


class Cnn(eqx.Module):
    layers: list

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Conv2d(1, 3, kernel_size=3, key=a), eqx.nn.MaxPool2d(kernel_size=2), jax.nn.relu, jnp.ravel,
            eqx.nn.Linear(75, 32, key=b), jax.nn.sigmoid, eqx.nn.Linear(32, 4, key=c), jax.nn.log_softmax,
        ]  # fmt: skip

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss(model, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.vmap(model)(x), y[:, None], axis=1))


model = Cnn(jax.random.key(5678))
optimizer = optax.adamw(3e-3)
state = optimizer.init(eqx.filter(model, eqx.is_array))


@eqx.filter_jit
def make_step(model, state, x, y):
    value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
    updates, state = optimizer.update(grads, state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), state, value


for step in range(60):
    at = 32 * (step % 8)
    model, state, value = make_step(model, state, images[at : at + 32], jnp.asarray(labels[at : at + 32]))
    if step % 10 == 9:
        held = float(eqx.filter_jit(loss)(model, images[256:], jnp.asarray(labels[256:])))
        print(f"{step}: {float(value):.4f}, test {held:.4f}")
print(
    hashlib.sha256(
        b"".join(np.asarray(w).tobytes() for w in jax.tree.leaves(eqx.filter(model, eqx.is_array)))
    ).hexdigest()
)
