"""Samples of loss-sums-over-batch."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a sum over 64": with_facts("rate_10", loss_batch_growth=2.0),
        "a sum by its graph": with_facts("rate_10", loss_reduction_seen="sum"),
        "that learns all the same": with_facts("healthy", loss_batch_growth=2.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a mean": with_facts("healthy", loss_batch_growth=1.0),
        "a mean by its graph": with_facts("healthy", loss_reduction_seen="mean"),
        "a mean and a penalty of the weights": with_facts("healthy", loss_batch_growth=1.02),
    }
