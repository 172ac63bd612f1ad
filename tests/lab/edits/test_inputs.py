"""Normalized inputs as people write their data: data sets with names, arrays, slices, and Keras models."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit
from traindx.lab.edits.source import Source, argument

LOOP = """\
model = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
HEAD = """\
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset, TensorDataset
"""
LINES = (
    "input_mean, input_std = {0}.mean(0), {0}.std(0)\ninput_std[input_std == 0] = 1.0\n"
    "{0} = ({0} - input_mean) / input_std\n"
)
CHECK = "{0} = ({0} - input_mean) / input_std\n"
NAMED = (
    HEAD + "X, Y = load()\ndata = TensorDataset(X, Y)\nloader = DataLoader(data, 16)\n" + LOOP
    + "print((model(X).argmax(1) == Y).float().mean())\n"
)  # fmt: skip
OWN = (
    HEAD + "class Flowers(Dataset):\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n"
    "X_train, X_test, y_train, y_test = train_test_split(*load())\n"
    "data = Flowers(a=X_train, b=y_train)\nloader = DataLoader(data, 16)\n" + LOOP
    + "rest = torch.from_numpy(X_test)\nprint(model(rest).argmax(1))\n"
)  # fmt: skip
SLICED = (
    HEAD
    + """\
X_train, X_test, y_train, y_test = train_test_split(*load())
model = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for start in range(0, 100, 10):
        batch = X_train[start:start + 10]
        loss = torch.nn.functional.cross_entropy(model(batch), y_train[start:start + 10])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(model(X_test).argmax(1))
"""
)
WRAPPED = (
    SLICED.replace(
        "batch = X_train[start:start + 10]",
        "batch = Variable(torch.from_numpy(X_train[start:start + 10]).float())",
    )
    .replace("model(X_test)", "model(Variable(torch.Tensor(X_test).float().to(device)))")
    .replace("import torch\n", "import torch\nfrom torch.autograd import Variable\n", 1)
)
LISTED = """\
from keras import layers, Sequential
from data import load
X, Y = load()
model = Sequential([
    layers.Dense(8, activation="relu"),
    layers.BatchNormalization(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(X, Y, epochs=3)
"""
ADDED = """\
from keras.layers import Dense, Input
from keras.models import Sequential
from data import load
X, Y = load()
model = Sequential()
model.add(Input((8,)))
model.add(Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(X[:300], Y[:300], epochs=3)
"""


def normalized(text: str) -> Patch | Advice:
    return edit(
        {"t.py": text}, "t.py", "normalize-inputs", ("inputs=standardize",), facts={"inputs_shape": "4"}
    )


@pytest.mark.parametrize(
    ("text", "before", "lines"),
    [
        (NAMED, "data = TensorDataset", LINES.format("X")),
        (OWN, "data = Flowers", LINES.format("X_train") + CHECK.format("X_test")),
        (SLICED, "for epoch", LINES.format("X_train") + CHECK.format("X_test")),
        (WRAPPED, "for epoch", LINES.format("X_train") + CHECK.format("X_test")),
        (LISTED, "model = Sequential", "normalize = layers.Normalization()\nnormalize.adapt(X)\n"),
        (
            ADDED,
            "model.add(Input",
            "from keras.layers import Normalization\nnormalize = Normalization()\nnormalize.adapt(X)\n",
        ),
    ],
)
def test_inputs_are_normalized_where_they_are_made(text: str, before: str, lines: str) -> None:
    found = normalized(text)
    assert isinstance(found, Patch), found
    wanted = text.replace(before, lines + before, 1)
    wanted = wanted.replace("Sequential([\n", "Sequential([\n    normalize,\n")
    wanted = wanted.replace("model.add(Input((8,)))\n", "model.add(Input((8,)))\nmodel.add(normalize)\n")
    assert found.after["t.py"] == wanted
    again = normalized(found.after["t.py"])
    assert isinstance(again, Patch)
    assert again.after == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (NAMED.replace("model(X)", "model(torch.rand(9, 4))"), "no name"),
        (NAMED.replace("TensorDataset(X, Y)", "load()"), "not tensors with names"),
        (LISTED.replace("X, Y = load()\n", "").replace("model.fit", "X, Y = load()\nmodel.fit"), "after the model"),
        (LISTED.replace("model.compile", "other = Sequential([])\nmodel.compile"), "not one stack"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_left_to_a_person(text: str, why: str) -> None:
    found = normalized(text)
    assert isinstance(found, Advice)
    assert why in found.why


def test_a_method_is_not_given_its_own_object() -> None:
    (call,) = Source("t.py", "net.reset()\n").calls()
    assert argument(call, "self", -1) is None
