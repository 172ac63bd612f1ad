"""What the host reads of a step on the processor: against what the same step computes of itself elsewhere."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from traindx.capture.compiled.backend import CompiledBackend  # noqa: E402
from traindx.capture.compiled.steps import READINGS, Steps  # noqa: E402
from traindx.capture.jax.host_weights import Near  # noqa: E402
from traindx.capture.jax.readings import available_weights, device_readings, send_step  # noqa: E402
from traindx.capture.jax.trees import leaves_of  # noqa: E402
from traindx.capture.session.session import Session  # noqa: E402

CHANCE = np.random.default_rng(0)
WEIGHTS = {"bias": np.zeros(7, "f4"), "kernel": CHANCE.normal(size=(5, 7)).astype("f4")}
X = CHANCE.normal(size=(12, 16, 5)).astype("f4")


class Recorder:
    """Hears the steps of a computation, by either way, and keeps the readings that the session received."""

    def __init__(self, folder: Path, every: int = 1) -> None:
        self.backend = CompiledBackend("jax")
        self.backend.trained = leaves_of(WEIGHTS)
        self.session = Session(folder, self.backend, every=every)
        self.session.add_model(self.backend.trained)
        self.session.add_optimizer(self.backend)
        self.read: list[Any] = []
        self.steps = Steps(self.session, self.backend, lambda step: self.read.append(self.backend.readings))
        self.near = Near(self.steps, self.backend)
        self.ways: list[str] = []

    def here(self, place: int, *values: Any) -> None:
        self.ways.append("here")
        self.near.receive(place, *values)

    def elsewhere(self, readings: Any) -> None:
        self.ways.append("elsewhere")
        self.steps.add_step(readings)

    def end(self) -> np.ndarray[Any, Any]:
        jax.effects_barrier()
        self.steps.finish_steps()
        self.session.close()
        return np.stack(self.read)


def step(recorder: Recorder, given: bool, computed: list[Any], w: Any, x: Any) -> tuple[Any, Any]:
    """One step of gradient descent, which reports itself, and returns what would be reported from elsewhere."""
    gradient = jax.grad(lambda w: jnp.mean(jax.nn.relu(x @ w["kernel"] + w["bias"] - 1.0) ** 2))(w)
    update = jax.tree.map(lambda g: -0.1 * g, gradient)
    leaves = [jax.tree.leaves(tree) for tree in (gradient, update, w if given else {})]
    send_step(recorder.here, recorder.elsewhere, *leaves)
    return jax.tree.map(jnp.add, w, update), device_readings(
        [v for part in leaves for v in part], (2, len(leaves[2]))
    )[0][0]


def trained(recorder: Recorder, given: bool = True, **options: Any) -> list[Any]:
    w, wanted = jax.tree.map(jnp.array, WEIGHTS), []
    compiled = jax.jit(functools.partial(step, recorder, given, wanted), **options)
    for x in X:
        w, found = compiled(w, x)
        wanted.append(np.asarray(found))
    return wanted


@pytest.mark.parametrize("options", [{}, {"donate_argnums": 0}])
def test_the_host_reads_what_the_step_would_compute(tmp_path: Path, options: dict[str, Any]) -> None:
    recorder = Recorder(tmp_path)
    wanted = np.stack(trained(recorder, **options))
    read = recorder.end()
    assert recorder.ways == ["here"] * 24
    np.testing.assert_allclose(read[:, :2], wanted[:, :2], rtol=1e-5)
    np.testing.assert_allclose(read[:-1, 2], wanted[:-1, 2], rtol=1e-4)  # from the weights after and before
    assert np.isnan(read[-1, 2]).all()  # which nobody has seen
    np.testing.assert_allclose(read[::4, 3:5], wanted[::4, 3:5], rtol=1e-5)
    assert np.isnan(read[1::4, 3:5]).all()
    np.testing.assert_allclose(read[:-1, 5], wanted[:-1, 3], rtol=1e-5)


def test_no_update_is_read_from_one_training_to_the_next(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    trained(recorder)
    jax.effects_barrier()
    recorder.near.ended()
    trained(recorder)
    unknown = np.isnan(recorder.end()[:, 2]).all(1)
    assert list(np.flatnonzero(unknown)) == [11, 23]


def test_updates_without_weights_are_computed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    wanted = np.stack(trained(recorder, given=False))
    read = recorder.end()
    assert recorder.ways == ["here"] * 24
    np.testing.assert_allclose(read[:, :3], wanted[:, :3], rtol=1e-5)
    assert np.isnan(read[:, 3:6]).all()


def test_between_samples_no_weights_are_read(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, every=5)
    wanted = np.stack(trained(recorder))
    read = recorder.end()
    np.testing.assert_allclose(read[:, 0], wanted[:, 0], rtol=1e-5)
    seen = np.isfinite(read[:, 2]).all(1)
    assert list(np.flatnonzero(seen)) == [0, 5, 10]
    np.testing.assert_allclose(read[seen, 2], wanted[seen, 2], rtol=1e-4)


@pytest.mark.parametrize("kind", [jnp.bfloat16, jnp.float16])
def test_short_formats_are_computed_within_the_step(tmp_path: Path, kind: Any) -> None:
    recorder = Recorder(tmp_path)
    compiled = jax.jit(functools.partial(step, recorder, True, []))
    _, found = compiled(jax.tree.map(lambda v: jnp.array(v, kind), WEIGHTS), jnp.array(X[0], kind))
    read = recorder.end()
    assert recorder.ways == ["elsewhere"]
    assert read.shape[1] > READINGS
    np.testing.assert_allclose(read[0, :READINGS], np.asarray(found), rtol=1e-6)


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16])
def test_a_leaf_that_is_not_finite_is_reported_as_infinite_by_either_way(tmp_path: Path, kind: Any) -> None:
    recorder = Recorder(tmp_path)
    w = {"bias": jnp.ones(7, kind), "kernel": jnp.full((5, 7), jnp.nan, kind)}
    compiled = jax.jit(functools.partial(step, recorder, True, []))
    for x in X[:3]:
        w, _ = compiled(w, jnp.array(x, kind))
    read = recorder.end()
    assert set(recorder.ways) == {"here" if kind == jnp.float32 else "elsewhere"}
    assert np.isinf(read[:2, [2, 5], 1]).all()  # not measured by the bias alone
    assert np.isnan(read[:2, 6, 1]).all()
    assert np.isfinite(read[:2, [2, 5, 6], 0]).all()


def test_eager_scanned_and_rematerialized(tmp_path: Path) -> None:
    w = jax.tree.map(jnp.array, WEIGHTS)
    eager = Recorder(tmp_path / "eager")
    for x in X:
        w = step(eager, True, [], w, x)[0]
    scanned = Recorder(tmp_path / "scanned")
    body = jax.checkpoint(functools.partial(step, scanned, True, []))
    jax.block_until_ready(jax.jit(lambda w: jax.lax.scan(body, w, X))(jax.tree.map(jnp.array, WEIGHTS)))
    once, twice = eager.end(), scanned.end()
    assert once.shape == twice.shape == (12, 7, 2)
    np.testing.assert_allclose(once, twice, rtol=1e-4)


def test_weights_are_those_that_the_gradients_are_of() -> None:
    w = [jnp.ones(3), jnp.ones((2, 2))]
    g = [jnp.zeros(3), jnp.zeros((2, 2))]
    assert available_weights(w, g) == w
    assert available_weights(w[:1], g) == []
    assert available_weights([], g) == []
    inside: list[int] = []

    @jax.jit
    def other(g: Any) -> Any:
        inside.extend([len(available_weights(w, g)), len(available_weights(g, g))])
        return g

    other(g)
    assert inside == [0, 2]  # `w` is no part of that computation
    gone = jax.jit(lambda w: [v + 1 for v in w], donate_argnums=0)
    gone(w)
    assert available_weights(w, g) == []
