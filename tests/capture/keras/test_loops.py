"""Loops of one's own with Keras: a tape in TensorFlow, `stateless_apply` on JAX; and a loss scale. Each script,
unmodified, is the same to the last bit, and what is recorded is what it measures itself."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.keras.keras_process import BACKENDS, started

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

HEAD = """
import hashlib
import json

import keras
import numpy as np

keras.utils.set_random_seed(0)
chance = np.random.default_rng(0)
x = chance.normal(size=(160, 12)).astype("f4")
y = (x @ chance.normal(size=(12, 4))).argmax(1)
logged = {"loss": [], "norm": [], "held": []}

def net():
    return keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(4)])

def ended(model):
    print(json.dumps(logged))
    print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest(), np.random.rand())
"""
TAPE = """
import tensorflow as tf

model, loss_fn = net(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 40), momentum=0.9)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return loss, tf.linalg.global_norm(grads)

step = tf.function(step) if COMPILED else step
for epoch in range(4):
    for at in range(0, 128, 16):
        loss, norm = step(tf.constant(x[at : at + 16]), tf.constant(y[at : at + 16]))
        logged["loss"].append(float(loss))
        logged["norm"].append(float(norm))
    logged["held"].append(float(loss_fn(y[128:], model(x[128:], training=False))))
ended(model)
"""
STATELESS = """
import jax
import jax.numpy as jnp

model, loss_fn = net(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 40), momentum=0.9)
optimizer.build(model.trainable_variables)

def loss_of(trainable, fixed, x, y):
    out, fixed = model.stateless_call(trainable, fixed, x, training=True)
    return loss_fn(y, out), fixed

@jax.jit
def step(trainable, fixed, held, x, y):
    (loss, fixed), grads = jax.value_and_grad(loss_of, has_aux=True)(trainable, fixed, x, y)
    trainable, held = optimizer.stateless_apply(held, grads, trainable)
    return trainable, fixed, held, loss, jnp.sqrt(sum(jnp.sum(g**2) for g in grads))

variables = model.trainable_variables, model.non_trainable_variables, optimizer.variables
state = [[v.value for v in some] for some in variables]
for epoch in range(4):
    for at in range(0, 128, 16):
        *state, loss, norm = step(*state, x[at : at + 16], y[at : at + 16])
        logged["loss"].append(float(loss))
        logged["norm"].append(float(norm))
for variable, value in zip(model.trainable_variables, state[0]):
    variable.assign(value)
ended(model)
"""
BACKWARD = """
import torch

model, loss_fn = net(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 40), momentum=0.9)
trainable = model.trainable_weights
for epoch in range(4):
    for at in range(0, 128, 16):
        loss = loss_fn(torch.from_numpy(y[at : at + 16]), model(x[at : at + 16], training=True))
        if BY_GRAD:
            grads = torch.autograd.grad(loss, [v.value for v in trainable])
        else:
            model.zero_grad()
            loss.backward()
            grads = [v.value.grad for v in trainable]
        with torch.no_grad():
            optimizer.apply(grads, trainable)
        logged["loss"].append(float(loss))
        logged["norm"].append(float(torch.sqrt(sum((g**2).sum() for g in grads))))
    with torch.no_grad():
        logged["held"].append(float(loss_fn(torch.from_numpy(y[128:]), model(x[128:], training=False))))
ended(model)
"""
PAIR = """
import tensorflow as tf

class Pair(keras.Model):  # two nets with an optimizer each, on data that are no tuples
    def __init__(self):
        super().__init__()
        self.nets = [net(), net()]
        self.optimizers = self.first, self.second = keras.optimizers.Adam(0.01), keras.optimizers.SGD(0.1)
        self.means = [keras.metrics.Mean(name="a_loss"), keras.metrics.Mean(name="b_loss")]

    @property
    def metrics(self):
        return self.means

    def train_step(self, x):
        for net, optimizer, mean in zip(self.nets, self.optimizers, self.means):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((net(x) - x[:, :4]) ** 2)
            grads = tape.gradient(loss, net.trainable_weights)
            optimizer.apply_gradients(zip(grads, net.trainable_weights))
            mean.update_state(loss)
        return {mean.name: mean.result() for mean in self.means}

model = Pair()
model.compile()
logged = model.fit(x, batch_size=16, epochs=3, verbose=0).history
ended(model)
"""
SCALED = """
keras.mixed_precision.set_dtype_policy("mixed_float16")
model = net()
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=2.0**24)
model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
logged = model.fit(x[:128], y[:128], batch_size=16, epochs=4, verbose=0).history
ended(model)
"""


def recorded(backend: str, script: str, folder: Path) -> tuple[traindx.vocabulary.run.Run, dict]:
    """The record, and what the script says of itself, which is the same as without it."""
    plain = started(backend, HEAD + script, folder)
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--every", "2", "--quiet", "--")
    assert started(backend, HEAD + script, folder, *run_it).startswith(plain)
    return traindx.read(folder / "run"), json.loads(plain.splitlines()[0])


def own_loop(run: traindx.vocabulary.run.Run, truth: dict) -> None:
    assert run.framework in ("keras", "jax")
    assert list(run.series["train/loss"].steps) == list(range(1, 33))
    np.testing.assert_allclose(run.series["train/loss"].values, truth["loss"], rtol=2e-6)
    np.testing.assert_allclose(run.series["grad_norm"].values, truth["norm"], rtol=2e-6)
    at = run.series["lr"].steps - 1
    np.testing.assert_allclose(run.series["lr"].values, 0.05 * (1 + np.cos(np.pi * at / 40)), rtol=1e-5)
    ratios = run.panels["update_ratio"].values
    assert np.nanmin(ratios) > 0
    assert np.nanmax(ratios) < 1
    assert {"weight_norm", "grad_zero_fraction"} <= set(run.panels)
    assert run.setup.word("optimizer").lower() == "sgd"
    assert run.setup.number("momentum") == 0.9


@pytest.mark.skipif("tensorflow" not in BACKENDS, reason="TensorFlow is not installed")
@pytest.mark.parametrize("compiled", [True, False])
def test_a_tape(compiled: bool, tmp_path: Path) -> None:
    run, truth = recorded("tensorflow", TAPE.replace("COMPILED", str(compiled)), tmp_path)
    own_loop(run, truth)
    assert run.setup.word("loss") == "cross_entropy"
    np.testing.assert_allclose(run.series["val/loss"].values[-1], truth["held"][-1], rtol=2e-6)


@pytest.mark.skipif("tensorflow" not in BACKENDS, reason="TensorFlow is not installed")
def test_a_step_that_xla_compiles_is_left_alone(tmp_path: Path) -> None:
    script = TAPE.replace("tf.function(step) if COMPILED else step", "tf.function(step, jit_compile=True)")
    plain = started("tensorflow", HEAD + script, tmp_path)
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--")
    assert started("tensorflow", HEAD + script, tmp_path, *run_it).startswith(plain)


@pytest.mark.skipif("jax" not in BACKENDS, reason="JAX is not installed")
def test_a_stateless_loop(tmp_path: Path) -> None:
    own_loop(*recorded("jax", STATELESS, tmp_path))


@pytest.mark.skipif("torch" not in BACKENDS, reason="PyTorch is not installed")
@pytest.mark.parametrize("by_grad", [False, True])
def test_a_loop_with_backward(by_grad: bool, tmp_path: Path) -> None:
    run, truth = recorded("torch", BACKWARD.replace("BY_GRAD", str(by_grad)), tmp_path)
    own_loop(run, truth)
    assert run.framework == "keras"
    assert sorted(run.panels["weight_norm"].modules) == ["dense", "dense_1"]
    assert run.setup.word("loss") == "cross_entropy"
    np.testing.assert_allclose(run.series["val/loss"].values[-1], truth["held"][-1], rtol=2e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loss_scale(backend: str, tmp_path: Path) -> None:
    run, _ = recorded(backend, SCALED, tmp_path)
    assert run.series["train/loss"].values.size < 32  # steps left out are none
    assert {event.code for event in run.events} >= {"loss-scale"}
    assert np.isfinite(run.series["grad_norm"].values).all()
    assert run.series["grad_norm"].values.max() < 100  # of the loss, not of the scaled one


@pytest.mark.skipif("tensorflow" not in BACKENDS, reason="TensorFlow is not installed")
def test_two_optimizers_in_a_train_step(tmp_path: Path) -> None:
    run, _ = recorded("tensorflow", PAIR, tmp_path)
    assert list(run.series["train/loss"].steps) == list(range(1, 31))
    assert run.setup.number("optimizers") == 2
    assert (run.panels["grad_norm"].values > 0).all()  # of the layers of both nets
    assert len(run.panels["grad_norm"].modules) == 4
