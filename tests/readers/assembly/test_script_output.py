"""What a recorded script printed is part of its run, however the run is read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.process import traindx
from tests.readers.writers.store import rows, write_setup, write_stream
from traindx import pipeline
from traindx.readers import read_path

EPOCHS = 8
ACCURACY = [round(0.5 + 0.05 * epoch, 2) for epoch in range(EPOCHS)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """40 recorded steps, and a line of the script for every fifth of them."""
    folder = tmp_path / "run"
    folder.mkdir()
    write_setup(folder)
    write_stream(folder, [rows(0, 40)])
    lines = [f"epoch {i + 1}: val_acc={a} train_loss={1 / (i + 1):.3f}" for i, a in enumerate(ACCURACY)]
    (folder / "stdout.log").write_text("\n".join(["reading data", *lines, "done", ""]))
    return folder


def test_printed_metrics_are_laid_over_the_recorded_steps(store: Path) -> None:
    (run,) = read_path(str(store))
    assert run.series["val/accuracy"].values.tolist() == ACCURACY
    np.testing.assert_allclose(run.series["val/accuracy"].steps, 39 / EPOCHS * np.arange(1, EPOCHS + 1))
    assert "stdout.log" in run.originals["val/accuracy"]
    assert len(run.series["train/loss"]) == 40  # the record is the better witness of what it has


def test_every_way_of_reading_gives_the_same(store: Path) -> None:
    """As a folder, within a folder of runs, and as `traindx run` does."""
    (alone,) = pipeline.read_all(store)
    for other in (pipeline.read_capture(store), pipeline.read_all(store.parent), (pipeline.read(store),)):
        assert [sorted(run.series) for run in other] == [sorted(alone.series)]
        assert other[0].series["val/accuracy"].values.tolist() == ACCURACY


def test_diagnose_sees_them(store: Path) -> None:
    (run,) = json.loads(traindx("diagnose", store, "-f", "json", cwd=store.parent).out)["runs"]
    (logged,) = (s for s in run["run"]["signals"] if s["name"] == "val/accuracy")
    assert logged["points"] == EPOCHS


def test_a_stream_alone_has_no_printed_words(store: Path) -> None:
    (run,) = read_path(str(next(store.glob("steps-*.arrows"))))
    assert "val/accuracy" not in run.series


@pytest.mark.parametrize(("every", "kept"), [(5, False), (1, True)])
def test_a_counter_of_epochs_is_no_step(store: Path, *, every: int, kept: bool) -> None:
    """ "[08/08]" is printed after step 39, so it counts epochs. Lines that number the steps stay where they are."""
    lines = [f"[{i + 1:02d}/40] loss=1.0 test_acc={0.5 + i / 100:.2f}" for i in range(0, 40 // every)]
    (store / "stdout.log").write_text("\n".join([*lines, ""]))
    (run,) = read_path(str(store))
    steps = run.series["val/accuracy"].steps
    expected = np.arange(1.0, 41) if kept else 39 / EPOCHS * np.arange(1, EPOCHS + 1)
    np.testing.assert_allclose(steps, expected)


def test_parts_of_the_loss_are_taken_and_other_numbers_are_not(store: Path) -> None:
    """A reconstruction next to a divergence shows whether latent variables are used; a temperature does not."""
    lines = [f"epoch {i + 1}: rec {30 - i}.0 kl {0.5 + i / 10} temp {i}" for i in range(EPOCHS)]
    (store / "stdout.log").write_text("\n".join([*lines, ""]))
    (run,) = read_path(str(store))
    assert run.series["rec"].values.tolist() == [30.0 - i for i in range(EPOCHS)]
    assert "temp" not in run.series


def test_a_printed_sum_is_kept_with_its_printed_terms(store: Path) -> None:
    """The recorded loss may be that of other batches than the printed terms."""
    lines = [f"epoch {i + 1}: train_loss={30 / i:.3f} kld={3 / i:.3f}" for i in range(1, EPOCHS + 1)]
    (store / "stdout.log").write_text("\n".join([*lines, ""]))
    (run,) = read_path(str(store))
    assert len(run.series["train/loss"]) == 40
    assert len(run.series["train/total_loss"]) == EPOCHS
