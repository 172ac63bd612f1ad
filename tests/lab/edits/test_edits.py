"""The contract of every kind of edit: it changes what it must, once, and refuses what is not certain."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("libcst")

from tests.lab.edits.applies import APPLIES
from tests.lab.edits.refuses import REFUSES
from tests.lab.edits.samples import SCRIPT, Applies, Refuses, swapped
from traindx.lab.edits import Advice, Patch, catalogue, edit, kind_of


def called(what: str) -> tuple[str, list[str]]:
    """The fix and the interventions of a sample."""
    return ("", [what]) if "=" in what else (what, [])


def name(sample: Applies | Refuses) -> str:
    return f"{sample.what}:{len(sample.given)}"


@pytest.mark.parametrize("sample", APPLIES, ids=name)
def test_an_edit_changes_what_it_must_and_nothing_else(sample: Applies) -> None:
    text = swapped(SCRIPT, sample.given)
    files = {"train.py": text, **sample.files}
    fix, interventions = called(sample.what)
    found = edit(files, "train.py", fix, interventions, facts=sample.facts)
    assert isinstance(found, Patch), found
    expected = {"train.py": swapped(text, sample.swaps)} if sample.swaps else {}
    expected |= {path: swapped(sample.files[path], swaps) for path, swaps in sample.changed.items()}
    assert found.after == expected
    assert found.before == {path: files[path] for path in expected}
    assert len(found.words) >= len(expected)


@pytest.mark.parametrize("sample", APPLIES, ids=name)
def test_the_same_edit_a_second_time_changes_nothing(sample: Applies) -> None:
    files = {"train.py": swapped(SCRIPT, sample.given), **sample.files}
    fix, interventions = called(sample.what)
    once = edit(files, "train.py", fix, interventions, facts=sample.facts)
    assert isinstance(once, Patch)
    twice = edit({**files, **once.after}, "train.py", fix, interventions, facts=sample.facts)
    assert not isinstance(twice, Patch) or twice.after == {}
    if isinstance(twice, Advice):  # a cut that is gone, a step that was moved: nothing is left to find
        assert fix in (
            "reattach-graph",
            "repair-schedule",
            "iterate-the-loader",
            "match-output-to-loss",
            "realign-labels",
        )


@pytest.mark.parametrize("sample", REFUSES, ids=name)
def test_what_is_not_certain_is_left_to_a_person(sample: Refuses) -> None:
    files = {"train.py": swapped(SCRIPT, sample.given)}
    fix, interventions = called(sample.what)
    found = edit(files, "train.py", fix, interventions, facts=sample.facts, arguments=sample.arguments)
    assert isinstance(found, Advice)
    assert sample.why in found.why
    assert found.write
    assert found.file in ("train.py", "")


def test_every_kind_has_samples_of_both_sides() -> None:
    for file, samples in (("applies", APPLIES), ("refuses", REFUSES)):
        tried = {id(kind_of(*(("", s.what) if "=" in s.what else (s.what, "")))) for s in samples}
        for kind in catalogue():
            sample = (*(f"{name}=..." for name in kind.interventions), *kind.fixes)[0]
            add = f'add {file.capitalize()}("{sample}", ...) to tests/lab/edits/{file}.py'
            assert id(kind) in tried, f"the edit of {sample} has no sample: {add}"


def test_what_nobody_can_write_down_is_advice() -> None:
    found = edit({"train.py": SCRIPT}, "train.py", "clean-labels")
    assert found == Advice(
        file="", line=0, write="clean-labels", why="no edit of the source is known for it"
    )


def test_several_interventions_are_one_patch_or_none() -> None:
    files = {"train.py": SCRIPT}
    both = edit(files, "train.py", "", ["optimizer=adamw", "lr=0.0003"], facts={"lr": 0.1})
    assert isinstance(both, Patch)
    assert "AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)" in both.after["train.py"]
    assert "default=0.0003" in both.after["train.py"]
    assert isinstance(edit(files, "train.py", "", ["optimizer=adamw", "momentum=0.9"]), Advice)


def test_a_script_that_is_no_python_is_not_edited() -> None:
    assert isinstance(edit({"train.py": "print 'old'\n"}, "train.py", "", ["lr=*0.1"]), Advice)
    assert isinstance(edit({}, "train.py", "", ["lr=*0.1"]), Advice)


def test_values_are_found_across_files() -> None:
    files = {
        "run.py": "from lib.train import fit\nfrom settings import LR\n\nfit(LR)\n",
        "settings.py": "WIDTH = 8\nLR = 3e-1  # steep\n",
        "lib/__init__.py": "",
        "lib/train.py": "import torch\n\n\ndef fit(rate, wd=0.0):\n    model = torch.nn.Linear(2, 1)\n"
        "    return torch.optim.Adam(model.parameters(), lr=rate, weight_decay=wd)\n",
    }
    found = edit(files, "run.py", "lower-learning-rate", ["lr=*0.1"], facts={"lr": 0.3})
    assert isinstance(found, Patch)
    assert found.after == {"settings.py": "WIDTH = 8\nLR = 0.03  # steep\n"}
    assert found.words == ("settings.py:2: the learning rate: 3e-1 becomes 0.03",)


def test_options_in_options_are_found() -> None:
    files = {
        "config.py": "from dataclasses import dataclass, field\n\n\n@dataclass\n"
        "class Optim:\n    lr: float = 0.5  # steep\n\n\n"
        "@dataclass\nclass Config:\n    epochs: int = 3\n    optim: Optim = field(default_factory=Optim)\n",
        "run.py": "import torch\nfrom config import Config\n\n\nclass Engine:\n    def __init__(self, config):\n"
        "        self.opt = torch.optim.SGD([torch.ones(1)], lr=config.optim.lr)\n\n\nEngine(Config())\n",
    }
    found = edit(files, "run.py", "", ["lr=*0.1"], facts={"lr": 0.5})
    assert isinstance(found, Patch)
    assert found.words == ("config.py:6: the learning rate: 0.5 becomes 0.05",)


def test_two_calls_with_rates_of_their_own_are_not_one_place() -> None:
    text = "import torch\n\ndef fit(lr):\n    return torch.optim.SGD([torch.ones(1)], lr=lr)\n\nfit(0.1)\nfit(0.2)\n"
    found = edit({"a.py": text}, "a.py", "", ["lr=*0.1"])
    assert isinstance(found, Advice)
    assert found.line == 4


def test_without_libcst_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['libcst'] = None\n"
        "from traindx.lab.edits import MissingExtra, edit\nimport traindx.lab.edits.files\n"
        "try:\n    edit({'a.py': ''}, 'a.py', '', ['lr=1'])\nexcept MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "to edit scripts: pip install 'traindx[fix]'\n"
