"""Keras under `traindx run`: an unmodified script on each backend, the same to the last bit, and what is recorded."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.keras.keras_process import BACKENDS, started
from tests.capture.shown import assert_as_declared
from tests.captured import untimed

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

BAD = {"medium", "high", "critical"}
SCRIPT = """
import hashlib

import keras
import numpy as np

keras.utils.set_random_seed(0)
chance = np.random.default_rng(0)
x, truth = chance.normal(size=(512, 20)).astype("f4"), chance.normal(size=(20, 5))
held = chance.normal(size=(128, 20)).astype("f4")
y, wanted = (x @ truth).argmax(1), (held @ truth).argmax(1)
layers = [keras.layers.Dense(32, "relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.1)]
last = keras.layers.Dense(5, "softmax")
model = keras.Sequential([keras.Input((20,)), *layers, last])
rate = keras.optimizers.schedules.CosineDecay(3e-3, 200)
optimizer = keras.optimizers.Adam(rate, global_clipnorm=5.0)
model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
plateau = keras.callbacks.EarlyStopping(patience=50)
print(model.fit(x, y, batch_size=32, epochs=6, validation_data=(held, wanted), verbose=0, callbacks=[plateau]).history)
print([model.train_on_batch(x[:32], y[:32])[0] for _ in range(5)])
print(hashlib.sha1(b"".join(w.tobytes() for w in model.get_weights())).hexdigest(), np.random.rand())
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_unmodified_script(backend: str, tmp_path: Path) -> None:
    plain = started(backend, SCRIPT, tmp_path)
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--every", "4", "--quiet", "--")
    seen = started(backend, SCRIPT, tmp_path, *run_it)
    assert seen.startswith(plain)
    run = traindx.read(tmp_path / "run")
    setup = run.setup
    assert run.framework == "keras"
    assert setup.word("keras_backend") == backend
    assert list(run.series["train/loss"].steps) == list(range(1, 6 * 16 + 5 + 1))
    assert (
        len(run.series["val/loss"])
        == len(run.series["val/accuracy"])
        == len(run.series["train/accuracy"])
        == 6
    )
    at = run.series["lr"].steps - 1
    np.testing.assert_allclose(run.series["lr"].values, 1.5e-3 * (1 + np.cos(np.pi * at / 200)), rtol=1e-4)
    assert run.setup.lr == pytest.approx(3e-3), "the peak of the schedule"
    dense = [name for name in run.panels["update_ratio"].modules if name.startswith("dense")]
    assert len(dense) == 2
    assert {"weight_norm", "grad_zero_fraction", "act_zero_fraction", "act_std", "act_rank"} <= set(
        run.panels
    )
    ratios = run.panels["update_ratio"].values
    assert np.nanmin(ratios) > 0
    assert np.nanmax(ratios) < 1
    assert setup.word("loss") == "cross_entropy"
    assert setup.number("clip_norm") == 5
    assert setup.number("classes") == setup.number("classes_seen") == 5
    assert setup.number("batch_size") == 32
    assert setup.number("dataset_size") == 512
    assert setup.flag("loss_input_looks_like_probabilities") is False
    assert setup.number("train_val_overlap_share") in (0, None)  # None: some batches were not read in time
    found = traindx.diagnose(untimed(run)).first
    # With a seed, Keras on TensorFlow draws the same order in every epoch, of mixed batches: that is no fault.
    assert not {finding.slug for finding in found.findings if finding.severity in BAD}
    assert_as_declared("keras", run, but=("scaling", "quantized", "quantization gap"))  # nothing is rounded


SEVERAL = """
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(400, 6)).astype("f4")
given = keras.Input((6,))
hidden = keras.layers.Dense(16, "relu")(given)
kind = keras.layers.Dense(2, "softmax", name="kind")(hidden)
size = keras.layers.Dense(1, name="size")(hidden)
model = keras.Model(given, [kind, size])
model.compile("adam", loss={"size": "mse", "kind": "sparse_categorical_crossentropy"}, metrics={"kind": "accuracy"})
model.fit(x, {"kind": (x[:, 0] > 0).astype(int), "size": x.sum(1, keepdims=True)}, epochs=6, verbose=0)
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_several_outputs_the_first_is_described_by_its_own_layer_and_loss(
    backend: str, tmp_path: Path
) -> None:
    run_it = (sys.executable, "-m", "traindx", "run", "--out", "run", "--every", "4", "--quiet", "--")
    started(backend, SEVERAL, tmp_path, *run_it)
    setup = traindx.read(tmp_path / "run").setup
    assert setup.word("loss_name") == "cross_entropy"
    assert setup.word("outputs_last_activation") == "none"  # the softmax belongs to the loss
    assert setup.flag("loss_input_looks_like_probabilities") is False
