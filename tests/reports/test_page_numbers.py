"""Every number that a page calls the log's own is in the log, on the pages of all committed logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.page_numbers import Claim, claims, holds, two_ends, two_numbers, violations, wrong_numbers
from tests import make
from traindx import pipeline
from traindx.rules.findings import as_logged
from traindx.vocabulary.diagnosis import EvidencePoint
from traindx.vocabulary.run import Run

LOGS = Path(__file__).parents[1] / "logs"
SAMPLES = sorted(
    p for kind in ("text", "csv", "jsonl") for p in (LOGS / kind).glob("*") if p.suffix != ".json"
)
LOSSES = [2.0, 1.5, 1.2, 1.0, 0.9, 0.85, 0.8, 0.75, 0.72, 0.7, 0.71, 0.69]


def falling() -> Run:
    return make.run({"train/loss": LOSSES, "val/loss": [v + 0.1 for v in LOSSES]})


def test_no_page_of_a_log_has_a_number_of_its_own() -> None:
    assert len(SAMPLES) > 5
    answers = [violations(place) for place in SAMPLES]
    assert sum(pages for pages, _ in answers) > 20
    assert not [words for _, wrong in answers for words in wrong]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("train/loss is 0.69 now.", "train/loss is 0.71 now."),
        (
            "train/loss fell from 2 (step 0) to 0.69 (step 11).",
            "train/loss fell from 2 (step 0) to 0.7 (step 11).",
        ),
        ("val/loss was lowest at step 11 (0.79).", "val/loss was lowest at step 11 (0.81)."),
        ("train/loss jumped from 0.7 to 0.71 at step 10", "train/loss jumped from 0.7 to 0.72 at step 10"),
        ("train/loss ends near 0.7055 (median)", "train/loss ends at 0.7055"),
    ],
)
def test_a_number_that_is_not_in_the_log_is_seen(right: str, wrong: str) -> None:
    run = falling()
    diagnosis = pipeline.diagnose(run).first
    assert not list(wrong_numbers(right, diagnosis, run))
    assert list(wrong_numbers(wrong, diagnosis, run))


def test_one_fact_has_one_number() -> None:
    run = falling()
    assert not list(two_numbers({"text": "train/loss is 0.69 now.", "HTML": "train/loss is 0.69 now."}, run))
    assert list(two_numbers({"text": "train/loss is 0.69 now.", "HTML": "train/loss is 0.7 now."}, run))
    assert not list(two_ends("train/loss is 0.69 now.\nIt went to 0.69 (median at the end).", run, "text"))
    both = "train/loss is 0.69 now. train/loss went from 2 to 0.7 (median at the end)."
    assert list(two_ends(both, run, "text"))


def test_what_is_counted_is_no_claim() -> None:
    assert not list(claims("train/loss rose in 3 of 40 epochs, by 12 %", falling()))
    assert holds(Claim("train/loss", "last", 0.69, None), falling().series["train/loss"])


def test_evidence_that_is_not_in_the_log_is_called_smoothed() -> None:
    run = falling()
    logged, median = (
        EvidencePoint("train/loss", 11.0, value) for value in (0.69, float(np.median(LOSSES[-3:])))
    )
    assert as_logged(logged, run) == logged
    assert as_logged(median, run).unit == "(smoothed)"
    share = EvidencePoint("train/loss", 11.0, 0.3, unit="share of the variance")
    assert as_logged(share, run) == share
