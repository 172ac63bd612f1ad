"""Early stopping in the sources of frameworks, by their own callbacks and settings."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit

STOPPING = 'EarlyStopping(monitor="val_loss", patience=5, restore_best_weights=True)'
KERAS = """\
import keras
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=9, validation_split=0.2)
"""
LIGHTNING = """\
import lightning as L

class Net(L.LightningModule):
    def validation_step(self, batch, at):
        self.log("val/loss", self.loss(batch))

trainer = L.Trainer(max_epochs=9)
trainer.fit(Net())
"""
TRANSFORMERS = """\
from transformers import Trainer, TrainingArguments
args = TrainingArguments("out", eval_strategy="epoch")
Trainer(model, args).train()
"""


def stopped(text: str) -> Patch | Advice:
    return edit({"train.py": text}, "train.py", "stop-early", ["stop=31"])


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (
            KERAS,
            "model.fit(x, y, epochs=9, validation_split=0.2)",
            "from keras.callbacks import EarlyStopping\n"
            f"model.fit(x, y, epochs=9, validation_split=0.2, callbacks=[{STOPPING}])",
        ),
        (
            KERAS.replace("=0.2)", "=0.2, callbacks=mine)"),
            "model.fit(x, y, epochs=9, validation_split=0.2, callbacks=mine)",
            "from keras.callbacks import EarlyStopping\n"
            f"model.fit(x, y, epochs=9, validation_split=0.2, callbacks=[*mine, {STOPPING}])",
        ),
        (
            LIGHTNING,
            "trainer = L.Trainer(max_epochs=9)",
            "from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint\n"
            'trainer = L.Trainer(max_epochs=9, callbacks=[EarlyStopping(monitor="val/loss", patience=5), '
            'ModelCheckpoint(monitor="val/loss")])',
        ),
        (
            TRANSFORMERS,
            '"epoch")',
            '"epoch", save_strategy="epoch", load_best_model_at_end=True)',
        ),
    ],
)
def test_a_framework_stops_by_its_own_means(text: str, old: str, new: str) -> None:
    found = stopped(text)
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": text.replace(old, new)}
    again = stopped(found.after["train.py"])
    assert isinstance(again, Patch)
    assert again.after == {}


@pytest.mark.parametrize(
    "text",
    [
        KERAS.replace(", validation_split=0.2", ""),
        LIGHTNING.replace("val/loss", "loss"),
        TRANSFORMERS.replace("epoch", "no"),
    ],
)
def test_nothing_stops_what_does_not_validate(text: str) -> None:
    assert isinstance(stopped(text), Advice)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (LIGHTNING, "max_epochs=9", "max_epochs=18"),
        (TRANSFORMERS.replace("strategy=", "steps=9, num_train_epochs=3, x="), "epochs=3", "epochs=6"),
    ],
)
def test_a_trainer_goes_on_for_longer(text: str, old: str, new: str) -> None:
    found = edit({"train.py": text}, "train.py", "train-longer", ["steps=*2"])
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": text.replace(old, new)}


def test_the_length_of_a_trainer_that_is_set_nowhere_or_twice_is_left_to_a_person() -> None:
    both = LIGHTNING.replace("max_epochs=9", "max_epochs=9, max_steps=100")
    for text in (TRANSFORMERS, both, LIGHTNING.replace("max_epochs=9", "max_epochs=wanted")):
        assert isinstance(edit({"train.py": text}, "train.py", "train-longer", ["steps=*2"]), Advice)
