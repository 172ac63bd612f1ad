"""JAX: the loss and the gradient's norms of a compiled optax loop, from the monitor to a finding."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")

import jax.numpy as jnp  # noqa: E402

import traindx  # noqa: E402
from tests.capture.session.numpy_backend import by_hand  # noqa: E402
from tests.captured import untimed  # noqa: E402
from traindx.capture.jax.norms import norm  # noqa: E402
from traindx.errors import ConfigError  # noqa: E402
from traindx.optax import monitor  # noqa: E402

BAD = {"medium", "high", "critical"}
CHANCE = np.random.default_rng(0)
X, TRUTH = CHANCE.normal(size=(256, 6)).astype("f4"), CHANCE.normal(size=(6, 1)).astype("f4")
Y = np.abs(X @ TRUTH)
ROWS = CHANCE.integers(0, 256, (300, 32))
WEIGHTS = [
    *(CHANCE.normal(0, (2 / 6) ** 0.5, (6, 32)).astype("f4"), np.zeros(32, "f4")),
    *(CHANCE.normal(0, (2 / 32) ** 0.5, (32, 1)).astype("f4"), np.zeros(1, "f4")),
]


def parameters() -> dict[str, Any]:
    w, b, v, c = map(jnp.array, WEIGHTS)
    return {"first": {"bias": b, "kernel": w}, "second": {"bias": c, "kernel": v}}


def loss_of(params: Any, x: Any, y: Any) -> Any:
    hidden = jax.nn.relu(x @ params["first"]["kernel"] + params["first"]["bias"])
    return jnp.mean(jnp.square(hidden @ params["second"]["kernel"] + params["second"]["bias"] - y))


def train(
    optimizer: Any, steps: int, report: Callable[[Any, Any], None], params: Any, state: Any
) -> dict[str, Any]:
    """A loop as people write them: compiled, and the old parameters and states given away."""

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    for rows in ROWS[:steps]:
        params, state, loss = step(params, state, X[rows], Y[rows])
        report(loss, state)
    return params


def watched(out: Path, optimizer: Any, steps: int) -> dict[str, Any]:
    params = parameters()
    state = optimizer.init(params)
    with traindx.watch(params, state, out=out, every=1) as watch:

        def report(loss: Any, state: Any) -> None:
            watch.log(loss=loss)
            watch.step(state)

        return train(optimizer, steps, report, params, state)


def plain(optimizer: Any, steps: int) -> dict[str, Any]:
    params = parameters()
    return train(optimizer, steps, lambda loss, state: None, params, optimizer.init(params))


def test_what_is_recorded_is_what_a_loop_by_hand_computes(tmp_path: Path) -> None:
    watched(tmp_path, optax.chain(monitor(), optax.clip_by_global_norm(1e9), optax.sgd(0.02)), 120)
    run = traindx.read(tmp_path)
    kept = by_hand(WEIGHTS, [(X[rows], Y[rows]) for rows in ROWS[:120]], 0.02)
    assert run.framework == "jax"
    assert list(run.series["train/loss"].steps) == list(range(1, 121))
    np.testing.assert_allclose(run.series["train/loss"].values, kept[:, 0], rtol=1e-4)
    np.testing.assert_allclose(run.series["grad_norm"].values, np.hypot(kept[:, 1], kept[:, 2]), rtol=1e-4)
    panel = run.panels["grad_norm"]
    assert list(panel.modules) == ["first", "second"]
    np.testing.assert_allclose(panel.values, kept[:, 1:], rtol=1e-4)
    assert run.setup.number("parameters_total") == sum(w.size for w in WEIGHTS)
    assert "time/optimizer" not in run.series
    assert not set(run.panels) - {"grad_norm", "grad_nonfinite"}


@pytest.mark.parametrize(("rate", "seen"), [(0.3, "gradient-norm-explodes"), (0.02, "")])
def test_and_diagnosed(tmp_path: Path, rate: float, seen: str) -> None:
    watched(tmp_path, optax.chain(monitor(), optax.sgd(rate)), 300)
    found = traindx.diagnose(untimed(traindx.read(tmp_path))).first
    assert found.health == ("failed" if seen else "healthy")
    bad = {finding.slug for finding in found.findings if finding.severity in BAD}
    assert seen in bad if seen else not bad


@pytest.mark.parametrize("rest", [optax.sgd(0.02, 0.9), optax.adamw(1e-2), optax.sgd(0.3)])
def test_bit_identical(tmp_path: Path, rest: Any) -> None:
    without = plain(rest, 150)
    for a, b in zip(
        jax.tree.leaves(without),
        jax.tree.leaves(watched(tmp_path, optax.chain(monitor(), rest), 150)),
        strict=True,
    ):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_leaves_that_are_masked_are_in_no_optimizer(tmp_path: Path) -> None:
    mask = {"first": {"bias": False, "kernel": False}, "second": {"bias": True, "kernel": True}}
    trained = optax.masked(optax.chain(monitor(), optax.sgd(0.01)), mask)
    frozen = optax.masked(optax.set_to_zero(), jax.tree.map(lambda kept: not kept, mask))
    after = watched(tmp_path, optax.chain(trained, frozen), 20)
    assert np.array_equal(after["first"]["kernel"], WEIGHTS[0])
    run = traindx.read(tmp_path)
    assert run.setup.number("parameters_without_optimizer") == 6 * 32 + 32
    values = run.panels["grad_norm"].values[:, list(run.panels["grad_norm"].modules).index("second")]
    np.testing.assert_allclose(values, run.series["grad_norm"].values, rtol=1e-5)
    assert by_hand(WEIGHTS, [(X[ROWS[0]], Y[ROWS[0]])], 0.0)[0, 2] == pytest.approx(values[0], rel=1e-4)


def test_norms_where_squares_overflow() -> None:
    assert float(norm(jnp.array([3e30, -4e30], jnp.float32))) == pytest.approx(5e30, rel=1e-6)
    assert float(norm(jnp.array([3e-30, -4e-30], jnp.float32))) == pytest.approx(5e-30, rel=1e-6)
    assert float(norm(jnp.array([3, 4j]))) == 5
    assert float(norm(jnp.array([60000, 60000], jnp.float16))) == pytest.approx(60000 * 2**0.5, rel=1e-3)
    assert float(norm(jnp.zeros(3))) == float(norm(jnp.zeros((0, 2)))) == 0
    assert np.isinf(float(norm(jnp.array([1, jnp.inf]))))
    assert np.isnan(float(norm(jnp.array([1, jnp.nan]))))


def test_what_cannot_be_watched_is_said(tmp_path: Path) -> None:
    params = parameters()
    with pytest.raises(ConfigError, match="no monitor is in the optimizer's state"):
        traindx.watch(params, optax.adam(1e-3).init(params), out=tmp_path)
    with pytest.raises(ConfigError, match="that of other parameters"):
        traindx.watch({"other": params["first"]}, monitor().init(params), out=tmp_path)
    with pytest.raises(ConfigError, match="a dict is of no known framework"):
        traindx.watch({"weights": WEIGHTS})
    with traindx.watch(params, monitor().init(params), out=tmp_path) as watch:
        with pytest.raises(ConfigError, match="state after the step"):
            watch.step(params)
        with pytest.raises(ConfigError, match="only Keras"):
            watch.callback  # noqa: B018
