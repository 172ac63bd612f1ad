"""A Keras model that predicts in standard units, and answers in those of the targets."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit
from traindx.vocabulary.setup import Fact

FACTS: dict[str, Fact] = {
    "targets_std_max": 18.0, "targets_mean_abs": 40.2, "targets_min": 13.0, "targets_max": 67.0, "outputs_width": 1,
    "optimizer": "Adam", "loss": "mse_loss",
}  # fmt: skip
LISTED = """\
from keras import Sequential, layers
model = Sequential([
    layers.Dense(8, activation="relu"),
    layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
"""
ADDED = """\
from keras import Sequential
from keras.layers import Dense
model = Sequential()
model.add(Dense(1))
model.compile(optimizer="adam", loss="mse")
"""
CALLED = """\
import keras
inputs = keras.Input((8,))
model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
model.compile(optimizer="adam", loss="mse")
"""


def rescaled(text: str, **facts: Fact) -> Patch | Advice:
    return edit({"train.py": text}, "train.py", "normalize-targets", facts={**FACTS, **facts})


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (LISTED, "    layers.Dense(1),\n", "    layers.Dense(1),\n    layers.Rescaling(18, 40.2),\n"),
        (
            ADDED,
            "model.add(Dense(1))\n",
            "from keras.layers import Rescaling\nmodel.add(Dense(1))\nmodel.add(Rescaling(18, 40.2))\n",
        ),
        (
            CALLED,
            "keras.layers.Dense(1)(inputs)",
            "keras.layers.Rescaling(18, 40.2)(keras.layers.Dense(1)(inputs))",
        ),
    ],
)
def test_the_last_layer_turns_into_the_units_of_the_targets(text: str, old: str, new: str) -> None:
    found = rescaled(text)
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": text.replace(old, new)}
    again = rescaled(found.after["train.py"])
    assert isinstance(again, Patch)
    assert again.after == {}


def test_an_optimizer_whose_steps_grow_with_the_gradients_is_left_to_a_person() -> None:
    assert isinstance(rescaled(LISTED, optimizer="SGD"), Advice)
    assert isinstance(rescaled(LISTED, loss="cross_entropy"), Advice)
    assert isinstance(rescaled(LISTED, outputs_width=3), Advice)
