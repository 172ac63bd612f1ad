"""A schedule of optax or Keras that falls too early: the patch for a constant rate, and what is left to a person."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit

TRAIN = """import optax

RATE = 0.003
{before}tx = optax.{made}
state = tx.init(params)
for batch in batches:
    updates, state = tx.update(grads(params, batch), state, params)
"""
FALLING = "optax.exponential_decay({}, transition_steps=10, decay_rate=0.5)"
ONE_CYCLE = "optax.warmup_cosine_decay_schedule(0.0, peak_value=RATE, warmup_steps=9, decay_steps=90)"
RIGHT = {
    "in the call": ("", f"adam({FALLING.format('RATE')})", "adam(RATE)"),
    "a number": ("", f"adamw({FALLING.format('0.003')}, weight_decay=0.1)", "adamw(0.003, weight_decay=0.1)"),
    "with a name": (f"plan = {FALLING.format('RATE')}\n", "sgd(learning_rate=plan)", "sgd(learning_rate=RATE)"),
    "with a peak": ("", f"adam({ONE_CYCLE})", "adam(RATE)"),
    "from a function": (
        f"def plan(top):\n    return {FALLING.format('top')}\n\n\n", "adam(plan(RATE))", "adam(0.003)",
    ),
}  # fmt: skip
SILENT = {
    "no schedule": ("", "adam(RATE)"),
    "a rate that was not recorded": ("", f"adam({FALLING.format('0.5')})"),
    "a rate from elsewhere": ("from settings import top\n", f"adam({FALLING.format('top')})"),
    "joined": ("", "adam(optax.join_schedules([a, b], [5]))"),
}


@pytest.mark.parametrize("what", RIGHT)
def test_the_highest_rate_takes_the_place_of_the_schedule(what: str) -> None:
    before, made, new = RIGHT[what]
    text = TRAIN.format(before=before, made=made)
    found = edit({"train.py": text}, "train.py", "repair-schedule", ["lr=constant"], facts={"lr": 0.003})
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": text.replace(made, new)}


@pytest.mark.parametrize("what", SILENT)
def test_what_is_not_certain_is_left_to_a_person(what: str) -> None:
    before, made = SILENT[what]
    text = TRAIN.format(before=before, made=made)
    found = edit({"train.py": text}, "train.py", "repair-schedule", ["lr=constant"], facts={"lr": 0.003})
    assert isinstance(found, Advice)
    assert "0.5" not in found.write


KERAS = """import keras

RATE = 0.003
{before}model.compile(optimizer=keras.optimizers.{made}, loss="mse")
model.fit(x, y)
"""
DECAY = "keras.optimizers.schedules.ExponentialDecay({}, decay_steps=10, decay_rate=0.5)"
PIECES = "keras.optimizers.schedules.PiecewiseConstantDecay([5], [0.003, 0.001])"


@pytest.mark.parametrize(("before", "made", "new"), [
    ("", f"Adam({DECAY.format('RATE')})", "Adam(RATE)"),
    (f"plan = {DECAY.format('0.003')}\n", "SGD(learning_rate=plan)", "SGD(learning_rate=0.003)"),
    ("", f"Adam({DECAY.format('0.5')})", ""),  # another rate than the recorded one
    ("", f"Adam({PIECES})", ""),
    ("", "Adam(RATE)", ""),
])  # fmt: skip
def test_a_schedule_of_keras(before: str, made: str, new: str) -> None:
    text = KERAS.format(before=before, made=made)
    found = edit({"train.py": text}, "train.py", "repair-schedule", ["lr=constant"], facts={"lr": 0.003})
    assert isinstance(found, Patch if new else Advice), found
    assert not isinstance(found, Patch) or found.after == {"train.py": text.replace(made, new)}


@pytest.mark.parametrize(
    ("imports", "why"),
    [("import optax", "not known for JAX"), ("import optax\nimport torch", "no loss function of PyTorch")],
)
def test_calls_of_pytorch_are_not_missed_in_jax(imports: str, why: str) -> None:
    text = f"{imports}\nfor batch in batches:\n    params, loss = step(params, batch)\n"
    found = edit({"t.py": text}, "t.py", "feed-logits-to-loss")
    assert isinstance(found, Advice)
    assert why in found.why
