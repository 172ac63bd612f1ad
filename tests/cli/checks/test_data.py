"""`traindx check --data` as users call it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.process import traindx
from tests.survey.made import sound, write_csv
from tests.survey.test_files import folder

PLAIN = ("--skip", "label-noise")  # fitting models takes seconds, and has its own tests


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.csv and val.csv without a fault; leaky.csv, which shares rows with val.csv and gives the label away."""
    place = tmp_path_factory.mktemp("data")
    training, fresh = sound(600), sound(300, seed=5)
    write_csv(place / "train.csv", training)
    write_csv(place / "val.csv", fresh)
    both = {k: np.concatenate([v, fresh[k][:90]]) for k, v in training.items()}
    write_csv(place / "leaky.csv", {"code": both["label"] * 2, **both})
    write_csv(place / "leaky-val.csv", {"code": fresh["label"] * 2, **fresh})
    return place


def test_sound_data_pass(files: Path) -> None:
    done = traindx(
        "check", "--data", "train.csv", "--target", "label", "--validation", "val.csv", *PLAIN, cwd=files
    )
    assert done.status == 0, done.out
    assert "0 failed" in done.out
    assert "600" in done.out


def test_faults_fail_with_the_rows_behind_them(files: Path, tmp_path: Path) -> None:
    done = traindx(
        "check", "--data", "leaky.csv", "--target", "label", "--validation", "leaky-val.csv", *PLAIN,
        "-f", "json", "--rows", tmp_path / "rows.csv", cwd=files,
    )  # fmt: skip
    assert done.status == 1
    checks = {c["slug"]: c for c in json.loads(done.out)["checks"]}
    assert {s for s, c in checks.items() if c["status"] == "failed"} == {"leakage", "overlap"}
    assert "code alone predicts the target" in checks["leakage"]["message"]
    rows = list(csv.DictReader((tmp_path / "rows.csv").open()))
    assert [r["row"] for r in rows if r["rule"] == "train-and-validation-overlap"] == [
        str(i) for i in range(90)
    ]


def test_a_folder(tmp_path: Path) -> None:
    train = folder(tmp_path / "train")
    assert traindx("check", "--data", "train", cwd=tmp_path).status == 0
    (train / "cats" / "00.png").write_bytes(b"")
    done = traindx("check", "--data", "train", cwd=tmp_path)
    assert done.status == 1
    assert "cats/00.png (is empty)" in done.out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--data", "train.csv", "--target", "labl"), "did you mean 'label'"),
        (("--data", "not-there.csv"), "No such file"),
        (("--data", "train.csv", "--", "python", "x.py"), "leave out the command"),
        (("--target", "label", "--", "python", "x.py"), "--target needs --data"),
        (("--data", "train.csv", "--only", "leekage"), "did you mean 'leakage'"),
        (("--data", "train.csv", "--rows", "no/such/folder.csv", *PLAIN), "--rows no/such/folder.csv"),
    ],
)
def test_what_makes_no_sense_is_one_line(arguments: tuple[str, ...], word: str, files: Path) -> None:
    done = traindx("check", *arguments, cwd=files)
    assert done.status == 2
    assert word in done.err


def test_only_some_checks_and_their_list(files: Path) -> None:
    done = traindx("check", "--data", "train.csv", "--only", "missing,duplicates", "-f", "json", cwd=files)
    assert [c["slug"] for c in json.loads(done.out)["checks"]] == ["missing", "duplicates"]
    listed = traindx("check", "--data", "train.csv", "--list", cwd=files)
    assert "label-noise" in listed.out


def test_nothing_is_written_next_to_the_data(files: Path) -> None:
    before = {p: p.read_bytes() for p in files.iterdir()}
    traindx("check", "--data", "train.csv", "--target", "label", *PLAIN, cwd=files)
    assert {p: p.read_bytes() for p in files.iterdir()} == before
