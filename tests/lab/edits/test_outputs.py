"""The last activation of a model in the forms in which people write it, and the loss of a Keras model."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("libcst", reason="the extra `fix` is not installed")

from traindx.lab.edits import Advice, Patch, edit

TORCH = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        x = self.body(x)
BODY

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    loss.backward()
    optimizer.step()
"""
BEYOND = {"targets_min": -2.0, "targets_max": 3.0, "outputs_last_activation": "relu"}


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("        return torch.relu(self.out(x))\n", "        return self.out(x)\n"),
        (
            "        x = self.out(x).relu()\n        return x\n",
            "        x = self.out(x)\n        return x\n",
        ),
        (
            "        x = self.out(x)\n        x = torch.relu(x)\n        return x\n",
            "        x = self.out(x)\n        return x\n",
        ),
        (
            "        return nn.functional.relu(self.out(x)).squeeze(-1)\n",
            "        return self.out(x).squeeze(-1)\n",
        ),
    ],
)
def test_an_activation_that_cannot_reach_the_targets_goes(body: str, after: str) -> None:
    found = edit({"t.py": TORCH.replace("BODY\n", body)}, "t.py", "match-output-to-loss", facts=BEYOND)
    assert isinstance(found, Patch), found
    assert found.after["t.py"] == TORCH.replace("BODY\n", after)


def test_a_hidden_sequence_that_ends_in_an_activation_is_not_the_output() -> None:
    text = TORCH.replace("BODY\n", "        return self.out(x)\n")
    found = edit({"t.py": text}, "t.py", "match-output-to-loss", facts=BEYOND)
    assert isinstance(found, Advice)  # the recorded activation is somewhere else


KERAS = """import keras
from keras import layers

model = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu"), layers.Dense(UNITS)])
model.compile("adam", loss="LOSS", metrics=["accuracy"])
"""


def keras_edit(fix: str, units: str, given: str, **facts: Any) -> str:
    found = edit({"t.py": KERAS.replace("UNITS", units).replace("LOSS", given)}, "t.py", fix, facts=facts)
    return "" if isinstance(found, Advice) else found.after.get("t.py", "unchanged")


def test_the_last_layer_of_keras_gets_the_activation_of_its_loss() -> None:
    binary = {"outputs_width": 1, "outputs_last_activation": "softmax", "loss": "binary_cross_entropy"}
    one = keras_edit("match-output-to-loss", '1, activation="softmax"', "binary_crossentropy", **binary)
    assert one == KERAS.replace("UNITS", '1, activation="sigmoid"').replace("LOSS", "binary_crossentropy")
    classes = {"outputs_width": 5, "loss": "cross_entropy"}
    several = keras_edit("match-output-to-loss", "5", "categorical_crossentropy", **classes)
    assert 'layers.Dense(5, activation="softmax")' in several
    values = {"outputs_last_activation": "sigmoid", "loss": "mse_loss", "targets_min": 2, "targets_max": 40}
    assert "layers.Dense(1)" in keras_edit(
        "match-output-to-loss", '1, activation="sigmoid"', "mse", **values
    )
    within = {**values, "targets_min": 0, "targets_max": 1}
    assert keras_edit("match-output-to-loss", '1, activation="sigmoid"', "mse", **within) == ""
    elsewhere = {**binary, "outputs_last_activation": "tanh"}
    assert keras_edit("match-output-to-loss", '1, activation="softmax"', "bce", **elsewhere) == ""


def test_compile_gets_the_loss_of_the_targets() -> None:
    facts = {"outputs_width": 5, "outputs_last_activation": "softmax", "targets_whole": True}
    units = '5, activation="softmax"'
    wide = keras_edit("use-matching-loss", units, "mse", **facts, targets_shape="5", targets_binary=True)
    assert 'loss="categorical_crossentropy"' in wide
    assert 'loss="sparse_categorical_crossentropy"' in keras_edit(
        "use-matching-loss", units, "mse", **facts, targets_shape=""
    )
    assert (
        keras_edit("use-matching-loss", units, "mse", **facts, targets_shape="5") == ""
    )  # counts, not classes
