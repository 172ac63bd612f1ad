"""A convnet in Flax NNX: `nnx.Optimizer`, `nnx.MultiMetric`, compiled steps for training and evaluation."""

import hashlib
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

chance = np.random.default_rng(3)
labels = chance.integers(0, 4, 384)
images = chance.normal(0, 0.3, (384, 8, 8, 1)).astype("f4")
for i, label in enumerate(labels):
    images[i, 2 * label : 2 * label + 2, :, 0] += 1


class Cnn(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 8, kernel_size=(3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.dense, self.last = nnx.Linear(128, 32, rngs=rngs), nnx.Linear(32, 4, rngs=rngs)
        self.pool = partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))

    def __call__(self, x):
        x = self.pool(nnx.relu(self.norm(self.conv(x))))
        return self.last(self.drop(nnx.relu(self.dense(x.reshape(x.shape[0], -1)))))


model = Cnn(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adamw(5e-3, 0.9), wrt=nnx.Param)
metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))


def loss_fn(model, x, y):
    scores = model(x)
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean(), scores


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    (loss, scores), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, y)
    metrics.update(loss=loss, logits=scores, labels=y)
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, x, y):
    loss, scores = loss_fn(model, x, y)
    metrics.update(loss=loss, logits=scores, labels=y)


for _epoch in range(3):
    model.train()
    for at in range(0, 320, 32):
        train_step(model, optimizer, metrics, images[at : at + 32], labels[at : at + 32])
    print("train", {name: f"{float(value):.4f}" for name, value in metrics.compute().items()})
    metrics.reset()
    model.eval()
    eval_step(model, metrics, jnp.asarray(images[320:]), jnp.asarray(labels[320:]))
    print("test", {name: f"{float(value):.4f}" for name, value in metrics.compute().items()})
    metrics.reset()
print(
    hashlib.sha256(b"".join(np.asarray(w).tobytes() for w in jax.tree.leaves(nnx.state(model, nnx.Param)))).hexdigest()
)
