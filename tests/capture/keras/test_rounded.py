"""Rounded weights in Keras: layers of one's own that are trained straight through, `quantize` of Keras, and layers that
round nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.keras.keras_process import BACKENDS, environment, unchanged
from traindx.capture.arrays import levels
from traindx.vocabulary.run import Run

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

HEAD = """
import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(5)
chance = np.random.default_rng(0)
x = chance.normal(size=(320, 16)).astype("f4")
y = (x @ chance.normal(size=(16, 4))).argmax(1)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

class Ternary(keras.layers.Layer):
    def __init__(self, units, threshold):
        super().__init__()
        self.units, self.threshold = units, threshold

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")

    def call(self, x):
        w = self.kernel
        if self.threshold is None:
            return ops.matmul(x, w)
        there = ops.cast(ops.abs(w) > self.threshold * ops.mean(ops.abs(w)), w.dtype)
        return ops.matmul(x, w + ops.stop_gradient(ops.sign(w) * there - w))

def fit(middle, epochs=3):
    hidden = keras.layers.Dense(32, "relu")
    model = keras.Sequential([keras.Input((16,)), hidden, middle, keras.layers.ReLU(), keras.layers.Dense(4)])
    trained(model, epochs)
    return model

def trained(model, epochs=3):
    model.compile(keras.optimizers.Adam(3e-3), loss)
    print(model.fit(x, y, batch_size=32, epochs=epochs, verbose=0).history)
"""


def seen(backend: str, script: str, folder: Path) -> Run:
    unchanged(backend, HEAD + script, folder, "--every", "1", "--overhead", "90%")
    return max(traindx.read_all(folder / "run"), key=lambda run: len(run.panels))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_layer_of_ones_own(backend: str, tmp_path: Path) -> None:
    run = seen(backend, "fit(Ternary(32, 0.7))", tmp_path)
    setup = run.setup
    assert (
        setup.flag("quantized"),
        setup.number("quantized_levels"),
        setup.number("quantized_modules"),
    ) == (
        True,
        3,
        1,
    )
    assert run.panels["quant/zero_fraction"].modules == ("ternary",)
    zero = run.panels["quant/zero_fraction"].values
    assert zero.min() > 0.2
    assert zero.max() < 0.7
    assert run.panels["quant/error"].values.min() > 0.3
    assert np.isfinite(run.panels["quant/flips"].values).any()
    assert len(run.series["quant/loss_gap"]) >= 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_are_zero(backend: str, tmp_path: Path) -> None:
    run = seen(backend, "fit(Ternary(32, 30.0))", tmp_path)
    assert run.panels["quant/zero_fraction"].values.min() == 1
    assert "ternary-weights-collapse" in {found.slug for found in traindx.diagnose(run).first.findings}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_layer_that_rounds_nothing(backend: str, tmp_path: Path) -> None:
    run = seen(backend, "fit(Ternary(32, None))", tmp_path)
    assert run.setup.flag("quantized") is False
    assert not [name for name in {*run.panels, *run.series} if name.startswith("quant/")]


@pytest.mark.parametrize("backend", BACKENDS)
def test_float8(backend: str, tmp_path: Path) -> None:
    script = "model = fit(keras.layers.Dense(32), 1)\nmodel.quantize('float8')\ntrained(model)\n"
    run = seen(backend, script, tmp_path)
    assert run.setup.flag("quantized") is True
    assert 16 < run.setup.number("quantized_levels") <= 256
    assert run.panels["quant/error"].values[-1].max() < 0.05  # three bits of mantissa: at most 1/16 by value


@pytest.mark.parametrize("backend", BACKENDS)
def test_lora_on_whole_numbers(backend: str, tmp_path: Path) -> None:
    script = """
model = fit(keras.layers.Dense(32), 1)
model.quantize("int8")
for layer in model.layers:
    if hasattr(layer, "enable_lora"):
        layer.enable_lora(2)
trained(model)
"""
    run = seen(backend, script, tmp_path)
    assert run.setup.flag("quantized") is True
    assert run.setup.number("quantized_levels") > 64
    shown = run.panels["quant/zero_fraction"]
    assert len(shown.modules) == 3
    assert shown.values.max() < 0.2
    bad = {found.slug for found in traindx.diagnose(run).first.findings if found.code.startswith("QNT")}
    assert not bad


def test_what_is_packed_is_not_called_unrounded() -> None:
    pytest.importorskip("torch")
    script = """
import keras
from traindx.capture.keras.facts import architecture, plain_layers
from traindx.capture.keras.quantized_layers import Rounded

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8)])
layers = plain_layers(model)
names = {id(layer): layer.name for layer in layers}
assert Rounded().facts(layers, names) == {"quantized": False}
model.quantize("int4")
assert architecture(model)["quantized"] is True
assert Rounded().facts(layers, names) == {}
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], env=environment("torch"), capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_levels_are_measured_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("traindx.capture.torch.measure.quantized.levels")
    chance = np.random.default_rng(0)
    own = chance.normal(size=(12, 40))
    for scale in (0.05, 0.3, 1.0):
        used = np.clip(np.round(own / scale), -4, 4) * scale
        other = np.clip(np.round((own + 0.1 * chance.normal(size=own.shape)) / scale), -4, 4) * scale * 1.5
        as_tensors = [torch.tensor(values) for values in (used, own, other)]
        np.testing.assert_allclose(
            levels.level_statistics(used, own), theirs.level_statistics(*as_tensors[:2]).numpy(), rtol=1e-5
        )
        assert levels.moved_share(other, used) == pytest.approx(
            float(theirs.moved_share(as_tensors[2], as_tensors[0]))
        )
