"""What a log alone says, and where it says nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.causes.made import fired, plain_run
from traindx import pipeline
from traindx.causes import two_likeliest_faults
from traindx.causes.ranking.probabilities import LITTLE, LOG, evidence_share, log_terms
from traindx.causes.ranking.signs import signs_of
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.run import Panel
from traindx.vocabulary.setup import Setup


def hypotheses(*probabilities: float) -> tuple[Hypothesis, ...]:
    names = ("healthy", "learning-rate-too-high", "corrupt-samples", "label-noise")
    return tuple(
        Hypothesis(cause=c, title=c, probability=p) for c, p in zip(names, probabilities, strict=False)
    )


def test_a_log_that_shows_no_cause_names_the_two_that_are_left() -> None:
    assert [h.cause for h in two_likeliest_faults(hypotheses(0.2, 0.1, 0.25, 0.05))] == [
        "corrupt-samples",
        "learning-rate-too-high",
    ]


@pytest.mark.parametrize("probabilities", [(0.6, 0.1, 0.1), (0.1, 0.45, 0.2), ()])
def test_a_log_that_shows_a_cause_or_health_is_decided(probabilities: tuple[float, ...]) -> None:
    assert two_likeliest_faults(hypotheses(*probabilities)) == ()


def test_recordings_keep_their_weights() -> None:
    signs = signs_of((fired("validation-gap-grows"),), {})
    log = plain_run()
    recorded = make.run(
        {"train/loss": np.ones(9)}, panels={"grad_norm": Panel(np.arange(9.0), ("a",), np.ones((9, 1)))}
    )
    assert log_terms(signs, log)["healthy"]["validation-gap-grows"] < 0
    assert log_terms(signs, recorded) == {}
    assert evidence_share(signs, recorded, Features(recorded)) == 1.0
    assert evidence_share(signs, log, Features(log)) == LOG


def test_facts_of_the_setup_alone_name_no_cause() -> None:
    run = make.run({"lr": np.full(30, 0.1)}, setup=Setup(parameters=10**9, dataset_size=100))
    assert evidence_share(signs_of((), {}), run, Features(run)) == LITTLE
    assert pipeline.diagnose(run).first.hypotheses[0].cause == "healthy"
