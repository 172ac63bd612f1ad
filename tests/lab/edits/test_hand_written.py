"""Rates of updates that a script writes itself: where the number is changed, and where nothing is certain."""

import pytest

from traindx.lab.edits import Advice, Patch, edit

pytest.importorskip("libcst")

JAX = """import jax
import jax.numpy as jnp

RATE = 0.5

def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] - y) ** 2)

@jax.jit
def update(params, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    return UPDATE

params = {"w": jnp.zeros(3)}
for i in range(100):
    params = update(params, jnp.ones((4, 3)), jnp.ones(4))
"""
TORCH = """import torch
model = torch.nn.Linear(3, 1)
lr = 0.5
for x, y in [(torch.ones(4, 3), torch.ones(4, 1))] * 9:
    loss = (model(x) - y).square().mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            UPDATE
"""


@pytest.mark.parametrize(
    ("text", "update"),
    [
        (JAX, '{"w": params["w"] - RATE * grads["w"]}'),
        (JAX, "{name: value - grads[name] * RATE for name, value in params.items()}"),
        (JAX, "jax.tree.map(lambda p, g: p - RATE * g, params, grads)"),
        (TORCH, "p -= lr * p.grad"),
        (TORCH, "p.data = p.data - lr * p.grad.data"),
        (TORCH, "p.sub_(lr * p.grad)"),
    ],
)
@pytest.mark.parametrize(("change", "rate"), [("lr=*0.1", "0.05"), ("lr=0.01", "0.01")])
def test_the_number_is_changed(text: str, update: str, change: str, rate: str) -> None:
    text = text.replace("UPDATE", update)
    found = edit({"t.py": text}, "t.py", "lower-learning-rate", [change])
    assert isinstance(found, Patch), found
    assert found.after["t.py"] == text.replace(" = 0.5", f" = {rate}")


def test_the_function_that_updates_may_get_the_gradients() -> None:
    text = """import jax
def sgd(params, grads, step_size=2.0):
    return [p - step_size * g for p, g in zip(params, grads)]
loss = lambda params: (params[0] ** 2).sum()
params = [jax.numpy.ones(3)]
for i in range(50):
    params = sgd(params, jax.grad(loss)(params))
"""
    found = edit({"t.py": text}, "t.py", "lower-learning-rate", ["lr=*0.1"])
    assert isinstance(found, Patch), found
    assert found.after["t.py"] == text.replace("2.0", "0.2")


@pytest.mark.parametrize(
    ("text", "update"),
    [
        (JAX, '{"w": params["w"] - jnp.abs(grads["w"])}'),  # no rate
        (JAX, '{"w": params["w"] - schedule(1) * grads["w"]}'),  # not a number of this script
        (TORCH, "p -= 0.5 * p"),  # decay, no gradient
        (TORCH, "p += lr * p.grad"),  # ascent, which a lower rate would not mend
    ],
)
def test_what_is_no_rate_is_left_alone(text: str, update: str) -> None:
    found = edit({"t.py": text.replace("UPDATE", update)}, "t.py", "lower-learning-rate", ["lr=*0.1"])
    assert isinstance(found, Advice)
