"""Trainings are recorded however the script comes to its framework."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.capture.launch.launching import PYTHON, launched

TRAINING = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    inputs = torch.randn(8, 4)
    loss = ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BEFORE = {
    "imported": "",
    # `import transformers`, `datasets` and `evaluate` ask so whether a framework is installed.
    "asked for": "import importlib.util\nassert importlib.util.find_spec('torch') is not None",
    "asked for twice": "import importlib.util as u\nassert u.find_spec('torch') and u.find_spec('torch')",
    "loaded by its specification": """
import importlib.util, sys
spec = importlib.util.find_spec("torch")
sys.modules["torch"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["torch"])
assert "exec_module" not in vars(spec.loader)
""",
    "loaded lazily": """
import importlib.util, sys
spec = importlib.util.find_spec("torch")
spec.loader = loader = importlib.util.LazyLoader(spec.loader)
sys.modules["torch"] = importlib.util.module_from_spec(spec)
loader.exec_module(sys.modules["torch"])
""",
    "in another folder": "import os\nos.makedirs('outputs/run-1')\nos.chdir('outputs/run-1')",  # as Hydra does
}


@pytest.mark.parametrize("way", BEFORE)
def test_a_training_is_recorded(way: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BEFORE[way] + TRAINING)
    done = launched("", tmp_path, command=[PYTHON, "train.py"])
    assert done.status == 0, done.err
    assert len(done.run().series["train/loss"]) == 12


def test_a_training_without_the_scripts_folder_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    done = launched("", tmp_path, command=[PYTHON, "-P", "train.py"])
    assert len(done.run().series["train/loss"]) == 12


def test_an_archive_of_modules_is_imported_as_before(tmp_path: Path) -> None:
    """One loader serves all modules of an archive, one of which is waited for."""
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("xgboost.py", "import helper\nNAME = 'archived'")
        archive.writestr("helper.py", "NAME = 'helps'")
    imports = "import sys\nsys.path.insert(0, 'modules.zip')\nimport xgboost, helper\n"
    (tmp_path / "train.py").write_text(f"{imports}print(xgboost.NAME, helper.NAME)\n{TRAINING}")
    done = launched("", tmp_path, command=[PYTHON, "train.py"])
    assert done.out.splitlines()[:1] == [b"archived helps"]
    assert len(done.run().series["train/loss"]) == 12
