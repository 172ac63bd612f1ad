"""Samples of feature-predicts-target."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "made from the answer": surveyed(
            feature_skill_best=0.998,
            feature_skill_next=0.4,
            feature_skill_best_name="outcome code",
            feature_skill_where="outcome code",
        ),
        "several": surveyed(feature_skill_best=1.0, feature_skill_next=1.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "petals": surveyed(
            feature_skill_best=0.94, feature_skill_next=0.93, feature_skill_best_name="petal width"
        ),
        "nothing predicts it": surveyed(feature_skill_best=0.0, feature_skill_next=0.0),
    }
