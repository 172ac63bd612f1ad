"""A loop from scratch in TensorFlow: a tape, a compiled step, metrics of one's own."""

import hashlib

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
chance = np.random.default_rng(8)
x = chance.normal(size=(512, 20)).astype("float32")
y = (x @ chance.normal(size=(20, 4))).argmax(1)
train = tf.data.Dataset.from_tensor_slices((x[:448], y[:448])).shuffle(448, seed=3).batch(32)
held = tf.data.Dataset.from_tensor_slices((x[448:], y[448:])).batch(32)

inputs = keras.Input((20,), name="features")
z = keras.layers.Dense(32, activation="relu")(inputs)
z = keras.layers.Dense(32, activation="relu")(z)
model = keras.Model(inputs, keras.layers.Dense(4, name="scores")(z))
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
right, right_held = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = loss_fn(y, scores)
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    right.update_state(y, scores)
    return loss


@tf.function
def test_step(x, y):
    right_held.update_state(y, model(x, training=False))


for epoch in range(4):
    for step, (xs, ys) in enumerate(train):
        loss = train_step(xs, ys)
        if step % 5 == 0:
            print(f"loss at step {step}: {float(loss):.7f}")
    for xs, ys in held:
        test_step(xs, ys)
    print(f"epoch {epoch}: accuracy {float(right.result()):.5f}, held out {float(right_held.result()):.5f}")
    right.reset_state()
    right_held.reset_state()
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
