"""Training loops of many small steps within one computation: the same training, thinly recorded, at little cost."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.capture.jax.test_plain_loops import HEAD, RUN, started

if any(importlib.util.find_spec(name) is None for name in ("jax", "optax")):
    pytest.skip("JAX and optax are not installed", allow_module_level=True)

MANY = 20_000
STEP = """
import optax
import time
optimizer = optax.adam(0.003)
x, y = jnp.array(x[0]), jnp.array(y[0])

def step(carried, _):
    params, state = carried
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state)
    return (optax.apply_updates(params, updates), state), loss
first = params, optimizer.init(params)
"""
LOOPS = {
    "scan": "(params, _), losses = jax.lax.scan(step, first, length=MANY)",
    "scan of some": "(params, _), losses = jax.jit(lambda c: jax.lax.scan(step, c, jnp.arange(MANY)))(first)",
    "fori_loop": (
        "(params, _), _ = jax.lax.fori_loop(3, MANY + 3, lambda i, c: step(c[0], i), (first, jnp.zeros(())))\n"
        "losses = []"
    ),
    "nested": (  # what is compiled within may be used elsewhere: it reports every step
        "inner = jax.jit(step)\n"
        "(params, _), losses = jax.lax.scan(lambda c, i: inner(c, i), first, length=2000)"
    ),
    "seeds": (
        "seeds = jax.vmap(lambda c: jax.lax.scan(step, c, length=MANY))\n"
        "(params, _), losses = seeds(jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), first))\n"
        "losses = losses.mean(0)"
    ),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_of_small_steps(loop: str, tmp_path: Path) -> None:
    text = (
        (HEAD + STEP + LOOPS[loop] + "\nover(params, losses)\n")
        .replace("MANY", str(MANY))
        .replace("STEPS", "1")
    )
    assert started(tmp_path, text).splitlines()[0] == started(tmp_path, text, *RUN).splitlines()[0]
    curve, losses = traindx.read(tmp_path / "run").series["train/loss"], np.load(tmp_path / "losses.npy")
    last = 2000 if loop == "nested" else MANY
    assert curve.steps[0] == 1
    assert curve.steps[-1] == last, "whatever is left out, steps are those of the loop"
    assert len(curve) == last if loop == "nested" else 400 <= len(curve) <= MANY // 4
    if len(losses):
        np.testing.assert_allclose(curve.values, losses[curve.steps.astype(int) - 1], rtol=1e-4)
    found = traindx.diagnose(tmp_path / "run").first
    assert found.health not in ("sick", "failed")
    assert loop == "nested" or not [f for f in found.findings if f.slug.startswith("step-time")]


def test_slow_steps_are_all_reported(tmp_path: Path) -> None:
    text = HEAD + STEP + LOOPS["scan"] + "\nover(params, losses)\n"
    slow = text.replace("x[0])", "np.tile(x[0], (4000, 1)))").replace("y[0])", "np.tile(y[0], 4000))")
    slow = slow.replace("(n, m))", "(n, m * 8 if m > 1 else m))").replace(
        "((6, 12), (12, 1))", "((6, 12), (96, 1))"
    )
    slow = slow.replace("np.zeros(m, ", "np.zeros(m * 8 if m > 1 else m, ")
    started(tmp_path, slow.replace("MANY", "1200").replace("STEPS", "1"), *RUN)
    curve = traindx.read(tmp_path / "run").series["train/loss"]
    assert curve.steps[-1] == 1200
    assert len(curve) > 900
    assert "time/step" in traindx.read(tmp_path / "run").series


def test_a_body_that_cannot_be_counted_runs_as_it_is_and_that_is_said(tmp_path: Path) -> None:
    once = "    if not tried:\n        tried.append(1)\n        raise ValueError('at the first time')\n"
    body = STEP.replace("    params, state = carried\n", f"{once}    params, state = carried\n")
    text = HEAD + "tried = []\n" + body + LOOPS["scan"].replace("MANY", "1000") + "\nover(params, losses)\n"
    started(tmp_path, text.replace("STEPS", "1"), *RUN)
    assert len(traindx.read(tmp_path / "run").series["train/loss"])
    said = [
        line
        for line in (tmp_path / "said.txt").read_text().splitlines()
        if "thin recording of a loop" in line
    ]
    assert len(said) == 1
    assert "at the first time" in said[0]
