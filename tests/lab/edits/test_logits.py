"""A softmax that is its own module, called by the model's forward pass."""

from __future__ import annotations

import pytest

pytest.importorskip("libcst", reason="the extra `fix` is not installed")

from traindx.lab.edits import Advice, Patch, edit

SCRIPT = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.classify = nn.Linear(4, 3)
        self.NAME = nn.MADE

    def forward(self, x):
        return self.NAME(self.classify(x))


net, criterion = Net(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = criterion(net(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
    loss.backward()
    optimizer.step()
"""


def after(name: str, made: str) -> str:
    text = SCRIPT.replace("NAME", name).replace("MADE", made)
    found = edit({"t.py": text}, "t.py", "feed-logits-to-loss", ("logits=on",))
    assert isinstance(found, Patch)
    return found.after.get("t.py", text)


@pytest.mark.parametrize("name", ["softmax", "out"])
def test_a_module_that_squashes_goes_and_its_input_stays(name: str) -> None:
    edited = after(name, "Softmax(dim=1)")
    assert "        return self.classify(x)\n" in edited
    assert edited.count("\n") == SCRIPT.count("\n")


def test_a_module_that_is_none_stays_whatever_it_is_called() -> None:
    assert after("softmax", "Identity()") == SCRIPT.replace("NAME", "softmax").replace("MADE", "Identity()")


TWO_SIGMOIDS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 1)

    def forward(self, x):
        return torch.sigmoid(self.a(x))

model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.BCEWithLogitsLoss()
for x, y in batches:
    out = model(x)
    loss = loss_fn(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
out = model(held)
"""


def test_a_loss_for_probabilities_leaves_what_is_rounded_as_it_is() -> None:
    def logits(text: str) -> object:
        return edit({"train.py": text}, "train.py", "", ["logits=on"])

    rounded = TWO_SIGMOIDS + "print((out.round() == target).float().mean())\n"
    found = logits(rounded)
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": rounded.replace("BCEWithLogitsLoss", "BCELoss")}
    plain = logits(TWO_SIGMOIDS)
    assert isinstance(plain, Patch), plain
    assert plain.after == {"train.py": TWO_SIGMOIDS.replace("torch.sigmoid(self.a(x))", "self.a(x)")}
    by_loss = logits(rounded.replace("BCEWithLogitsLoss", "BCELoss"))
    assert isinstance(by_loss, Advice), "the output is rounded, whichever name it has then"
