"""Samples of labels-ill-formed."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "one class": surveyed(classes_seen=1, label_min=0, label_max=0, label_gaps=0),
        "padding without ignore_index": surveyed(
            classes_seen=22, label_min=0, label_gaps=0, padding_share=0.6
        ),
        "one value": surveyed(targets_distinct=1),
        "twins": surveyed(classes_seen=3, label_twins=1, label_twins_where="'yes' / 'Yes'"),
        "validation has a class of its own": surveyed(
            classes_seen=3, label_unseen_classes=1, label_unseen_where="cat"
        ),
        "from one": surveyed(classes_seen=10, label_min=1, label_max=10, label_gaps=0),
        "from one, without an output for the last": surveyed(
            classes_seen=10, label_min=1, label_max=10, label_gaps=0, classes=10
        ),
        "negative": surveyed(classes_seen=2, label_min=-1, label_max=1, label_gaps=1),
        "a gap": surveyed(classes_seen=4, label_min=0, label_max=4, label_gaps=1),
        "single samples": surveyed(classes_seen=40, label_single_samples=6),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a little padding": surveyed(classes_seen=22, label_min=0, label_gaps=0, padding_share=0.1),
        "numbers from zero": surveyed(
            classes_seen=10, label_min=0, label_max=9, label_gaps=0, label_single_samples=0
        ),
        "tokens from one, as zero is padding": surveyed(
            classes_seen=9, label_min=1, label_max=9, label_gaps=0, classes=10
        ),
        "words": surveyed(classes_seen=2, label_twins=0, label_unseen_classes=0),
        "first batches of sorted data": surveyed(classes_seen=1, label_min=0, label_max=0, batches_seen=20),
        "tokens, some left out": surveyed(
            classes_seen=32, label_min=-100, label_max=31, label_negative_share=0.06
        ),
        "a quantity": surveyed(targets_distinct=214),
    }
