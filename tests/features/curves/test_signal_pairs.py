"""Which training curve is compared with which held-out one."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.curves import signal_pairs as p
from traindx.features.shared import Features
from traindx.vocabulary.setup import Fact, Setup


def features(**signals: object) -> Features:
    return Features(make.run({k.replace("__", "/"): v for k, v in signals.items()}))


def test_the_loss_comes_first_and_metrics_match() -> None:
    f = features(
        train__loss=np.ones(9), val__loss=np.ones(9), train__accuracy=np.ones(9), val__accuracy=np.ones(9)
    )
    assert [(a.train.name, a.val.name, a.same) for a in p.pairs(f, min_points=4)] == [
        ("train/loss", "val/loss", True),
        ("train/accuracy", "val/accuracy", True),
    ]


def test_without_a_shared_metric_the_training_loss_is_used() -> None:
    f = features(train__loss=np.ones(9), val__accuracy=np.ones(9), val__unknown=np.ones(9))
    assert [(a.train.name, a.val.name, a.same) for a in p.pairs(f, min_points=4)] == [
        ("train/loss", "val/accuracy", False)
    ]


@pytest.mark.parametrize("facts", [{"loss_weighted": True}, {"sampler": "WeightedRandomSampler weighted"}])
def test_accuracy_is_not_compared_with_a_loss_that_favours_rare_classes(facts: dict[str, Fact]) -> None:
    """It falls while the model learns to find them. Other scores are compared, and accuracy with accuracy."""
    falls = np.linspace(0.97, 0.86, 9)
    signals = {"train/loss": np.ones(9), "val/accuracy": falls, "val/f1": np.ones(9)}
    weighted = Features(make.run(signals, setup=Setup(facts=facts)))
    assert [a.val.name for a in p.pairs(weighted, min_points=4)] == ["val/f1"]
    assert len(p.pairs(Features(make.run(signals)), min_points=4)) == 2
    both = Features(make.run({**signals, "train/accuracy": falls}, setup=Setup(facts=facts)))
    assert [a.val.name for a in p.pairs(both, min_points=4)] == ["val/accuracy"]


def test_short_curves_are_left_out() -> None:
    assert p.pairs(features(train__loss=np.ones(9), val__loss=np.ones(3)), min_points=4) == []


def test_training_is_read_at_the_held_out_steps() -> None:
    line = np.linspace(2.0, 1.0, 1001)
    pair = p.pairs(
        features(train__loss=line, val__loss=(np.arange(100, 1000, 100), np.ones(9))), min_points=4
    )[0]
    np.testing.assert_allclose(pair.train_at_val(), line[100:1000:100], atol=1e-3)


def test_equal_steps_are_read_as_they_are() -> None:
    noisy = make.healthy_loss(30)
    pair = p.pairs(features(train__loss=noisy, val__loss=noisy + 1), min_points=4)[0]
    np.testing.assert_array_equal(pair.train_at_val(), noisy)


def test_the_score_is_an_accuracy_where_there_is_one() -> None:
    f = features(
        val__loss=np.ones(9), val__f1=np.ones(9), val__accuracy=np.ones(5), val__perplexity=np.ones(9)
    )
    score = p.score(f, "val/")
    assert score is not None
    assert score.name == "val/accuracy"
    assert p.score(f, "train/") is None


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("accuracy", [0.1, 0.9], [0.1, 0.9]),
        ("accuracy", [10.0, 90.0], [0.1, 0.9]),
        ("error", [0.9, 0.1], [0.1, 0.9]),
        ("acc1", [10.0, 90.0], [0.1, 0.9]),
        ("accuracy", [-3.0, 90.0], None),
        ("f1", [0.1, 0.9], None),
    ],
)
def test_accuracy_is_a_share(name: str, values: list[float], expected: list[float] | None) -> None:
    found = p.accuracy(features(**{"val__" + name: values}), "val/")
    if expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected)
