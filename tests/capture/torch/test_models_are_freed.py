"""What a script lets go is gone under `traindx run` at the same line as without it, and what is asked when a recording
ends is asked of a model before it goes."""

from __future__ import annotations

import sys
import weakref
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import traindx  # noqa: E402
from tests.capture.launch.launching import environment, finished, launched  # noqa: E402

SCRIPT = """
import gc, torch, weakref
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # the first one is part of a cycle of PyTorch's
gc.collect()
gc.disable()  # everything must go by its last reference
torch.manual_seed(0)

def parts(k):
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 3, (64,)))
    said = {"model": model, "layer": model[0], "weight": model[0].weight, "optimizer": optimizer, "data": data}
    for name, thing in said.items():
        weakref.finalize(thing, print, name, k, "is gone")
    return model, optimizer, scheduler, data

def train(model, optimizer, scheduler, data):
    for epoch in range(6):
        for x, y in DataLoader(data, batch_size=16, shuffle=True):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
    weakref.finalize(x, print, "batch is gone")
    print("loss", loss.item())

def alive():
    gc_objects = [type(thing) for thing in gc.get_objects()]
    return sum(issubclass(kind, (nn.Module, torch.optim.Optimizer, DataLoader, TensorDataset)) for kind in gc_objects)

for k in range(4):
    model, optimizer, scheduler, data = parts(k)
    train(model, optimizer, scheduler, data)
    print("alive", alive())
def fold(k):
    model, optimizer, scheduler, data = parts(k)
    train(model, optimizer, scheduler, data)
for k in range(4, 8):
    fold(k)
    print("returned", alive())
del optimizer, scheduler
print("no optimizer")
del model
print("no model")
del data
tensors = sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())
print("tensors", tensors, hasattr(nn.Module, "__del__"))
"""


def test_everything_goes_at_the_line_at_which_it_goes_without_us(tmp_path: Path) -> None:
    script = tmp_path / "folds.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script)]
    alone = finished(command, tmp_path, environment(""))
    done = launched("", tmp_path, command=command)
    assert done.out.decode().splitlines() == alone.out.decode().splitlines()
    assert done.status == alone.status == 0
    assert alone.out.decode().count("is gone") == 48
    runs = list(traindx.read_all(tmp_path / "run"))
    assert [len(run.series["train/loss"]) for run in runs] == [24] * 8
    run = runs[0]
    assert run.setup.known("parameters") == 16 * 64 + 64 + 64 * 3 + 3
    assert float(run.setup.known("mode_effect") or 0) > 0  # asked just before that model went


def test_a_watch_lets_go_when_it_ends(tmp_path: Path) -> None:
    gone: list[int] = []
    for k in range(3):
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with traindx.watch(model, optimizer, out=tmp_path / str(k)) as watch:
            for _ in range(12):
                optimizer.zero_grad()
                loss = model(torch.ones(4, 4)).square().mean()
                watch.log(loss=loss)
                loss.backward()
                optimizer.step()
        references = [weakref.ref(thing) for thing in (model, optimizer, model[0].weight)]
        del model, optimizer, loss
        gone.append(sum(reference() is None for reference in references))
    assert gone[1:] == [3, 3]  # PyTorch's first optimizer is part of a cycle
    assert watch.session.step == 12


def test_the_names_of_a_function_hold_nothing_longer(tmp_path: Path) -> None:
    """Looking into a function for kept graphs leaves no copy of its variables, and `locals()` as it is."""
    from traindx.capture.process.patches import variables_of

    class Thing:
        pass

    def asked() -> tuple[bool, bool]:
        thing = Thing()
        reference = weakref.ref(thing)
        seen = "thing" in variables_of(sys._getframe())
        del thing
        return seen, reference() is None

    assert asked() == (True, True)


TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(64, 16), torch.randint(0, 3, (64,))

def fit(model, optimizer):
    for i in range(48):
        loss = nn.functional.cross_entropy(model(x[i % 4 :: 4]), y[i % 4 :: 4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def main():
    model = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    fit(model, optimizer)
    return {returned}

{call}
"""
FACTS = (
    "optimizer", "parameters_trainable", "parameters_without_optimizer", "optimizer_steps", "mode_effect",
    "statistics_effect", "modes_loss_train", "modes_loss_eval", "modes_loss_first", "batch_size",
)  # fmt: skip


def test_what_is_known_of_a_training_does_not_hang_on_what_outlives_it(tmp_path: Path) -> None:
    """All stays to the end; the model outlives its optimizer; both go before the script ends."""
    ways = {
        "all": ("model, optimizer", "kept = main()"),
        "model": ("model", "kept = main()"),
        "none": ("None", "main()"),
    }
    known = {}
    for way, (returned, call) in ways.items():
        (tmp_path / way).mkdir()
        script = tmp_path / way / "train.py"
        script.write_text(TRAINING.replace("{returned}", returned).replace("{call}", call))
        setup = launched("", tmp_path / way, command=[sys.executable, str(script)]).run().setup
        known[way] = {name: setup.known(name) for name in FACTS}
    assert known["model"] == known["none"] == known["all"]
    assert known["all"]["modes_loss_train"] is not None
    assert known["all"]["parameters_without_optimizer"] in (0, None)
