"""Batches that a loop cuts itself: their size and their order."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit

HEAD = """\
import math
import random
import torch
from torch import nn

X, Y = load()
model = nn.Linear(8, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""
TAIL = """\
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
STRIDE = (
    HEAD + "size = 32\nfor epoch in range(9):\n    for i in range(0, len(X), size):\n"
    "        x, y = X[i : i + size], Y[i:i+size]\n"
    + TAIL
    + "        if i % 10 == 0:\n            print(i + 1)\n"
)
NUMBERS = STRIDE.replace("size = 32\n", "").replace("size", "32")
COUNTED = (
    HEAD + "size = 32\nfor epoch in range(9):\n    for k in range(math.ceil(len(X) / size)):\n"
    "        start, end = k * size, (k + 1) * size\n        x, y = X[start:end], Y[start:end]\n" + TAIL
)
SPLIT = (
    HEAD
    + "size = 32\nfor epoch in range(9):\n    for x, y in zip(X.split(size), torch.split(Y, size)):\n"
    + TAIL
)
OWN = (
    HEAD + "def batches(size, X, Y):\n    rows = list(range(len(X)))\n    random.shuffle(rows)\n"
    "    for i in range(0, len(X), size):\n        part = torch.tensor(rows[i : min(i + size, len(X))])\n"
    "        yield X[part], Y[part]\n\nfor epoch in range(9):\n    for x, y in batches(32, X, Y):\n" + TAIL
)
CALLED = (
    HEAD + "def step(x, y):\n" + TAIL.replace("        ", "    ") + "\ndef train(X, Y, size=32):\n"
    "    for epoch in range(9):\n        for i in range(0, X.shape[0], size):\n"
    "            step(X[i : i + size], Y[i : i + size])\n\ntrain(X, Y)\n"
)
MIXED = STRIDE.replace(
    "range(9):\n", "range(9):\n    rows = torch.randperm(len(X))\n    X, Y = X[rows], Y[rows]\n"
)


def changed(text: str, intervention: str, batch: int = 32) -> Patch | Advice:
    return edit({"t.py": text}, "t.py", "", (intervention,), facts={"batch_size": batch})


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (STRIDE, "size = 32", "size = 8"),
        (NUMBERS, "32", "8"),
        (COUNTED, "size = 32", "size = 8"),
        (SPLIT, "size = 32", "size = 8"),
        (OWN, "batches(32,", "batches(8,"),
        (CALLED, "size=32", "size=8"),
    ],
)
def test_the_size_is_changed_where_it_is_set(text: str, old: str, new: str) -> None:
    found = changed(text, "batch=*0.25")
    assert isinstance(found, Patch), found
    assert found.after == {"t.py": text.replace(old, new)}
    again = changed(found.after["t.py"], "batch=*0.25")
    assert isinstance(again, Patch)
    assert again.after == {}


@pytest.mark.parametrize("whole", ["len(X)", "X.shape[0]", "X.size(0)", "n"])
def test_one_batch_of_all_samples_gets_a_size(whole: str) -> None:
    text = STRIDE.replace("size = 32", f"n = len(X)\nsize = {whole}").replace(
        "range(0, len(X)", "range(0, n"
    )
    found = changed(text, "batch=*0.0625", batch=800)
    assert isinstance(found, Patch), found
    assert found.after == {"t.py": text.replace(f"size = {whole}", "size = 50")}, (
        "the number of samples stays"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (STRIDE.replace("size = 32", "size = 64"), "64, but 32 was recorded"),
        (STRIDE.replace("size = 32", "size = ask()"), "cannot tell where size comes from"),
        (STRIDE.replace("i : i + size], Y[i:i+size]", "i], Y[i]"), "was not found"),  # one sample at a time
        (STRIDE.replace("range(0, len(X), size)", "range(9)"), "was not found"),
        (STRIDE.replace("range(0, len(X), size)", 'names.split(" ")'), "was not found"),
    ],
)
def test_another_size_is_left_to_a_person(text: str, why: str) -> None:
    found = changed(text, "batch=*0.25")
    assert isinstance(found, Advice)
    assert why in found.why


@pytest.mark.parametrize(
    ("text", "loop"),
    [(STRIDE, "    for i in"), (COUNTED, "    for k in"), (CALLED, "        for i in")],
)
def test_samples_in_order_are_drawn_in_a_new_order(text: str, loop: str) -> None:
    found = changed(text, "data=shuffle")
    assert isinstance(found, Patch), found
    drawn = f"{loop[: -len(loop.lstrip())]}sample_order = torch.randperm(len(X))\n{loop}"
    wanted = text.replace(loop, drawn)
    for part in ("i : i + size", "i:i+size", "start:end"):
        wanted = wanted.replace(f"[{part}]", f"[sample_order[{part}]]")
    assert found.after == {"t.py": wanted}
    again = changed(wanted, "data=shuffle")
    assert isinstance(again, Patch)
    assert again.after == {}


@pytest.mark.parametrize(
    "text",
    [
        MIXED,
        OWN,
        SPLIT,
        STRIDE.replace("X[i : i + size]", "cut(i, i + size)"),
        COUNTED.replace("X[start:end]", "cut(end)"),
    ],
)
def test_an_order_that_may_be_new_already_is_left(text: str) -> None:
    assert isinstance(changed(text, "data=shuffle"), Advice)
