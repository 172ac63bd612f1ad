"""Settings of a Keras training in its source: dropout, batch size, epochs, and frozen layers."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit
from traindx.vocabulary.setup import Fact

FACTS: dict[str, Fact] = {"batch_size": 64, "dropout": 0.9}
TEXT = """\
from keras import Sequential
from keras.layers import Dense, Dropout
SIZE = 64
model = Sequential([Dense(8, activation="relu"), Dropout(0.9), Dense(1)])
for layer in model.layers:
    layer.trainable = False
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=4, batch_size=SIZE)
"""


def changed(text: str, fix: str, change: str, **facts: Fact) -> Patch | Advice:
    return edit({"t.py": text}, "t.py", fix, (change,), facts={**FACTS, **facts})


@pytest.mark.parametrize(
    ("fix", "change", "old", "new"),
    [
        ("lower-dropout", "dropout=0", "Dropout(0.9)", "Dropout(0.0)"),
        ("lower-dropout", "dropout=*0.33", "Dropout(0.9)", "Dropout(0.297)"),
        ("change-batch-size", "batch=*0.25", "SIZE = 64", "SIZE = 16"),
        ("train-longer", "steps=*2", "epochs=4", "epochs=8"),
        ("unfreeze-parameters", "unfreeze=all", "trainable = False", "trainable = True"),
    ],
)
def test_a_setting_is_changed_where_it_is_written(fix: str, change: str, old: str, new: str) -> None:
    found = changed(TEXT, fix, change)
    assert isinstance(found, Patch), found
    assert found.after == {"t.py": TEXT.replace(old, new)}


def test_a_batch_size_that_keras_chooses_is_set() -> None:
    plain = TEXT.replace(", batch_size=SIZE", "")
    found = changed(plain, "change-batch-size", "batch=*0.25", batch_size=32)
    assert isinstance(found, Patch), found
    assert found.after == {"t.py": plain.replace("epochs=4", "epochs=4, batch_size=8")}


def test_what_the_recording_does_not_agree_with_is_left_to_a_person() -> None:
    assert isinstance(changed(TEXT, "change-batch-size", "batch=*0.25", batch_size=100), Advice)
    assert isinstance(changed(TEXT.replace(", epochs=4", ""), "train-longer", "steps=*2"), Advice)
    assert isinstance(
        changed(TEXT.replace("model.fit", "load().fit"), "shuffle-data", "data=shuffle"), Advice
    )
