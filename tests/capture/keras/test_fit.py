"""Keras: the loss and the gradient's norms of `fit`, from the compiled train step to a finding. Keras takes its
backend when it is imported, so each one is a process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.session.numpy_backend import by_hand
from tests.captured import untimed

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

BAD = {"medium", "high", "critical"}
BACKENDS = [name for name in ("jax", "torch", "tensorflow") if importlib.util.find_spec(name)]
EPOCHS, BATCH = 12, 16

TRAINS = """
import sys
from pathlib import Path
import keras
import numpy as np
import traindx
from traindx.errors import ConfigError

out, epochs, batch = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = np.random.default_rng(0)
x, truth = chance.normal(size=(epochs * 256, 6)).astype("f4"), chance.normal(size=(6, 1)).astype("f4")
y = np.abs(x @ truth)
held = chance.normal(size=(64, 6)).astype("f4")

class Own(keras.Model):  # a train step that does not report its loss
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
    def call(self, x):
        return self.dense(x)
    def train_step(self, *given):
        none = {"seen": keras.ops.zeros(())}
        return (none, given[0]) if len(given) == 2 else none

def net(rate):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(rate), "mse", metrics=["mae"])
    return model

def fit(model, *callbacks, name="plain"):
    saving = keras.callbacks.ModelCheckpoint(out / f"{name}.keras")
    return model.fit(x, y, batch_size=batch, epochs=epochs, steps_per_epoch=16, shuffle=False, verbose=0,
                     validation_data=(held, np.abs(held @ truth)), callbacks=[*callbacks, saving]).history

def watched(rate, name):
    model = net(rate)
    model.fit(x[:batch], y[:batch], verbose=0)  # a step that is compiled already
    before = set(vars(model.optimizer)) | set(vars(model._loss_tracker)), len(model.metrics_variables)
    model.set_weights(net(rate).get_weights())
    with traindx.watch(model, model.optimizer, out=out / name, every=1) as watch:
        logs = fit(model, watch.callback, name=name)
    assert (set(vars(model.optimizer)) | set(vars(model._loss_tracker)), len(model.metrics_variables)) == before
    return model, logs

plain = net(0.02)
first = plain.get_weights()
plain.fit(x[:batch], y[:batch], verbose=0)
plain.set_weights(first)
logs = fit(plain)
model, seen = watched(0.02, "healthy")
assert str(seen) == str(logs)
for a, b in zip(plain.get_weights(), model.get_weights(), strict=True):
    assert a.tobytes() == b.tobytes()
for name in ("plain", "healthy"):
    again = keras.saving.load_model(out / f"{name}.keras")
    assert len(again.optimizer.variables) == len(plain.optimizer.variables)
watched(0.45, "sick")

from traindx.keras import Watch
by_callback = Watch(out / "called", check_every=64, stop=True)
fit(net(0.45), by_callback, name="called")
assert "gradient-norm-explodes" in {f.slug for f in by_callback.diagnose().first.findings}
assert 64 <= by_callback.session.step < epochs * 16
by_callback.close()

own = Own()
own.compile("sgd", "mse")
own(x[:1])
with traindx.watch(own, out=out / "own") as watch:
    own.fit(x, y, epochs=1, verbose=0, callbacks=[watch.callback])

for wrong, optimizer in ((keras.Sequential([keras.layers.Dense(1)]), None), (plain, keras.optimizers.SGD())):
    try:
        traindx.watch(wrong, optimizer)
        raise AssertionError("watched")
    except ConfigError:
        pass
np.savez(out / "kept.npz", x=x, y=y, **{f"w{i}": w for i, w in enumerate(first)})
"""


@pytest.fixture(scope="module", params=BACKENDS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what one process trained: as it is and watched, healthy and sick."""
    out = tmp_path_factory.mktemp(request.param)
    done = subprocess.run(
        [sys.executable, "-c", TRAINS, str(out), str(EPOCHS), str(BATCH)],
        cwd=Path(traindx.__file__).parents[1],
        env={**os.environ, "KERAS_BACKEND": request.param},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "capture stopped" not in done.stderr
    (out / "stderr.txt").write_text(done.stderr)
    return out


def test_what_is_recorded_is_what_a_loop_by_hand_computes(trained: Path) -> None:
    """Results with and without the watch are compared within the process, to the last bit."""
    run = traindx.read(trained / "healthy")
    kept = np.load(trained / "kept.npz", allow_pickle=False)
    x, y, weights = kept["x"], kept["y"], [kept[f"w{i}"] for i in range(4)]
    batches = [(x[i : i + BATCH], y[i : i + BATCH]) for i in range(0, len(x), BATCH)]  # no row comes twice
    expected = by_hand(weights, batches, 0.02)
    assert run.framework == "keras"
    assert list(run.series["train/loss"].steps) == list(range(1, len(batches) + 1))
    np.testing.assert_allclose(run.series["train/loss"].values, expected[:, 0], rtol=2e-3)
    np.testing.assert_allclose(
        run.series["grad_norm"].values, np.hypot(expected[:, 1], expected[:, 2]), rtol=2e-3
    )
    panel = run.panels["grad_norm"]
    assert len(panel.modules) == 2
    assert [name.rstrip("_0123456789") for name in panel.modules] == ["dense", "dense"]
    np.testing.assert_allclose(panel.values, expected[:, 1:], rtol=2e-3)
    assert run.setup.number("lr") == pytest.approx(0.02)
    assert len(run.series["val/loss"]) == EPOCHS
    assert "time/optimizer" not in run.series


@pytest.mark.parametrize(("name", "seen"), [("sick", "gradient-norm-explodes"), ("healthy", "")])
def test_and_diagnosed(trained: Path, name: str, seen: str) -> None:
    found = traindx.diagnose(untimed(traindx.read(trained / name))).first
    assert found.health == ("failed" if seen else "healthy")
    bad = {finding.slug for finding in found.findings if finding.severity in BAD}
    assert seen in bad if seen else not bad


def test_a_train_step_that_is_not_seen_is_said(trained: Path) -> None:
    said = (trained / "stderr.txt").read_text()
    assert said.count("the train step of this model does not show its gradients and loss") == 1
