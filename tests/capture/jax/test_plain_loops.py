"""JAX without an optimizer library under `traindx run`: the script updates its parameters itself."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx

if importlib.util.find_spec("jax") is None:
    pytest.skip("JAX is not installed", allow_module_level=True)

STEPS = 40
RUN = (sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--")
HEAD = """
import hashlib
import jax
import jax.numpy as jnp
import numpy as np

chance = np.random.default_rng(0)
x = chance.normal(size=(STEPS, 16, 6)).astype("f4")
y = np.sin(x.sum(-1))
params = [{"w": chance.normal(0, 0.4, (n, m)).astype("f4"), "b": np.zeros(m, "f4")} for n, m in ((6, 12), (12, 1))]

def net(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[..., 0]

def loss_of(params, x, y):
    return jnp.mean((net(params, x) - y) ** 2)

def moved(params, gradients):
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, gradients)

def over(params, losses):
    print(hashlib.sha1(b"".join(np.asarray(a).tobytes() for a in jax.tree.leaves(params))).hexdigest())
    np.save("losses.npy", np.array(losses))
"""
COMPILED = """
@jax.jit
def step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return moved(params, gradients), loss
losses = []
for rows, wanted in zip(x, y):
    params, loss = step(params, rows, wanted)
    losses.append(float(loss))
over(params, losses)
"""
PLAIN = """
losses = []
for rows, wanted in zip(x, y):
    losses.append(float(loss_of(params, rows, wanted)))
    params = moved(params, jax.grad(loss_of)(params, rows, wanted))
over(params, losses)
"""
SCANNED = """
def step(params, batch):
    loss, gradients = jax.value_and_grad(loss_of)(params, *batch)
    return moved(params, gradients), loss
params, losses = jax.jit(lambda params: jax.lax.scan(step, params, (x, y)))(params)
over(params, losses)
"""
# The loss itself holds derivatives by the inputs, as in a physics-informed net: they are no steps.
PHYSICS = f"""
def slope_loss(params, x, y):
    slopes = jax.vmap(jax.grad(lambda row: net(params, row)))(x)
    return loss_of(params, x, y) + jnp.mean(slopes ** 2)
{COMPILED.replace("loss_of", "slope_loss")}"""


def started(folder: Path, script: str, *under: str, statuses: tuple[int, ...] = (0, 1)) -> str:
    """What a script prints; what it and traindx say beside that is in `said.txt`."""
    (folder / "train.py").write_text(script)
    done = subprocess.run(
        [*under, sys.executable, "train.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(traindx.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    (folder / "said.txt").write_text(done.stderr)
    assert done.returncode in statuses, done.stderr
    assert "capture stopped" not in done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "loop", [COMPILED, PLAIN, SCANNED, PHYSICS], ids=["jit", "eager", "scan", "physics"]
)
def test_each_gradient_is_a_step_and_nothing_changes(tmp_path: Path, loop: str) -> None:
    script = f"STEPS = {STEPS}\n{HEAD}{loop}"
    plain = started(tmp_path, script)
    recorded = started(tmp_path, script, *RUN)
    assert recorded.splitlines()[0] == plain.splitlines()[0]  # the weights, to the last bit
    run = traindx.read(tmp_path / "run")
    losses = np.load(tmp_path / "losses.npy")
    assert len(run.series["grad_norm"]) == STEPS
    np.testing.assert_allclose(run.series["train/loss"].values, losses, rtol=1e-4)
    assert list(run.panels["grad_norm"].modules) == ["0", "1"]
    # The rule is known: each update is 0.05 times the gradient.
    norms, weights = (run.panels[name] for name in ("grad_norm", "weight_norm"))
    ratios = run.panels["update_ratio"]
    at = [step for step in ratios.steps if step in weights.steps and step > 1]
    assert at
    for step in at:
        gradient, weight, ratio = (p.values[list(p.steps).index(step)] for p in (norms, weights, ratios))
        np.testing.assert_allclose(ratio, 0.05 * gradient / weight, rtol=0.5)  # a part of each is read


needs_optax = pytest.mark.skipif(importlib.util.find_spec("optax") is None, reason="optax is not installed")
WITH_OPTAX = """
optimizer = optax.adam(0.01)
state = optimizer.init(params)

@jax.jit
def step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss
losses = []
for rows, wanted in zip(x, y):
    params, state, loss = step(params, state, rows, wanted)
    losses.append(float(loss))
over(params, losses)
"""


@needs_optax
def test_a_library_that_makes_no_optimizer_counts_no_steps(tmp_path: Path) -> None:
    """Flax imports optax, and a script may import Keras for its data only."""
    started(tmp_path, f"import optax\nSTEPS = {STEPS}\n{HEAD}{COMPILED}", *RUN)
    assert len(traindx.read(tmp_path / "run").series["grad_norm"]) == STEPS


@needs_optax
def test_an_optimizer_counts_the_steps_alone(tmp_path: Path) -> None:
    """Where an optimizer was made, gradients alone are no steps: they may be those of an evaluation."""
    made = "import optax\noptimizer = optax.adam(0.01)\n"
    started(tmp_path, f"{made}STEPS = {STEPS}\n{HEAD}{COMPILED}", *RUN, statuses=(2,))


@needs_optax
def test_optax_may_be_what_imports_jax(tmp_path: Path) -> None:
    started(tmp_path, f"import optax\nSTEPS = {STEPS}\n{HEAD}{WITH_OPTAX}", *RUN)
    run = traindx.read(tmp_path / "run")
    assert len(run.series["grad_norm"]) == STEPS
    assert run.setup.word("optimizer") == "adam"
    assert run.setup.lr == 0.01


TRAININGS = """
import optax

def fit(optimizer, params, steps):
    state = optimizer.init(params)
    @jax.jit
    def step(params, state, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, loss
    losses = []
    for rows, wanted in zip(x[:steps], y):
        params, state, loss = step(params, state, rows, wanted)
        losses.append(float(loss))
    over(params, losses)
    return params

trained = fit(optax.sgd(0.05), params, 30)
"""
AFTER = {
    "first values": ("fit(optax.adam(0.01), params, 40)", [30, 40]),
    "other values": ("fit(optax.adam(0.01), jax.tree.map(lambda p: -p, params), 40)", [30, 40]),
    "other layers": (
        "fit(optax.sgd(0.01), [{'w': np.full((6, 1), 0.1, 'f4'), 'b': np.zeros(1, 'f4')}], 40)",
        [30, 40],
    ),
    "a new state for what is trained": ("fit(optax.adam(0.01), trained, 40)", [70]),
}


@needs_optax
@pytest.mark.parametrize("kind", AFTER)
def test_a_training_after_another_has_its_own_record(tmp_path: Path, kind: str) -> None:
    then, steps = AFTER[kind]
    script = f"STEPS = {STEPS}\n{HEAD}{TRAININGS}{then}\n"
    plain = started(tmp_path, script)
    assert started(tmp_path, script, *RUN).splitlines()[:2] == plain.splitlines()  # weights, to the last bit
    runs = traindx.read_all(tmp_path / "run")
    assert sorted(len(run.series["train/loss"]) for run in runs) == steps
    last = max(runs, key=lambda run: len(run.series["train/loss"]))
    assert last.setup.word("optimizer") == ("sgd" if len(steps) == 1 or kind == "other layers" else "adam")
    losses = np.load(tmp_path / "losses.npy")
    np.testing.assert_allclose(last.series["train/loss"].values[-len(losses) :], losses, rtol=1e-4)


@needs_optax
@pytest.mark.parametrize(("then", "known"), [("params", False), ("trained", True)])
def test_no_update_leads_from_a_short_training_to_the_next(tmp_path: Path, then: str, known: bool) -> None:
    short = TRAININGS.replace("params, 30)", f"params, 4)\nfit(optax.sgd(0.05), {then}, 4)")
    assert short != TRAININGS
    started(tmp_path, f"STEPS = {STEPS}\n{HEAD}{short}", *RUN)
    ratios = traindx.read(tmp_path / "run").panels["update_ratio"]
    assert list(ratios.steps) == list(range(1, 9))
    assert np.isfinite(ratios.values[:3]).all()
    assert np.isfinite(ratios.values[3]).all() == known


FOLDS = """
import optax

optimizer = optax.adam(0.01)

@jax.jit
def step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state

for fold in range(3):
    held = jax.tree.map(lambda p: chance.normal(0, 0.4, p.shape).astype("f4"), params)
    state = optimizer.init(held)
    for n, (rows, wanted) in enumerate(zip(x, y)):
        if n % 3 != fold:
            held, state = step(held, state, rows, wanted)
    print(float(loss_of(held, x[fold], y[fold])))
"""


@needs_optax
def test_a_compiled_step_may_serve_several_trainings(tmp_path: Path) -> None:
    started(tmp_path, f"STEPS = 300\n{HEAD}{FOLDS}", *RUN)
    runs = traindx.read_all(tmp_path / "run")
    assert [len(run.series["train/loss"]) for run in runs] == [200, 200, 200]
