"""optax under `traindx run`: an unmodified script, its weights the same to the last bit, and what is recorded."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.shown import assert_as_declared
from tests.captured import untimed

if any(importlib.util.find_spec(name) is None for name in ("jax", "optax")):
    pytest.skip("JAX and optax are not installed", allow_module_level=True)

BAD = {"medium", "high", "critical"}
STEPS = 160
SCRIPT = """
import hashlib
from jax import grad, jit, value_and_grad
import jax
import jax.numpy as jnp
import numpy as np
import optax

chance = np.random.default_rng(0)
x, truth = chance.normal(size=(640, 20)).astype("f4"), chance.normal(size=(20, 5))
held = chance.normal(size=(128, 20)).astype("f4")
y, wanted = (x @ truth).argmax(1), (held @ truth).argmax(1)
first, second = (chance.normal(0, (2 / n) ** 0.5, (n, m)).astype("f4") for n, m in ((20, 64), (64, 5)))
params = {name: {"kernel": kernel, "bias": np.zeros(kernel.shape[1], "f4")} for name, kernel in
          (("first", first), ("second", second))}

def net(params, sample):  # one sample: vmap makes a batch of it
    hidden = jax.nn.relu(sample @ params["first"]["kernel"] + params["first"]["bias"])
    return hidden @ params["second"]["kernel"] + params["second"]["bias"]

def loss_of(params, x, y):
    scores = jax.vmap(net, (None, 0))(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()

optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(optax.cosine_decay_schedule(0.01, 200)))
state = optimizer.init(params)
norms = []

@jit
def step(params, state, x, y):
    loss, gradients = value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss, optax.global_norm(gradients)

evaluate = jit(loss_of)
losses = []
for epoch in range(8):
    for rows in chance.permutation(640).reshape(20, 32):
        params, state, loss, norm = step(params, state, x[rows], y[rows])
        losses.append(float(loss))
        norms.append(float(norm))
    print("held", float(evaluate(params, held, wanted)))
print(hashlib.sha1(b"".join(np.asarray(a).tobytes() for a in jax.tree.leaves((params, state)))).hexdigest())
print(float(grad(lambda v: v * v)(3.0)))
np.savez("kept.npz", losses=losses, norms=norms)
"""


def started(folder: Path, *under: str) -> list[str]:
    (folder / "train.py").write_text(SCRIPT)
    done = subprocess.run(
        [*under, sys.executable, "train.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(traindx.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "capture stopped" not in done.stderr
    return done.stdout.splitlines()


def test_an_unmodified_script(tmp_path: Path) -> None:
    plain = started(tmp_path)
    seen = started(
        tmp_path, sys.executable, "-m", "traindx", "run", "--out", "run", "--every", "4", "--quiet", "--"
    )
    assert seen[8:10] == plain[8:10]  # weights and the optimizer's state
    assert plain[9] == "6.0"
    run, kept = traindx.read(tmp_path / "run"), np.load(tmp_path / "kept.npz")
    setup = run.setup
    assert run.framework == "jax"
    np.testing.assert_allclose(run.series["train/loss"].values, kept["losses"], rtol=1e-5)
    np.testing.assert_allclose(run.series["grad_norm"].values, kept["norms"], rtol=1e-4)
    assert list(run.series["val/loss"].steps) == list(range(20, STEPS + 1, 20))
    held = [float(line.split()[1]) for line in plain[:8]]
    np.testing.assert_allclose(run.series["val/loss"].values, held, rtol=1e-5)
    at = run.series["lr"].steps - 1
    np.testing.assert_allclose(run.series["lr"].values, 0.005 * (1 + np.cos(np.pi * at / 200)), rtol=1e-4)
    assert run.setup.lr == pytest.approx(0.01), "the peak of the schedule"
    assert list(run.panels["grad_norm"].modules) == ["first", "second"]
    assert list(run.panels["act_zero_fraction"].modules) == ["relu"]
    assert {"update_ratio", "weight_norm", "grad_zero_fraction", "act_std"} <= set(run.panels)
    assert setup.word("optimizer") == "adam"
    assert setup.word("loss") == "cross_entropy"
    assert setup.number("clip_norm") == 5
    assert setup.number("classes") == setup.number("classes_seen") == 5
    assert setup.number("batch_size") == 32
    assert setup.number("inputs_features") == 20
    assert "outputs_accuracy" in run.series
    found = traindx.diagnose(untimed(run)).first
    assert not {finding.slug for finding in found.findings if finding.severity in BAD}
    assert_as_declared("jax", run)


def test_as_many_steps_as_were_asked_for(tmp_path: Path) -> None:
    started(
        tmp_path, sys.executable, "-m", "traindx", "run", "--out", "run", "--steps", "30", "--quiet", "--"
    )
    run = traindx.read(tmp_path / "run")
    assert 30 <= run.series["train/loss"].steps[-1] < STEPS  # the loop goes on while results arrive
    assert any(event.code == "steps-limit" for event in run.events)


ENDS = """
import atexit, jax, optax, jax.numpy as jnp
x = jax.random.normal(jax.random.PRNGKey(0), (64, 4))
rule, w = optax.sgd(0.05), jnp.zeros(4)
state = rule.init(w)
atexit.register(print, "at exit")

@jax.jit
def step(w, state):
    value, grads = jax.value_and_grad(lambda w: ((x @ w - x[:, 0]) ** 2).mean())(w)
    updates, state = rule.update(grads, state, w)
    return optax.apply_updates(w, updates), state, value

for i in range(2000):
    w, state, value = step(w, state)
    print(i, "loss", float(value))
"""


def test_the_end_after_a_small_step_is_no_error_of_the_step(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ENDS)
    command = [
        sys.executable,
        "-m",
        "traindx",
        "run",
        "--out",
        "run",
        "--steps",
        "3",
        "--",
        sys.executable,
        "train.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert "Traceback" not in done.stderr, done.stderr
    assert "the script ended with status" not in done.stderr
    assert "at exit" in done.stdout
    assert 3 <= traindx.read(tmp_path / "run").series["train/loss"].steps[-1] < 2000
