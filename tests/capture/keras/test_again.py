"""Keras trains again in one process: a training taken up by a second model, or by one that was thawed and compiled
anew. What the first held is no fault, and what is compiled for the second is none; what is left out and what is
compiled at every step is still reported."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import traindx
from tests.capture.keras.keras_process import BACKENDS, started
from traindx.vocabulary.run import Run

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

DATA = """
import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.default_rng(0).normal(size=(256, 10)).astype("f4")
y = np.tanh(x[:, :1])
"""
RESUMED = """
def made():
    schedule = keras.optimizers.schedules.CosineDecay(1e-2, 40, warmup_target=2e-2, warmup_steps=8)
    model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.AdamW(schedule), "mse")
    return model

first = made()
first.fit(x, y, epochs=3, batch_size=32, verbose=0)
second = made()
second.set_weights(first.get_weights())
second.fit(x, y, epochs=2, batch_size=32, verbose=0)
"""
THAWED = """
base = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(8, "relu")])
base.trainable = False
model = keras.Sequential([keras.Input((10,)), base, keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
model.fit(x, y, epochs=2, batch_size=32, verbose=0)
base.trainable = True
model.compile(keras.optimizers.Adam(1e-3), "mse")
for _ in range(6):
    model.fit(x, y, epochs=1, batch_size=32, verbose=0)
"""
LEFT_OUT = """
class Head(keras.Model):
    def __init__(self):
        super().__init__()
        self.body, self.head = keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.body(x))

    @property
    def trainable_variables(self):
        return self.head.trainable_variables

    trainable_weights = trainable_variables

for _ in range(2):
    model = Head()
    model(x[:2])
    model.compile(keras.optimizers.Adam(1e-2), "mse")
    model.fit(x, y, epochs=2, batch_size=32, verbose=0)
"""
EVERY_LENGTH = """
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), "mse")
for step in range(30):
    model.train_on_batch(x[: 64 + step], y[: 64 + step])
"""


def recorded(backend: str, script: str, folder: Path) -> Run:
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--")
    started(backend, DATA + script, folder, *run_it)
    return traindx.read(folder / "run")


def found_in(run: Run) -> set[str]:
    return {finding.slug for finding in traindx.diagnose(run).first.findings}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_model(backend: str, tmp_path: Path) -> None:
    run = recorded(backend, RESUMED, tmp_path)
    assert run.setup.number("parameters_without_optimizer") == 0
    compiled = run.series.get("calls/compile")
    assert compiled is None or set(compiled.steps) <= {
        1,
        9,
        17,
    }  # the step, and what an epoch's end computes
    assert not {"step-compiles-again", "parameters-missing-from-optimizer"} & found_in(run)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_model_that_is_thawed(backend: str, tmp_path: Path) -> None:
    run = recorded(backend, THAWED, tmp_path)
    assert len(run.series["train/loss"]) == 8 * 8
    assert set(run.series["lr"].values.round(6)) == {1e-2, 1e-3}
    assert run.setup.number("parameters_without_optimizer") == 0
    assert not {"step-compiles-again", "parameters-missing-from-optimizer"} & found_in(run)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_layer_that_is_left_out(backend: str, tmp_path: Path) -> None:
    run = recorded(backend, LEFT_OUT, tmp_path)
    assert run.setup.number("parameters_without_optimizer") == 10 * 16 + 16  # each model has its own record
    assert "parameters-missing-from-optimizer" in found_in(run)


@pytest.mark.skipif("jax" not in BACKENDS, reason="JAX compiles every length anew")
def test_every_length_is_compiled(tmp_path: Path) -> None:
    run = recorded("jax", EVERY_LENGTH, tmp_path)
    assert len(run.series["calls/compile"]) >= 25
    assert "step-compiles-again" in found_in(run)
