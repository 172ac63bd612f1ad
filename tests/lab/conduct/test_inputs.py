"""What the starts of a script depend on: what makes earlier ones worthless, and what does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.lab.conduct.inputs import inputs
from traindx.lab.conduct.journal import sentence

COMMAND = [sys.executable, "train.py"]


def changed(
    folder: Path, change: Callable[[], object], command: list[str] = COMMAND, extra: tuple[str, ...] = ()
) -> str:
    before = inputs(command, folder, extra)
    change()
    return sentence(before, inputs(command, folder, extra)).removesuffix(" changed since")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    (folder / "data").mkdir(parents=True)
    (folder / "train.py").write_text(
        "import os, json\nrate = os.environ.get('RATE')\nopen('../shared/x.bin')\n"
    )
    (folder / "cfg.json").write_text('{"lr": 50}')
    (folder / "data" / "x.npy").write_bytes(b"0" * 100)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "x.bin").write_bytes(b"1")
    return folder


def test_sources_and_configurations_count_by_content(here: Path) -> None:
    assert changed(here, lambda: (here / "cfg.json").write_text('{"lr": 0.1}')) == "cfg.json"
    assert changed(here, lambda: os.utime(here / "cfg.json", (1, 1))) == ""
    assert changed(here, lambda: (here / "train.py").write_text("pass")).split(", ")[0] == "train.py"
    assert changed(here, lambda: (here / "cfg.json").unlink()) == "cfg.json"


def test_data_counts_by_size_and_time_wherever_it_is(here: Path) -> None:
    assert changed(here, lambda: os.utime(here / "data" / "x.npy", (1, 1))) == "data/x.npy"
    assert changed(here, lambda: (here / "last.pt").write_bytes(b"")) == "last.pt"
    outside = here.parent / "shared" / "x.bin"
    assert changed(here, lambda: outside.write_bytes(b"22")) == str(outside)
    named = here.parent / "other.csv"
    named.write_text("a")
    assert changed(here, lambda: os.utime(named, (1, 1)), [*COMMAND, f"--data={named}"]) == str(named)
    (here / "linked.csv").symlink_to(named)
    assert "linked.csv" in changed(here, lambda: os.utime(named, (2, 2)))


def test_variables_that_the_project_or_a_library_reads_count(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed(here, lambda: monkeypatch.setenv("RATE", "1")) == "the variable RATE"
    assert changed(here, lambda: monkeypatch.setenv("RATE", "2")) == "the variable RATE"
    assert (
        changed(here, lambda: monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7"))
        == "the variable CUDA_VISIBLE_DEVICES"
    )
    assert changed(here, lambda: monkeypatch.setenv("SSH_TTY", "/dev/pts/77")) == ""
    monkeypatch.setenv("RATE", "a secret")
    assert "a secret" not in str(inputs(COMMAND, here))


def test_versions_of_packages_count(here: Path, tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    (tmp_path / "env" / "bin").mkdir(parents=True)
    shutil.copy(shutil.which("true") or "", tmp_path / "env" / "bin" / "python")
    (site / "torch-2.12.0.dist-info").mkdir(parents=True)
    command = [str(tmp_path / "env" / "bin" / "python"), "train.py"]
    upgrade = lambda: (site / "torch-2.12.0.dist-info").rename(site / "torch-2.13.0.dist-info")  # noqa: E731
    assert changed(here, upgrade, command) == "the package torch"


def test_what_traindx_and_others_write_meanwhile_does_not_count(here: Path) -> None:
    def write() -> None:
        for name in ("traindx-fix/a/fix.json", "proof/trials.jsonl", "train.log", "wandb/run/x.json", "__pycache__/x",
                     "tb/events.out.tfevents.1", "traindx-runs/train-1/setup.json"):  # fmt: skip
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_text("new")

    assert changed(here, write, extra=("proof",)) == ""


def test_a_file_that_the_process_prints_into_does_not_count(here: Path) -> None:
    code = "import pathlib, traindx.lab.conduct.inputs as of; print(of.inputs(['sh'], pathlib.Path('.'))['printed.txt'])"
    with open(here / "printed.txt", "w") as file:
        subprocess.run([sys.executable, "-c", code], cwd=here, stdout=file, check=True)
    assert (here / "printed.txt").read_text() == "\n"
    assert sentence({"printed.txt": ""}, inputs(["sh"], here)).find("printed.txt") == -1
