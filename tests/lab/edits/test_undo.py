"""A written fix is taken back whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.lab.edits.test_files import AFTER, BEFORE, PATCH, laid_out
from traindx.errors import ConfigError
from traindx.lab.edits.files import write
from traindx.lab.edits.undo import RECORD, remember, undo
from traindx.vocabulary.edit import Patch


def written(folder: Path, patch: Patch = PATCH) -> Path:
    remember(folder, patch, write(folder, patch))
    return folder


def texts(project: Path) -> dict[str, str]:
    return {path: (project / path).read_bytes().decode() for path in BEFORE}


def test_two_fixes_are_taken_back_one_after_the_other(tmp_path: Path) -> None:
    project = laid_out(tmp_path, BEFORE)
    (project / "train.py").chmod(0o750)
    written(project)
    written(project, Patch(before={"train.py": AFTER["train.py"]}, after={"train.py": "third"}))
    assert undo(project) == ["train.py"]
    assert texts(project) == AFTER
    assert sorted(undo(project)) == sorted(BEFORE)
    assert texts(project) == BEFORE
    assert (project / "train.py").stat().st_mode & 0o777 == 0o750
    assert not list(project.rglob("*.orig*"))
    with pytest.raises(ConfigError, match="nothing to undo"):
        undo(project)


@pytest.mark.parametrize(("file", "text", "why"), [
    ("train.py", "mine", "train.py was changed since"),
    ("conf/a b.yaml", "mine", "changed since"),
    ("train.py.orig", "mine", "no longer the original"),
    ("train.py.orig", None, "no longer the original"),
    (str(RECORD), "{", "cannot be read"),
    (str(RECORD), '[{"../x": {"original": "a", "edited": "b", "backup": "c"}}]', "outside"),
])  # fmt: skip
def test_what_is_newer_stays_with_everything_else(
    tmp_path: Path, file: str, text: str | None, why: str
) -> None:
    project = written(laid_out(tmp_path, BEFORE))
    (project / file).unlink() if text is None else (project / file).write_text(text)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match=why):
        undo(project)
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


def test_a_link_stays_one(tmp_path: Path) -> None:
    laid_out(tmp_path / "real", {"train.py": "a = 1\n"})
    project = tmp_path / "project"
    project.mkdir()
    os.symlink(tmp_path / "real" / "train.py", project / "train.py")
    written(project, Patch(before={"train.py": "a = 1\n"}, after={"train.py": "a = 2\n"}))
    assert (tmp_path / "real" / "train.py").read_text() == "a = 2\n"
    undo(project)
    assert (project / "train.py").is_symlink()
    assert (tmp_path / "real" / "train.py").read_text() == "a = 1\n"
