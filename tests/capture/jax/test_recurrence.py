"""Whether a JAX model is recurrent: the same weights at every position of a `scan`, and none of its look-alikes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import traindx
from tests.capture.jax.test_plain_loops import COMPILED, HEAD, RUN, started

if importlib.util.find_spec("jax") is None:
    pytest.skip("JAX is not installed", allow_module_level=True)

MODELS = {
    "cell": (
        "def net(params, x):\n"
        "    w, v = params[0]['w'], params[1]['w']\n"
        "    cell = lambda h, row: (jnp.tanh(row @ w + h), None)\n"
        "    h, _ = jax.lax.scan(cell, jnp.zeros(12), x)\n"
        "    return h @ v\n"
    ),
    "layers": (  # one layer of a stack at each step
        "def net(params, x):\n"
        "    stack = jnp.stack([params[0]['w'] @ params[0]['w'].T] * 3)\n"
        "    h, _ = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x @ params[0]['w'] @ params[0]['w'].T, stack)\n"
        "    return (h @ params[0]['w'] @ params[1]['w']).mean()\n"
    ),
    "returns": (  # of an agent: no weights
        "def net(params, x):\n"
        "    sums, _ = jax.lax.scan(lambda total, row: (0.9 * total + row, None), jnp.zeros(6), x)\n"
        "    return jnp.tanh(sums @ params[0]['w']) @ params[1]['w']\n"
    ),
}
LOSS = """
def loss_of(params, x, y):
    return jnp.mean((jax.vmap(net, (None, 0))(params, x[None]) - y.mean()) ** 2)
"""


@pytest.mark.parametrize(("model", "recurrent"), [("cell", True), ("layers", False), ("returns", False)])
def test_a_state_that_the_weights_make_is_recurrent(model: str, recurrent: bool, tmp_path: Path) -> None:
    started(tmp_path, "STEPS = 8\n" + HEAD + MODELS[model] + LOSS + COMPILED, *RUN)
    assert (traindx.read(tmp_path / "run").setup.word("modules") == "recurrent") is recurrent
