"""Settings that reach the optimizer inside `**options`: the right patch, or none and no number."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("libcst")

from traindx.lab.edits import Advice, Patch, edit

START = "import argparse, json, tomllib, types, yaml, torch\nfrom pathlib import Path\nmodel = torch.nn.Linear(2, 2)\n"
END = """
for x, y in data:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
ADAM = "optimizer = torch.optim.AdamW(model.parameters(), **{})"
JSON = '{"optim": {"lr": 1e-6, "weight_decay": 0.5}, "other": {"lr": 1e-6}}\n'
MAKE = "def make(parameters, **kwargs):\n    return torch.optim.AdamW(parameters, **kwargs)\n"
# The script between START and END, its configuration (name, text), and (file, old, new) of the right patch.
RIGHT = {
    "JSON": (
        'CFG = json.loads(Path("c.json").read_text())\n' + ADAM.format('CFG["optim"]'), ("c.json", JSON),
        ("c.json", '"optim": {"lr": 1e-6', '"optim": {"lr": 0.001'),
    ),
    "YAML": (
        'cfg = yaml.safe_load(open("c.yaml"))\n' + ADAM.format('cfg["optim"]'),
        ("c.yaml", "lr: 5\noptim:\n  lr: 1.0e-6  # low\n"), ("c.yaml", "lr: 1.0e-6  #", "lr: 0.001  #"),
    ),
    "TOML": (
        'cfg = tomllib.loads(Path("c.toml").read_text())\n' + ADAM.format('cfg["optim"]'),
        ("c.toml", "[optim]\nlr = 1e-6\n"), ("c.toml", "lr = 1e-6", "lr = 0.001"),
    ),
    "dict": ('options = {"lr": 1e-6}\n' + ADAM.format("options"), None, ("train.py", '"lr": 1e-6', '"lr": 0.001')),
    "call of dict": ("options = dict(lr=1e-6)\n" + ADAM.format("options"), None, ("train.py", "lr=1e-6", "lr=0.001")),
    "written out": (ADAM.format('{"lr": 1e-6}'), None, ("train.py", '"lr": 1e-6', '"lr": 0.001')),
    "Namespace": (
        'parser = argparse.ArgumentParser()\nparser.add_argument("--lr", type=float, default=1e-6)\n'
        + ADAM.format("vars(parser.parse_args())"), None, ("train.py", "default=1e-6", "default=0.001"),
    ),
    "keywords of a function": (
        MAKE + "optimizer = make(model.parameters(), lr=1e-6)", None, ("train.py", "lr=1e-6)", "lr=0.001)"),
    ),
    "a copy without another entry": (
        'CFG = json.load(open("c.json"))\noptions = dict(CFG["optim"])\noptions.pop("name", None)\n'
        + ADAM.format("options"), ("c.json", JSON), ("c.json", '"optim": {"lr": 1e-6', '"optim": {"lr": 0.001'),
    ),
    "a copy by its method": (
        'CFG = json.load(open("c.json"))\noptions = CFG["optim"].copy()\n' + ADAM.format("options"),
        ("c.json", JSON), ("c.json", '"optim": {"lr": 1e-6', '"optim": {"lr": 0.001'),
    ),
    "a copy with another rate": (
        'CFG = json.load(open("c.json"))\noptions = dict(CFG["other"], lr=1e-6)\n' + ADAM.format("options"),
        ("c.json", '{"other": {"lr": 3.0}}'), ("train.py", 'lr=1e-6)', 'lr=0.001)'),
    ),
    "JSON through a function": (
        MAKE + 'CFG = json.load(open("c.json"))\noptimizer = make(model.parameters(), **CFG["optim"])',
        ("c.json", JSON), ("c.json", '"optim": {"lr": 1e-6', '"optim": {"lr": 0.001'),
    ),
}  # fmt: skip
SILENT = {
    "two packed": ADAM.format("a, **b"),
    "from another program": "import settings\n" + ADAM.format("settings.load()"),
    "environment": "import os\n" + ADAM.format('json.loads(os.environ["OPTIM"])'),
    "positional": "options = model.parameters(), 1e-6\noptimizer = torch.optim.AdamW(*options)",
    "two calls that disagree": MAKE + "make(model.parameters(), lr=1e-6)\noptimizer = make(model.parameters(), lr=1.0)",
    "a copy of another program's": "import settings\noptions = dict(settings.load())\n" + ADAM.format("options"),
    "no rate in it": 'CFG = json.load(open("c.json"))\n' + ADAM.format('CFG["nothing"]'),
}  # fmt: skip
FACTS = {"lr": 1e-6, "optimizer": "AdamW"}


@pytest.mark.parametrize("what", RIGHT)
def test_a_packed_rate_is_changed_where_it_is_written(what: str) -> None:
    body, config, (path, old, new) = RIGHT[what]
    files = {"train.py": START + body + END, **dict([config] if config else [])}
    assert files[path].count(old) == 1
    found = edit(files, "train.py", "raise-learning-rate", ["lr=*1000"], facts=FACTS)
    assert isinstance(found, Patch), found
    assert found.after == {path: files[path].replace(old, new)}


@pytest.mark.parametrize("what", SILENT)
def test_a_packed_rate_that_cannot_be_seen_gives_no_wrong_number(what: str) -> None:
    files = {"train.py": START + SILENT[what] + END, "c.json": '{"optim": {"lr": 3.0}}'}
    found = edit(files, "train.py", "raise-learning-rate", ["lr=*1000"], facts=FACTS)
    assert isinstance(found, Advice)
    assert re.findall(r"\d[\d.e-]*", found.write) in ([], ["0.001"]), found  # 1000 times what was recorded


def test_a_packed_setting_is_not_added_a_second_time() -> None:
    files = {"train.py": START + SILENT["environment"] + END}
    found = edit(files, "train.py", "raise-weight-decay", ["weight_decay=0.3"], facts=FACTS)
    assert isinstance(found, Advice)
    assert "cannot tell" in found.why


LOOKED_UP = {
    "a dict of classes": (
        'CLASSES = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}\n\n'
        "def make(kind, parameters, **kwargs):\n    return CLASSES[kind](parameters, **kwargs)\n"
        'optimizer = make("adam", model.parameters(), lr=1e-6)', "return CLASSES", ("lr=1e-6)", "lr=0.001)"),
    ),
    "getattr": (
        'options = {"kind": "Adam", "lr": 1e-6}\n'
        'optimizer = getattr(torch.optim, options["kind"])(model.parameters(), lr=options["lr"])', "optimizer = getattr",
        ('"lr": 1e-6', '"lr": 0.001'),
    ),
    "a name for the class": (
        'kind = getattr(torch.optim, "Adam")\nRATE = 1e-6\noptimizer = kind(model.parameters(), lr=RATE)',
        "optimizer = kind", ("RATE = 1e-6", "RATE = 0.001"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LOOKED_UP)
def test_a_class_that_is_looked_up_by_name_is_found_where_it_was_recorded(what: str) -> None:
    body, at, (old, new) = LOOKED_UP[what]
    text = START + body + END
    line = next(number for number, line in enumerate(text.splitlines(), 1) if at in line)
    facts = {**FACTS, "optimizer": "Adam", "where/optimizer": f"train.py:{line}"}
    found = edit({"train.py": text}, "train.py", "raise-learning-rate", ["lr=*1000"], facts=facts)
    assert isinstance(found, Patch), found
    assert found.after == {"train.py": text.replace(old, new)}
    decay = edit({"train.py": text}, "train.py", "lower-weight-decay", ["weight_decay=0.0"], facts=facts)
    assert isinstance(decay, Advice)
    assert "looked up by name" in decay.why


def test_a_call_that_makes_something_else_is_no_optimizer() -> None:
    text = START + 'parts = {"a": dict}\nmade = parts["a"](lr=1e-6)' + END
    facts = {**FACTS, "where/optimizer": "train.py:99"}
    assert isinstance(
        edit({"train.py": text}, "train.py", "raise-learning-rate", ["lr=*1000"], facts=facts), Advice
    )


BASE = """\
import yaml, torch

class Base:
    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, data):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01, weight_decay=self.alpha)
        for x, y in data:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(x), y).backward()
            optimizer.step()

class Wide(Base):
    def __init__(self, alpha=1e-4):
        super().__init__(alpha=alpha)

KINDS = {"wide": Wide}
KINDS["wide"](**yaml.safe_load(open("c.yaml"))).fit(data)
"""


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("alpha: 1.0  # L2\n", True),
        ("alpha: 0.5\n", False),  # not what was recorded
        ("alpha: 1.0\nother:\n  alpha: 1.0\n", False),
        ("beta: 1.0\n", False),
    ],
)
def test_the_only_entry_of_that_name_and_value_is_the_setting_of_an_object_that_it_made(
    text: str, certain: bool
) -> None:
    pytest.importorskip("ruamel.yaml")
    files = {"t.py": BASE, "c.yaml": text}
    found = edit(files, "t.py", "lower-weight-decay", ("weight_decay=*0.01",), facts={"weight_decay": 1.0})
    assert isinstance(found, Patch) == certain, found
    if isinstance(found, Patch):
        assert found.after == {"c.yaml": "alpha: 0.01  # L2\n"}
