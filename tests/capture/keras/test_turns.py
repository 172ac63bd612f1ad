"""Several models in one Keras script: folds, each its own record; players that take turns; a model that is fitted
again and again, whose step is compiled once; a model that its first step builds."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import traindx
from tests.capture.keras.keras_process import BACKENDS, unchanged

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

HEAD = """
import hashlib

import keras
import numpy as np

keras.utils.set_random_seed(5)
chance = np.random.default_rng(0)
x = chance.normal(size=(240, 10)).astype("f4")
y = (x @ chance.normal(size=(10, 3))).argmax(1)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

def net(out=3):
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(out)])

def ended(*models):
    print(hashlib.sha256(b"".join(w.tobytes() for m in models for w in m.get_weights())).hexdigest())
"""
FOLDS = """
folds = np.arange(240) % 3
for fold in range(3):
    model = net()
    model.compile(keras.optimizers.Adam(1e-2), loss)
    train = folds != fold
    model.fit(x[train], y[train], batch_size=20, epochs=3, validation_data=(x[~train], y[~train]), verbose=0)
    ended(model)
"""
PLAYERS = """
judge, maker = net(1), net(10)
judge.compile(keras.optimizers.Adam(1e-3), keras.losses.BinaryCrossentropy(from_logits=True))
maker.compile(keras.optimizers.Adam(1e-3), "mse")
losses = []
for step in range(30):
    rows = x[chance.integers(0, 240, 16)]
    judge.train_on_batch(np.concatenate([rows, maker.predict_on_batch(rows)]), np.repeat([1.0, 0.0], 16)[:, None])
    losses.append(float(maker.train_on_batch(rows, rows)))
print(losses[-1], maker.name)
ended(judge, maker)
"""
AGAIN = """
model = net()
model.compile(keras.optimizers.Adam(1e-2), loss)
for turn in range(12):
    model.fit(x[:64], y[:64], batch_size=16, epochs=1, verbose=0)
print(sorted(vars(model._loss_tracker))[:3])
ended(model)
"""
UNBUILT = """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.drop, self.two = keras.layers.Dense(16, "relu"), keras.layers.Dropout(0.1), keras.layers.Dense(3)

    def call(self, x, training=None):
        return self.two(self.drop(self.one(x), training=training))

model = Net()
model.compile(keras.optimizers.Adam(1e-2), loss)
print(model.fit(x, y, batch_size=20, epochs=3, verbose=0).history)
ended(model)
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_folds_are_records_of_their_own(backend: str, tmp_path: Path) -> None:
    unchanged(backend, HEAD + FOLDS, tmp_path)
    runs = traindx.read_all(tmp_path / "run")
    assert len(runs) == 3
    for run in runs:
        assert list(run.series["train/loss"].steps) == list(range(1, 25))
        assert len(run.series["val/loss"]) == 3
        assert run.setup.number("parameters_without_optimizer") == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_players_take_turns(backend: str, tmp_path: Path) -> None:
    unchanged(backend, HEAD + PLAYERS, tmp_path)
    (run,) = traindx.read_all(tmp_path / "run")
    assert sum("several models are trained in turns" in event.message for event in run.events) == 1
    assert run.points in (29, 30)  # the first may build the optimizer
    assert run.setup.flag("models_in_turns") is True
    assert not {"loss-diverges", "simple-model-does-better"} & {
        f.slug for f in traindx.diagnose(run).first.findings
    }
    (neighbours,) = [
        name for name in run.series if name.startswith("train/sequential") and name.endswith("_loss")
    ]
    assert len(run.series[neighbours]) >= 28


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_model_that_is_fitted_again_and_again_is_compiled_once(backend: str, tmp_path: Path) -> None:
    unchanged(backend, HEAD + AGAIN, tmp_path)
    run = traindx.read(tmp_path / "run")
    assert list(run.series["train/loss"].steps) == list(range(1, 49))
    compiled = run.series.get("calls/compile")
    if backend != "tensorflow":  # where Keras traces the functions of its data anew in every fit
        assert compiled is None or compiled.steps.max() <= 4 * 3 + 1  # of the fits after the third, none


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_model_that_its_first_step_builds(backend: str, tmp_path: Path) -> None:
    unchanged(backend, HEAD + UNBUILT, tmp_path)
    run = traindx.read(tmp_path / "run")
    assert run.points == 36 - (backend == "tensorflow")
    assert len(run.panels["grad_norm"].modules) == 2
    assert run.setup.number("parameters_without_optimizer") == 0
    assert run.setup.number("depth") == 2


NOTHING_TO_TRAIN = """
class Penalty(keras.layers.Layer):
    def call(self, inputs):
        self.add_loss(0.01 * keras.ops.mean(inputs))
        return inputs

given = keras.Input((10,))
bare = keras.Model(given, Penalty()(given))
bare.compile("adam", "mse")
print(bare.fit(x, x[::-1], batch_size=20, epochs=2, verbose=0).history)
model = net()
model.compile(keras.optimizers.Adam(1e-2), loss)
model.fit(x, y, batch_size=20, epochs=3, verbose=0)
ended(model)
"""


@pytest.mark.skipif("jax" not in BACKENDS, reason="elsewhere such a model calls no optimizer")
def test_a_model_with_nothing_to_train_ends_no_recording(tmp_path: Path) -> None:
    unchanged("jax", HEAD + NOTHING_TO_TRAIN, tmp_path)
    bare, model = traindx.read_all(tmp_path / "run")
    assert len(bare.series["train/loss"]) == 2 * 12
    assert "grad_norm" not in bare.panels
    assert len(model.series["train/loss"]) == 3 * 12
    assert len(model.panels["grad_norm"].modules) == 2
