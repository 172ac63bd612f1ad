"""Runs on which the rules about several processes must not judge."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.samples import (
    batch_grows_with_ranks,
    gradients_are_not_averaged,
    rank_stops_reporting,
    rank_straggles,
    ranks_disagree,
)
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.dst import (
    batch_grows_with_ranks as grows,
    gradients_are_not_averaged as averaged,
    rank_stops_reporting as stops,
    rank_straggles as straggles,
    ranks_disagree as disagree,
)
from traindx.vocabulary.rule import Rule
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

RULES = (straggles.rank_straggles, disagree.ranks_disagree, stops.rank_stops_reporting)


def said(rule: Rule, run: Run) -> tuple[str, str]:
    outcome = judge_one(rule, run, Features(run), {})
    return outcome.status, outcome.reason


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.slug)
def test_one_process_is_not_judged(rule: Rule) -> None:
    run = make.run(
        {"train/loss": make.healthy_loss(50), "time/step": np.full(50, 0.1), "grad_norm": np.ones(50)}
    )
    assert said(rule, run) == ("not-evaluated", "needs rank/*, which was not recorded")


def test_parts_of_one_model_differ_as_they_should() -> None:
    norms = {"grad_norm": ranks_disagree.norms(1), "rank/1/grad_norm": ranks_disagree.norms(2)}
    own = ranks_disagree.losses()
    sharded = make.run({**own, **norms}, setup=Setup().with_facts({"grad_norm_processes": 2}, "capture"))
    wrapped = make.run({**own, **norms}, setup=Setup().with_facts({"wrapper": "fully_shard"}, "capture"))
    together = make.run({**norms, "train/loss": own["train/loss"], "rank/1/train/loss": own["train/loss"]})
    for run in (sharded, wrapped, together):
        assert said(disagree.ranks_disagree, run) == (
            "not-evaluated",
            "the processes hold parts of one model",
        )


def test_sums_are_not_judged_where_a_mean_is_not_known_to_be_meant() -> None:
    summed = gradients_are_not_averaged.averaged_run(2, 2.0, loss_reduction_seen="sum")
    scaled = gradients_are_not_averaged.averaged_run(2, 2.0, clip_value=1.0)
    unknown = gradients_are_not_averaged.averaged_run(2, 2.0, loss_reduction_seen="")
    few = gradients_are_not_averaged.averaged_run(2, 2.0, world_size=4)
    for run in (summed, scaled, unknown, few):
        assert said(averaged.gradients_are_not_averaged, run)[0] == "not-evaluated"


def test_the_batch_of_all_needs_all_processes_and_their_own_samples() -> None:
    for run in (batch_grows_with_ranks.parallel(2, "SGD", wrapper=""),
                batch_grows_with_ranks.parallel(2, "SGD", world_size=4.0)):  # fmt: skip
        assert said(grows.batch_grows_with_ranks, run)[0] == "not-evaluated"


def test_rates_go_with_the_batch_or_its_root() -> None:
    for optimizer, scale in (("SGD", 4.0), ("AdamW", 2.0)):
        run = batch_grows_with_ranks.parallel(4, optimizer)
        (seen,) = judge_one(grows.batch_grows_with_ranks, run, Features(run), {}).evidence
        assert (seen.values["whole"], seen.values["scale"]) == (128, scale)


def test_times_of_ranks_that_count_other_steps_are_not_compared() -> None:
    run = ranks_disagree.timed(100, every=3.0)
    assert said(straggles.rank_straggles, run) == ("not-evaluated", "the ranks count different steps")
    assert said(stops.rank_stops_reporting, run)[0] == "clear"
    assert said(disagree.ranks_disagree, run)[0] == "fired"


def test_the_right_rank_is_named() -> None:
    found: dict[str, str | None] = {}
    for name, run in {**rank_straggles.fires(), **rank_stops_reporting.fires()}.items():
        for rule in (straggles.rank_straggles, stops.rank_stops_reporting):
            for evidence in judge_one(rule, run, Features(run), {}).evidence:
                found[name] = evidence.where
    assert found == {
        "one of two": "rank 1",
        "the first of four": "rank 0",
        "from the middle on": "rank 1",
        "its data": "rank 1",
        "steps that are logged without the waiting": "rank 1",
        "a few milliseconds": "rank 1",
        "in the middle": "rank 1",
        "the first": "rank 0",
        "near the end": "rank 3",
        "at a third of the time": "rank 1",
        "every fourth step": "rank 1",
    }
