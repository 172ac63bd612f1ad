"""A whole epoch in one compiled `scan`, and a frozen first layer by `multi_transform`."""

import hashlib

import jax
import numpy as np
import optax

chance = np.random.default_rng(2)
x = chance.normal(size=(16, 32, 8)).astype("f4")
y = (x @ chance.normal(size=(8, 3))).argmax(-1)
keys = jax.random.split(jax.random.key(2), 2)
params = {"first": jax.random.normal(keys[0], (8, 24)) * 0.35, "second": jax.random.normal(keys[1], (24, 3)) * 0.2}
optimizer = optax.multi_transform({"train": optax.sgd(0.2, momentum=0.9), "keep": optax.set_to_zero()},
                                  {"first": "keep", "second": "train"})  # fmt: skip
state = optimizer.init(params)


def loss_of(params, batch):
    x, y = batch
    return optax.softmax_cross_entropy_with_integer_labels(
        jax.nn.relu(x @ params["first"]) @ params["second"], y
    ).mean()


@jax.jit
def epoch(params, state):
    def step(held, batch):
        params, state = held
        value, grads = jax.value_and_grad(loss_of)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), value

    (params, state), values = jax.lax.scan(step, (params, state), (x, y))
    return params, state, values.mean()


for number in range(6):
    params, state, value = epoch(params, state)
    print(number, f"{float(value):.4f}")
print(hashlib.sha256(b"".join(np.asarray(w).tobytes() for w in jax.tree.leaves(params))).hexdigest())
