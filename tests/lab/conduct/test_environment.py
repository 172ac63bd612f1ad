from __future__ import annotations

from pathlib import Path

import pytest

from traindx.lab.conduct import environment
from traindx.lab.conduct.environment import pins, read_pins, script_of

RUNNING = {"torch": "2.13.0+cpu", "numpy": "2.1.0"}
COMMAND = ["python", "train.py"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("import os, torch\nfrom numpy import zeros\nimport mine.own as m\n")
    return tmp_path


def test_no_file(folder: Path) -> None:
    assert pins(COMMAND, folder, RUNNING) == {"pins_file": "none"}


@pytest.mark.parametrize(
    ("text", "wrong", "missing"),
    [
        ("torch==2.13.0\nnumpy==2.1.0\n", "", ""),
        ("torch==2.13.*\nnumpy ==2.1.0 ; python_version > '3'\n", "", ""),
        ("torch==2.1.0\nnumpy==2.1.0\n", "torch 2.1.0 (2.13.0+cpu is running)", ""),
        ("torch>=2\n# numpy==1\n-r other.txt\n", "", "numpy, torch"),
        ("scikit_learn==1.5\nTorch==2.13.0\nnumpy[extra]==2.1.0", "", ""),
        ("", "", "numpy, torch"),
    ],
)
def test_requirements(folder: Path, text: str, wrong: str, missing: str) -> None:
    (folder / "requirements.txt").write_text(text)
    found = pins(COMMAND, folder, RUNNING)
    assert (found["pins_mismatched"], found["pins_missing"]) == (wrong, missing)


def test_a_lock_file_counts_before_everything_else(folder: Path) -> None:
    (folder / "requirements.txt").write_text("torch==1.0\n")
    lock = "".join(
        f'[[package]]\nname = "{n}"\nversion = "{v}"\n' for n, v in (("torch", "2.13.0"), ("numpy", "2.1.0"))
    )
    (folder / "uv.lock").write_text("version = 1\n" + lock)
    assert pins(COMMAND, folder, RUNNING) == {
        "pins_file": "uv.lock",
        "pins_mismatched": "",
        "pins_missing": "",
    }


def test_files_of_other_tools(tmp_path: Path) -> None:
    (tmp_path / "Pipfile.lock").write_text('{"default": {"torch": {"version": "==2.0"}}}')
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch==2.0", "numpy>1"]')
    (tmp_path / "environment.yml").write_text("name: x\ndependencies:\n  - torch=2.0\n  - numpy\n")
    assert dict(read_pins(tmp_path / "Pipfile.lock")) == {"torch": "2.0"}
    assert dict(read_pins(tmp_path / "pyproject.toml")) == {"torch": "2.0", "numpy": ""}
    assert dict(read_pins(tmp_path / "environment.yml"))["torch"] == "2.0"


@pytest.mark.parametrize("name", ["uv.lock", "Pipfile.lock", "pyproject.toml", "requirements.txt"])
@pytest.mark.parametrize(
    "text", ["\0\0\xff", "[[package]]\nname", "{", "[]", '{"default": 3}', "package = 3", "=" * 50_000]
)
def test_damaged_files_pin_nothing(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="latin-1")
    assert pins(COMMAND, folder, RUNNING)["pins_mismatched"] == ""


def test_the_script_of_a_command(folder: Path) -> None:
    (folder / "pack").mkdir()
    (folder / "pack" / "__main__.py").write_text("import torch")
    assert script_of(["torchrun", "--nproc", "2", "train.py", "x"], folder) == folder / "train.py"
    assert script_of(["python", "-m", "pack"], folder) == folder / "pack" / "__main__.py"
    assert script_of(["python", "-m", "absent"], folder) is None
    assert script_of(["echo"], folder) is None


def test_a_script_that_is_no_python_imports_nothing(folder: Path) -> None:
    (folder / "train.py").write_text("this is (not python")
    (folder / "requirements.txt").write_text("")
    assert pins(COMMAND, folder, RUNNING)["pins_missing"] == ""


def test_facts_of_the_machine(folder: Path) -> None:
    found = environment.facts(COMMAND, folder)
    assert found["checkpoints_seen"] == 0
    assert int(found["disk_free"]) > 0
    assert 1e8 < float(found["host_memory"]) < 1e14
    assert isinstance(found["accelerator_present"], bool)
