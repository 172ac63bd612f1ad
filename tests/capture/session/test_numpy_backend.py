"""The seam between a session and a framework: a net of numpy arrays is recorded end to end without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx

TRAINS = """
import sys
from pathlib import Path
import numpy as np

sys.modules["torch"] = None  # whoever imports it fails
from tests.capture.session.numpy_backend import Descent, Net, NumpyBackend
from traindx.capture.process.patches import Lines
from traindx.capture.session import events
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream

out, rate, steps = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
session = Session(out, NumpyBackend(), every=1)
stream = Stream(lambda: session, Lines("."), lambda steps: None, lambda stage, **more: None)
chance = np.random.default_rng(0)
net = Net(chance)
optimizer = Descent(net, rate)
stream.tell(events.ModelFound(net, ""))
stream.tell(events.OptimizerFound(optimizer))
x, truth = chance.normal(size=(256, 6)), chance.normal(size=(6, 1))
kept = []
with np.errstate(all="ignore"):
    for step in range(steps):
        rows = chance.integers(0, 256, 32)
        error = net(x[rows]) - np.abs(x[rows] @ truth)
        loss = float(np.square(error).mean())
        stream.tell(events.LossMade(loss, "train.py:1"))
        stream.tell(events.BackwardBegins(False))
        net.backward(2 * error / len(rows))
        stream.tell(events.BackwardEnds())
        stream.tell(events.StepBegins(optimizer))
        squares = [sum(np.square(p.grad).sum() for p in (l.weight, l.bias)) for l in net.layers.values()]
        kept.append([loss, *np.sqrt(squares)])
        optimizer.step()
        stream.tell(events.StepEnds(optimizer))
session.close()
assert not [name for name in sys.modules if name.startswith(("torch.", "jax", "keras", "tensorflow"))]
np.save(out / "kept.npy", np.array(kept))
"""


def recorded(out: Path, rate: float, steps: int) -> tuple[traindx.Run, np.ndarray]:
    """The run, and what the loop itself kept: loss, gradient norm of the first and of the second layer."""
    root = Path(traindx.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", TRAINS, str(out), str(rate), str(steps)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return traindx.read(out), np.load(out / "kept.npy")


def test_a_training_without_any_framework_is_recorded(tmp_path: Path) -> None:
    run, kept = recorded(tmp_path, 0.05, 120)
    assert run.framework == "numpy"
    np.testing.assert_allclose(run.series["train/loss"].values, kept[:, 0], rtol=1e-12)
    np.testing.assert_allclose(run.series["grad_norm"].values, np.hypot(kept[:, 1], kept[:, 2]), rtol=1e-9)
    panel = run.panels["grad_norm"]
    assert list(panel.modules) == ["first", "second"]
    np.testing.assert_allclose(panel.values, kept[:, 1:], rtol=1e-6)
    assert {"weight_norm", "update_ratio", "grad_zero_fraction"} <= set(run.panels)
    assert run.setup.facts["parameters_total"] == 6 * 32 + 32 + 32 + 1
    assert run.setup.number("lr") == 0.05


@pytest.mark.parametrize(("rate", "sick"), [(0.02, False), (30.0, True)])
def test_and_diagnosed(tmp_path: Path, rate: float, sick: bool) -> None:
    run, _ = recorded(tmp_path, rate, 300)
    found = traindx.diagnose(run).document.runs[0]
    assert (found.health in ("sick", "failed")) == sick
