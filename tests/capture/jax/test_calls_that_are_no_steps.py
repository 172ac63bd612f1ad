"""Optimizers of optax that add up gradients, and line searches: only what changes weights is a step."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.jax.test_plain_loops import HEAD, RUN, WITH_OPTAX, started
from traindx.vocabulary import Run

if any(importlib.util.find_spec(name) is None for name in ("jax", "optax")):
    pytest.skip("JAX and optax are not installed", allow_module_level=True)

STEPS = 40
LOOP = "import optax\n" + WITH_OPTAX.replace("optax.adam(0.01)", "OPTIMIZER")
ADDED_UP = {
    "MultiSteps": "optax.MultiSteps(optax.adam(0.01), 4)",
    "in a chain": "optax.chain(optax.clip(1.0), optax.MultiSteps(optax.sgd(0.1), 4).gradient_transformation())",
    "apply_every": "optax.chain(optax.sgd(0.1), optax.apply_every(4))",
    "by a schedule": "optax.MultiSteps(optax.adam(0.01), lambda step: jnp.where(step < 4, 2, 4))",
}
SEARCH = """
import optax
def fun(params):
    return loss_of(params, x[0], y[0])
optimizer = OPTIMIZER
state = optimizer.init(params)

@jax.jit
def step(params, state):
    loss, gradients = GRADIENT
    updates, state = optimizer.update(gradients, state, params, value=loss, grad=gradients, value_fn=fun)
    return optax.apply_updates(params, updates), state, loss
losses = []
for _ in range(STEPS):
    params, state, loss = step(params, state)
    losses.append(float(loss))
over(params, losses)
"""
SEARCHES = {
    "lbfgs": ("optax.lbfgs()", "jax.value_and_grad(fun)(params)"),
    "lbfgs with what it left": (
        "optax.lbfgs()",
        "optax.value_and_grad_from_state(fun)(params, state=state)",
    ),
    "backtracking": (
        "optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(15))",
        "jax.value_and_grad(fun)(params)",
    ),
}


def recorded(script: str, folder: Path) -> tuple[Run, np.ndarray]:
    """The record, and the losses that the script kept. It trains the same weights as without a recorder."""
    text = (HEAD + script).replace("STEPS", str(STEPS))
    assert started(folder, text).splitlines()[0] == started(folder, text, *RUN).splitlines()[0]
    return traindx.read(folder / "run"), np.load(folder / "losses.npy")


@pytest.mark.parametrize("kind", ADDED_UP)
def test_calls_that_add_up_gradients_are_parts_of_a_step(kind: str, tmp_path: Path) -> None:
    run, losses = recorded(LOOP.replace("OPTIMIZER", ADDED_UP[kind]), tmp_path)
    steps = 4 + (STEPS - 8) // 4 if kind == "by a schedule" else STEPS // 4
    assert len(run.series["train/loss"]) == steps
    if kind != "by a schedule":
        means = losses.reshape(-1, 4).mean(1)
        np.testing.assert_allclose(run.series["train/loss"].values, means, rtol=1e-5)
        assert run.setup.batch_size == 64
    assert run.setup.number("parameters_not_moving_tensors") == 0
    assert "parameters-never-change" not in {f.slug for f in traindx.diagnose(run).first.findings}


@pytest.mark.parametrize("kind", SEARCHES)
def test_what_a_line_search_tries_is_no_loss_of_the_training(kind: str, tmp_path: Path) -> None:
    optimizer, gradient = SEARCHES[kind]
    run, losses = recorded(SEARCH.replace("OPTIMIZER", optimizer).replace("GRADIENT", gradient), tmp_path)
    np.testing.assert_allclose(run.series["train/loss"].values, losses, rtol=1e-5)
    assert "val/loss" not in run.series
    assert traindx.diagnose(run).first.health != "sick"
