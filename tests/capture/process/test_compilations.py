"""Compilations are counted where frameworks count them, of functions that compile anew for every shape."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.process import traindx
from traindx import pipeline
from traindx.capture.process.compilations import Compilations


def of_torch() -> tuple[Callable[[int], Any], Callable[[], None]]:
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: (x * 2).sum(), backend="eager", dynamic=False)
    return lambda n: compiled(torch.ones(n)), torch._dynamo.reset


def of_jax() -> tuple[Callable[[int], Any], Callable[[], None]]:
    jax = pytest.importorskip("jax")
    compiled = jax.jit(lambda x: (x * 2).sum())
    given = {n: jax.numpy.ones(n) for n in (3, 4, 5)}
    return lambda n: compiled(given[n]), lambda: None


def of_tensorflow() -> tuple[Callable[[int], Any], Callable[[], None]]:
    tf = pytest.importorskip("tensorflow")
    inner = tf.function(lambda x: x * 2)
    compiled = tf.function(lambda x: tf.reduce_sum(inner(x)))
    return lambda n: compiled(tf.ones(n)), lambda: None


@pytest.mark.parametrize("made", [of_torch, of_jax, of_tensorflow])
def test_each_is_counted_once(made: Callable[[], tuple[Callable[[int], Any], Callable[[], None]]]) -> None:
    call, end = made()
    counted = Compilations()
    assert counted.lap() == (0, 0.0)
    counts = []
    for n in (3, 3, 4, 4, 3, 5):
        call(n)
        count, seconds = counted.lap()
        counts.append(count)
        assert (seconds > 0) == (count > 0)
    assert counts == [1, 0, 1, 0, 0, 1]
    counted.close()
    end()


def test_nothing_is_left_behind() -> None:
    jax = pytest.importorskip("jax")
    listeners = jax._src.monitoring.get_event_duration_listeners
    before = listeners()
    counted = Compilations()
    assert len(listeners()) == len(before) + 1
    counted.close()
    assert listeners() == before


TORCH = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
step_of = torch.compile(model, backend="{backend}", dynamic=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    x = torch.randn({rows}, 8)
    loss = (step_of(x) - x[:, :1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
JAX = """
import jax, optax
import jax.numpy as jnp
w = {{"w": jnp.zeros((8, 1))}}
optimizer = optax.sgd(0.1)
state = optimizer.init(w)

@jax.jit
def update(w, state, x, y):
    loss, gradient = jax.value_and_grad(lambda w: ((x @ w["w"] - y) ** 2).mean())(w)
    change, state = optimizer.update(gradient, state, w)
    return optax.apply_updates(w, change), state, loss

key = jax.random.key(0)
for step in range(30):
    x = jax.random.normal(jax.random.fold_in(key, step), ({rows}, 8))
    w, state, loss = update(w, state, x, x[:, :1])
"""


@pytest.mark.parametrize("library", ["torch", "optax"])
@pytest.mark.parametrize(("rows", "fires"), [("32 + 8 * (step % 16)", True), ("32 + 8 * (step % 2)", False)])
def test_scripts(tmp_path: Any, library: str, rows: str, fires: bool) -> None:
    pytest.importorskip(library)
    text = TORCH.format(rows=rows, backend="aot_eager") if library == "torch" else JAX.format(rows=rows)
    (tmp_path / "train.py").write_text(text)
    done = traindx(
        "run", "--out", "here", "--", sys.executable, "train.py", cwd=tmp_path, env={"OMP_NUM_THREADS": "1"}
    )
    assert done.status in (0, 1), done.err
    (run,) = pipeline.read_capture(tmp_path / "here")
    steps = run.series["calls/compile"].steps  # the first of PyTorch's may come before the recording
    assert len(steps) >= (7 if fires else 1)
    found = {finding.slug: finding.message for finding in pipeline.diagnose([run]).first.findings}
    assert ("step-compiles-again" in found) == fires
    if fires and library == "torch":
        assert "size mismatch at index 0. expected " in found["step-compiles-again"]


def test_the_reason_of_a_guard_is_reported_with_its_function(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    (tmp_path / "scaled.py").write_text("def scaled(x, scale):\n    return (x * scale).sum()\n")
    names: dict[str, Any] = {}
    path = str(tmp_path / "scaled.py")
    exec(compile((tmp_path / "scaled.py").read_text(), path, "exec"), names)
    function = torch.compile(names["scaled"], backend="eager", dynamic=False)
    counted = Compilations()
    for turn in range(3):
        function(torch.ones(3), turn * 0.5)
    assert counted.facts()["recompiled_for"] == "scale == 0.5 (scaled, scaled.py:1)"
    counted.close()
    torch._dynamo.reset()
