"""The user's source with fixes written into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.lab.repair.source import Source, fix_behind, outside_interventions
from traindx.vocabulary.edit import Advice, Patch
from traindx.vocabulary.setup import Setup

pytest.importorskip("libcst", reason="the extra `fix` is not installed")

SCRIPT = """import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=10.0)  # fast
for step in range(100):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


def source(folder: Path, text: str = SCRIPT, command: tuple[str, ...] = ("python", "train.py")) -> Source:
    (folder / "train.py").write_text(text)
    return Source(command, folder, Setup(lr=10.0, optimizer="SGD"))


def test_interventions_are_written_down_and_the_folder_stays(tmp_path: Path) -> None:
    found = source(tmp_path).patch_for(["lower-learning-rate"], ["lr=*0.01"])
    assert isinstance(found, Patch)
    assert found.after["train.py"] == SCRIPT.replace("lr=10.0", "lr=0.1")
    assert (tmp_path / "train.py").read_text() == SCRIPT


def test_a_fix_without_an_intervention_is_marked_and_edits_the_copy(tmp_path: Path) -> None:
    broken = source(tmp_path, SCRIPT.replace("    optimizer.step()\n", ""))
    assert broken.can("step-the-optimizer") == ""
    edited = broken.edited(("lr=*0.1", "source=step-the-optimizer"))
    assert edited["train.py"].endswith("    loss.backward()\n    optimizer.step()\n")
    assert broken.edited(("lr=*0.1",)) == {}
    assert outside_interventions(("lr=*0.1", "source=step-the-optimizer")) == ("lr=*0.1",)


def test_what_is_there_already_or_not_certain_is_not_tried(tmp_path: Path) -> None:
    whole = source(tmp_path)
    assert whole.can("step-the-optimizer")
    assert whole.can("clean-labels")
    elsewhere = source(tmp_path, command=("torchrun", "elsewhere"))
    assert "no Python file" in elsewhere.can("step-the-optimizer")
    assert isinstance(elsewhere.patch_for(["lower-learning-rate"], ["lr=*0.1"]), Advice)


def test_an_intervention_belongs_to_the_fix_that_has_it() -> None:
    fixes = ["zero-gradients-each-step", "lower-learning-rate"]
    assert fix_behind("lr=*0.01", fixes) == "lower-learning-rate"
    assert fix_behind("zero_grad=each-step", fixes) == "zero-gradients-each-step"
    assert fix_behind("clip=1.0", fixes) == "zero-gradients-each-step"


def test_a_configuration_that_is_not_read_is_noted_and_the_rest_is_edited(tmp_path: Path) -> None:
    (tmp_path / "cfg.yaml").write_text("a: &a [*a]\n")
    (tmp_path / "unnamed.yaml").write_text("a: &a [*a]\n")
    found = source(tmp_path, SCRIPT + "open('cfg.yaml')\n")
    assert found.unread() == ["cfg.yaml is not read or changed: it is nested too deep, or holds itself"]
    assert isinstance(found.patch_for(["lower-learning-rate"], ["lr=*0.01"]), Patch)


@pytest.mark.parametrize("rate", ["9**9**9**9", "'a' * 10**10", "2.0**5000", "float('1' + '0' * 400)"])
def test_a_rate_that_cannot_be_computed_is_advice(tmp_path: Path, rate: str) -> None:
    assert isinstance(source(tmp_path, SCRIPT.replace("10.0", rate)).patch_for([], ["lr=*0.01"]), Advice)


def test_an_edit_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traindx.lab.repair.source.LONGEST", 0.2)
    found = source(tmp_path, SCRIPT + "".join(f"def f{i}(x): return x + {i}\n" for i in range(3000)))
    advice = found.patch_for(["lower-learning-rate"], ["lr=*0.01"])
    assert isinstance(advice, Advice)
    assert "took longer than" in advice.why
