"""`traindx compare` as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.logs import healthy_log, sick_log
from tests.cli.process import traindx


@pytest.mark.parametrize(
    ("form", "begins"), [("text", "2 runs"), ("json", "{"), ("markdown", "#"), ("html", "<!doctype html>")]
)
def test_forms(tmp_path: Path, form: str, begins: str) -> None:
    done = traindx("compare", healthy_log(tmp_path), sick_log(tmp_path), "--format", form, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert done.out.lower().startswith(begins)


def test_the_better_run_is_named(tmp_path: Path) -> None:
    better = tmp_path / "a"
    worse = tmp_path / "b"
    healthy_log(better, "metrics.csv")
    log = healthy_log(worse, "metrics.csv")
    rows = log.read_text().splitlines()
    raised = [
        rows[0],
        *(
            f"{step},{float(train) * 1.5},{float(val) * 1.5}"
            for step, train, val in (r.split(",") for r in rows[1:])
        ),
    ]
    log.write_text("\n".join(raised) + "\n")
    document = json.loads(traindx("compare", "*/metrics.csv", "-f", "json", cwd=tmp_path).out)
    assert document["schema"] == "traindx.comparison/1"
    said = traindx("compare", "*/metrics.csv", cwd=tmp_path).out
    (line,) = (line for line in said.splitlines() if "is best on" in line)
    assert line.strip().startswith("a/metrics.csv is best on")
    assert "train/loss" in line
    assert "val/loss" in line


def test_one_run_is_not_a_comparison(tmp_path: Path) -> None:
    done = traindx("compare", healthy_log(tmp_path), cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "needs two runs" in done.err
    missing = traindx("compare", healthy_log(tmp_path), "absent", cwd=tmp_path)
    assert missing.status == 2
    assert "absent" in missing.err


def test_a_folder_with_several_runs(tmp_path: Path) -> None:
    healthy_log(tmp_path / "runs" / "one")
    sick_log(tmp_path / "runs" / "two")
    assert traindx("compare", "runs", cwd=tmp_path).status == 0
