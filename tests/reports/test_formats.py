"""Every form that `--format` accepts is written, or refused with a sentence that says which forms there are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.logs import healthy_log
from tests.cli.process import traindx
from traindx.cli.options import FORMATS


@pytest.mark.parametrize("form", FORMATS)
def test_a_diagnosis_is_written_in_every_form(tmp_path: Path, form: str) -> None:
    log = healthy_log(tmp_path)
    done = traindx("diagnose", log, "--format", form, cwd=tmp_path)
    add = f'add "{form}" to the documents of `render_diagnosis` in traindx/cli/diagnosis_output.py'
    assert "has no such form" not in done.err, add
    assert done.status in (0, 1)
    assert done.out.strip()


@pytest.mark.parametrize("form", FORMATS)
def test_a_comparison_is_written_or_refused(tmp_path: Path, form: str) -> None:
    log = healthy_log(tmp_path)
    other = shutil.copy(tmp_path / log, tmp_path / "other.csv")
    done = traindx("compare", log, str(other), "--format", form, cwd=tmp_path)
    if done.status == 2:
        assert f"--format {form}: this document has no such form; it has text, json" in done.err
    else:
        assert done.out.strip()
