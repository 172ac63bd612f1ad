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
    # The loss takes them for probabilities, so they are recorded as it uses them: cut off at 0.
    cut = {**classes, "outputs_last_activation": "relu"}
    for units in ("5", '5, activation="linear"', '5, activation="relu"'):
        found = keras_edit("match-output-to-loss", units, "categorical_crossentropy", **cut)
        assert 'layers.Dense(5, activation="softmax")' in found
    assert (
        keras_edit("match-output-to-loss", '5, activation="tanh"', "categorical_crossentropy", **cut) == ""
    )
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


VALUES = """import torch
from torch import nn

X, y = torch.randn(60, 4), torch.randn(SHAPE)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=20)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(OUTPUT, yb)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("shapes", "before", "after"),
    [
        (("20x1", "20"), "net(xb)", "net(xb).squeeze(-1)"),
        (("20", "20x1"), "net(xb).flatten()", "net(xb).flatten().unsqueeze(-1)"),
        (("20x1", "20"), "2 * net(xb)", "(2 * net(xb)).squeeze(-1)"),
        (("20x1", "20x1"), "net(xb)", ""),
        (("20x3", "20"), "net(xb)", ""),
        (("", ""), "net(xb)", ""),
    ],
)
def test_outputs_that_broadcast_against_the_targets_get_their_shape(
    shapes: tuple[str, str], before: str, after: str
) -> None:
    facts = {"loss_input_shape": shapes[0], "loss_target_shape": shapes[1]}
    text = VALUES.replace("OUTPUT", before)
    found = edit({"t.py": text}, "t.py", "use-matching-loss", facts=facts)
    if after:
        assert isinstance(found, Patch), found
        assert found.after["t.py"] == VALUES.replace("OUTPUT", after)
    else:
        assert isinstance(found, Advice)


VALIDATED = """with torch.no_grad():
    found = criterion(CHECKED, yb)
"""


@pytest.mark.parametrize(
    ("checked", "after"),
    [
        ("net(xv)", "net(xv).squeeze(-1)"),
        ("net(xv).flatten()", "net(xv).flatten()"),  # has the shape already
        ("other(xv)", "other(xv)"),  # nothing is known of its outputs
    ],
)
def test_a_validation_loss_over_the_same_outputs_gets_their_shape_too(checked: str, after: str) -> None:
    facts = {"loss_input_shape": "20x1", "loss_target_shape": "20"}
    text = (VALUES + VALIDATED).replace("OUTPUT", "net(xb)").replace("CHECKED", checked)
    found = edit({"t.py": text}, "t.py", "use-matching-loss", facts=facts)
    assert isinstance(found, Patch), found
    assert found.after["t.py"] == (VALUES + VALIDATED).replace("OUTPUT", "net(xb).squeeze(-1)").replace(
        "CHECKED", after
    )


BINARY = """import torch
from torch import nn

X, y = torch.randn(60, 4), (torch.rand(60, 1) > 0.9).float()
net = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = criterion(net(X), y)
    loss.backward()
    optimizer.step()
"""
IN_BATCHES = """def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()


train(zip(X.split(20), y.split(20)))
"""


def test_a_binary_loss_gets_the_weight_of_its_rare_class() -> None:
    facts = {"outputs_width": 1, "classes": 2}
    found = edit({"t.py": BINARY}, "t.py", "weight-classes", ("class_weights=balanced",), facts=facts)
    assert isinstance(found, Patch), found
    weighted = "nn.BCEWithLogitsLoss(pos_weight=(1 - y).sum() / y.sum())"
    assert found.after["t.py"] == BINARY.replace("nn.BCEWithLogitsLoss()", weighted)
    again = edit(found.after, "t.py", "weight-classes", ("class_weights=balanced",), facts=facts)
    assert isinstance(again, Patch)
    assert not again.after, "it is there already"


@pytest.mark.parametrize(
    "text",
    [
        BINARY.partition("for _")[0] + IN_BATCHES,  # the `y` of a batch has the name of all labels
        BINARY.replace("nn.BCEWithLogitsLoss()", "nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))"),
        BINARY.replace("WithLogits", "").replace("net(X)", "net(X).sigmoid()"),  # it has no such argument
    ],
)
def test_a_binary_loss_keeps_its_weight_where_that_of_the_rare_class_is_unknown(text: str) -> None:
    facts = {"outputs_width": 1, "classes": 2}
    found = edit({"t.py": text}, "t.py", "weight-classes", ("class_weights=balanced",), facts=facts)
    assert isinstance(found, Advice)


def test_several_labels_at_once_have_no_single_weight() -> None:
    facts = {"outputs_width": 4}
    found = edit({"t.py": BINARY}, "t.py", "weight-classes", ("class_weights=balanced",), facts=facts)
    assert isinstance(found, Advice)
