"""Diffs that real tools apply, and patches written in place, with a backup next to them."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from traindx.errors import ConfigError
from traindx.lab.edits.files import diff, read_tree, write
from traindx.vocabulary.edit import Patch

BEFORE = {
    "train.py": "import torch\n\nlr = 0.1  # é\n"
    + "\n".join(f"x{i} = {i}" for i in range(30))
    + "\nend = 1",
    "conf/a b.yaml": "lr: 1\nwd: 2\n",
}
AFTER = {
    "train.py": BEFORE["train.py"]
    .replace("0.1", "0.01")
    .replace("x20 = 20", "x20 = 20\ny = 1")
    .replace("end = 1", "end = 2"),
    "conf/a b.yaml": "lr: 3\nwd: 2\n",
}
PATCH = Patch(before=BEFORE, after=AFTER)


def laid_out(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("tool", [["patch", "-p1", "-s", "-i"], ["git", "apply"]])
def test_a_diff_is_applied_by_the_tools_that_people_have(tool: list[str], tmp_path: Path) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not there")
    project = laid_out(tmp_path / "project", BEFORE)
    (tmp_path / "fix.patch").write_bytes(diff(PATCH).encode())
    subprocess.run([*tool, str(tmp_path / "fix.patch")], cwd=project, check=True)
    assert {path: (project / path).read_bytes().decode() for path in AFTER} == AFTER


def test_nothing_to_change_is_an_empty_diff() -> None:
    assert diff(Patch(before={}, after={})) == ""


def test_windows_line_ends_stay(tmp_path: Path) -> None:
    text = "a = 1\r\nb = 2\r\n"
    project = laid_out(tmp_path, {"t.py": text})
    assert read_tree(project) == {"t.py": text}
    write(project, Patch(before={"t.py": text}, after={"t.py": "a = 3\r\nb = 2\r\n"}))
    assert (project / "t.py").read_bytes() == b"a = 3\r\nb = 2\r\n"


def test_writing_keeps_a_backup_and_the_mode(tmp_path: Path) -> None:
    project = laid_out(tmp_path, BEFORE)
    (project / "train.py").chmod(0o750)
    backups = write(project, PATCH)
    assert backups == {"train.py": "train.py.orig", "conf/a b.yaml": "conf/a b.yaml.orig"}
    assert {path: (project / path).read_text(encoding="utf-8") for path in AFTER} == AFTER
    assert {path: (project / name).read_text(encoding="utf-8") for path, name in backups.items()} == BEFORE
    assert stat.S_IMODE((project / "train.py").stat().st_mode) == 0o750
    again = write(project, Patch(before=AFTER, after=BEFORE))
    assert again["train.py"] == "train.py.orig.2"


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    project = laid_out(tmp_path, {**BEFORE, "conf/a b.yaml": "mine: 1\n"})
    with pytest.raises(ConfigError, match="changed since"):
        write(project, PATCH)
    assert (project / "train.py").read_text(encoding="utf-8") == BEFORE["train.py"]
    assert list(project.glob("*.orig*")) == []


def test_what_a_person_did_not_write_is_left_out(tmp_path: Path) -> None:
    laid_out(tmp_path, {
        "a.py": "1\n", "b/c.toml": "x=1\n", ".git/d.py": "2\n", "env/pyvenv.cfg": "", "env/e.py": "3\n",
        "f.txt": "4\n", "g.json": "1" * (2 << 20), "node_modules/h.json": "{}",
    })  # fmt: skip
    (tmp_path / "i.py").write_bytes(b"# \xff latin\n")
    assert read_tree(tmp_path) == {"a.py": "1\n", "b/c.toml": "x=1\n"}
