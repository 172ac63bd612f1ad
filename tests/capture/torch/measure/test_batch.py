"""Which samples of a batch are the same: by all of its tensors."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from traindx.capture.torch.measure.batches.answers import batch_statistics as recorded  # noqa: E402 - needs torch


def overlap(train: object, held: object) -> object:
    data = recorded(patient=True)
    data.look(train, None, True, True)
    data.look(held, None, False, True)
    return data.facts()["train_val_overlap_share"]


def test_a_pair_is_known_when_both_parts_are() -> None:
    """Users and items: each user and each item was seen in training, a quarter of the pairs were."""
    user, item = torch.arange(64) % 8, torch.arange(64) // 8
    held = torch.where(torch.arange(64) % 4 == 1, item, item + 100)
    assert overlap((user, item), (user, held)) == 0.25
    assert overlap({"user": user, "item": item}, {"user": user, "item": held}) == 0.25


def test_a_tensor_that_is_not_by_sample_does_not_count() -> None:
    rows = torch.randn(64, 5, generator=torch.Generator().manual_seed(0))
    held = rows + (torch.arange(64) % 2).float()[:, None]
    assert overlap((rows, torch.ones(3)), (held, torch.zeros(3))) == 0.5
    assert overlap(rows, held) == 0.5


def test_pairs_are_no_copies_of_each_other() -> None:
    data = recorded(patient=True)
    data.look((torch.arange(64) % 8, torch.arange(64) // 8), None, True, True)
    assert data.facts()["batch_duplicate_samples_share"] == 0
    assert data.facts()["train_samples_hashed"] == 64


def test_training_data_that_are_evaluated_next_to_others_are_no_overlap() -> None:
    """Two passes follow each other, neither of a known data set, and their sizes are no multiples of anything."""
    train, held = torch.randn(443, 5, generator=torch.Generator().manual_seed(0)).split([341, 102])
    data = recorded(patient=True)
    for _ in range(3):
        data.look(train, None, True, True)
        data.look(train, None, False, True)
        data.look(held, None, False, True)
    assert data.facts()["train_val_overlap_share"] == 0
    leaked = torch.cat([held[:60], train[:42]])[
        torch.randperm(102, generator=torch.Generator().manual_seed(1))
    ]
    data.look(leaked, None, False, True)
    assert 0.2 < float(data.facts()["train_val_overlap_share"]) < 0.5
