"""A loop from scratch in JAX: stateless calls of model and optimizer in a compiled step."""

import hashlib
import os

os.environ["KERAS_BACKEND"] = "jax"
import jax
import keras
import numpy as np

keras.utils.set_random_seed(12)
chance = np.random.default_rng(9)
x = chance.normal(size=(512, 20)).astype("float32")
y = (x @ chance.normal(size=(20, 4))).argmax(1)
inputs = keras.Input((20,))
z = keras.layers.Dense(32, activation="relu")(inputs)
z = keras.layers.BatchNormalization()(z)
model = keras.Model(inputs, keras.layers.Dense(4)(z))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


def loss_and_updates(trainable, non_trainable, x, y):
    scores, non_trainable = model.stateless_call(trainable, non_trainable, x, training=True)
    return loss_fn(y, scores), non_trainable


grad_fn = jax.value_and_grad(loss_and_updates, has_aux=True)


@jax.jit
def train_step(state, data):
    trainable, non_trainable, held = state
    (loss, non_trainable), grads = grad_fn(trainable, non_trainable, *data)
    trainable, held = optimizer.stateless_apply(held, grads, trainable)
    return loss, (trainable, non_trainable, held)


state = ([v.value for v in model.trainable_variables], [v.value for v in model.non_trainable_variables],
         [v.value for v in optimizer.variables])  # fmt: skip
for epoch in range(5):
    order = np.random.default_rng(epoch).permutation(512)
    for step in range(16):
        rows = order[32 * step : 32 * step + 32]
        loss, state = train_step(state, (x[rows], y[rows]))
    print(f"epoch {epoch}: loss {float(loss):.6f}")
for variable, value in zip(model.trainable_variables, state[0], strict=False):
    variable.assign(value)
for variable, value in zip(model.non_trainable_variables, state[1], strict=False):
    variable.assign(value)
print(float(loss_fn(y, model(x))))
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
