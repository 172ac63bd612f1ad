"""Interventions on losses, targets and labels, against the same script changed by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset  # noqa: E402

from tests.capture.interventions.altering import run, same  # noqa: E402
from tests.capture.interventions.small import (  # noqa: E402
    STYLES,
    R,
    X,
    Y,
    by_hand,
    entropy,
    epochs,
    perceptron,
    squares,
)
from traindx.capture.torch.alter.inputs import Moments  # noqa: E402

POSITIVE = (X[:, :1] > 0.8).float()


def ending(*layers: nn.Module, outputs: int = 2):
    return lambda: nn.Sequential(perceptron(outputs=outputs)(), *layers)


def result(ran: Any, *keys: str) -> list[Any]:
    return [ran[key] for key in keys or ("losses", "validation", "weights", "random")]


def test_logits_instead_of_probabilities_are_the_same_as_written() -> None:
    nll = lambda found, y: F.nll_loss(found, y)  # noqa: E731
    nll_written = lambda found, y: F.nll_loss(F.log_softmax(found, 1), y)  # noqa: E731
    binary = lambda found, y: F.binary_cross_entropy(found, y)  # noqa: E731
    scores = lambda found, y: F.binary_cross_entropy_with_logits(found, y)  # noqa: E731
    flat = lambda found, y: F.binary_cross_entropy(found.squeeze(1), y[:, 0])  # noqa: E731
    flat_scores = lambda found, y: F.binary_cross_entropy_with_logits(found.squeeze(1), y[:, 0])  # noqa: E731
    outside = lambda found, y: F.cross_entropy(torch.softmax(found, dim=1), y)  # noqa: E731
    method = lambda found, y: F.cross_entropy(found.softmax(-1), y)  # noqa: E731
    cases = (
        (ending(nn.Softmax(1)), entropy, Y, ending(), entropy),
        (ending(nn.Sigmoid()), entropy, Y, ending(), entropy),
        (ending(), outside, Y, ending(), entropy),
        (ending(), method, Y, ending(), entropy),
        (ending(nn.Softmax(1)), nll, Y, ending(), nll_written),
        (ending(nn.Sigmoid(), outputs=1), binary, POSITIVE, ending(outputs=1), scores),
        (ending(nn.Sigmoid(), outputs=1), scores, POSITIVE, ending(outputs=1), scores),
        (ending(nn.Softmax(1), outputs=1), binary, POSITIVE, ending(outputs=1), scores),
        (ending(nn.Sigmoid(), outputs=1), flat, POSITIVE, ending(outputs=1), flat_scores),
    )
    for style in STYLES:
        for make, loss, y, written, with_loss in cases:
            ran, wanted = run(style(make, loss, y), "logits=on"), style(written, with_loss, y)()
            assert ran.touches["logits=on"]["losses"] == len(wanted["losses"]) + len(wanted["validation"])
            assert same(result(ran.value), result(wanted))


def test_probabilities_of_unknown_origin_become_their_logarithms() -> None:
    def touched(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(found.softmax(1) * 1.0, y)

    for style in STYLES:
        ran, wanted = run(style(ending(), touched), "logits=on"), style(ending())()
        torch.testing.assert_close(ran.value["losses"], wanted["losses"], rtol=1e-4, atol=1e-5)


def test_logits_that_are_logits_already_stay() -> None:
    for style in STYLES:
        for make, loss, y in ((ending(), entropy, Y), (ending(nn.LogSoftmax(1)), entropy, Y),
                              (ending(nn.Sigmoid(), outputs=1), squares, R)):  # fmt: skip
            ran = run(style(make, loss, y), "logits=on")
            assert ran.unused == ["logits=on"]
            assert same(ran.value, style(make, loss, y)())


def test_label_smoothing_is_the_same_as_written_and_for_training_only() -> None:
    def written(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(found, y, label_smoothing=0.1 if torch.is_grad_enabled() else 0.0)

    def nll(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.nll_loss(F.log_softmax(found, 1), y)

    def binary(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(found, y)

    def binary_written(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(found, y * 0.9 + 0.05 if torch.is_grad_enabled() else y)

    for style in STYLES:
        wanted = result(style(ending(), written)())
        ran = run(style(ending()), "label_smoothing=0.1")
        assert ran.touches["label_smoothing=0.1"]["losses"] == len(ran.value["losses"])
        assert same(result(ran.value), wanted)
        torch.testing.assert_close(result(run(style(ending(), nll), "label_smoothing=0.1").value), wanted)
        one = ending(outputs=1)
        ran = run(style(one, binary, POSITIVE), "label_smoothing=0.1")
        torch.testing.assert_close(result(ran.value), result(style(one, binary_written, POSITIVE)()))
        ran = run(style(ending(), written), "label_smoothing=0.1")
        assert ran.unused == ["label_smoothing=0.1"]
        assert same(result(ran.value), wanted)
        assert same(run(style(ending()), "label_smoothing=0").value, style(ending())())
        assert same(
            result(run(style(ending(), written), "label_smoothing=0").value), result(style(ending())())
        )
        for loss, why in ((squares, "the loss is mse_loss"), (by_formula, "no loss function of PyTorch")):
            assert why in run(style(ending(outputs=1), loss, R), "label_smoothing=0.1").refused


def by_formula(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((found - y) ** 2).mean()


def test_class_weights_of_a_whole_data_set_are_the_same_as_written() -> None:
    counts = torch.bincount(Y[:160])
    weights = 160 / (2 * counts)

    def weighted(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(found, y, weights if torch.is_grad_enabled() else None)

    ran = run(epochs(ending()), "class_weights=balanced")
    torch.testing.assert_close(result(ran.value), result(epochs(ending(), weighted)()))
    ran = run(by_hand(ending(), whole=True), "class_weights=balanced")
    torch.testing.assert_close(result(ran.value), result(by_hand(ending(), weighted, whole=True)()))
    assert ran.touches["class_weights=balanced"] == {"losses": 12}


def test_class_weights_of_what_was_seen_so_far() -> None:
    seen = torch.zeros(2)

    def weighted(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return F.cross_entropy(found, y)
        seen.add_(torch.bincount(y, minlength=2))
        return F.cross_entropy(found, y, seen.sum() / (2 * seen))

    ran = run(by_hand(ending()), "class_weights=balanced")
    torch.testing.assert_close(result(ran.value), result(by_hand(ending(), weighted)()))

    def binary(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(found, y)

    part = float(POSITIVE[:160].mean())

    def binary_weighted(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        each = torch.tensor((1 - part) / part) if torch.is_grad_enabled() else None
        return F.binary_cross_entropy_with_logits(found, y, pos_weight=each)

    one = ending(outputs=1)
    ran = run(by_hand(one, binary, POSITIVE, whole=True), "class_weights=balanced")
    torch.testing.assert_close(
        result(ran.value), result(by_hand(one, binary_weighted, POSITIVE, whole=True)())
    )


def test_balanced_classes_get_no_weights() -> None:
    y = torch.arange(200) % 2
    for script in (epochs(ending(), y=y), by_hand(ending(), y=y, whole=True)):
        ran = run(script, "class_weights=balanced")
        assert ran.unused == ["class_weights=balanced"]
        assert same(ran.value, script())
    assert (
        "the loss is mse_loss"
        in run(epochs(ending(outputs=1), squares, R), "class_weights=balanced").refused
    )


def test_running_moments_are_those_of_all_rows() -> None:
    rows = np.random.default_rng(0).normal([1e6, 0, 5], [1, 0, 1e-3], (500, 3))
    found = Moments()
    for part in np.split(rows, [1, 3, 100, 450]):
        found.add(torch.from_numpy(part))
    found.add(torch.tensor([[math.nan, 1.0, 1.0]]))
    np.testing.assert_allclose(found.mean, rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.std, [rows[:, 0].std(), 1, rows[:, 2].std()], rtol=1e-9)


def test_standardized_targets_train_in_standard_units_and_show_the_scripts() -> None:
    mean, std = R[:160].mean(), R[:160].std(correction=0)

    def standard(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(found, (y - mean) / std)

    one = ending(outputs=1)
    ran = run(by_hand(one, squares, R, whole=True), "targets=standardize")
    wanted = by_hand(one, standard, R, whole=True)()
    assert ran.touches["targets=standardize"] == {"losses": 12}
    torch.testing.assert_close(ran.value["weights"], wanted["weights"], rtol=1e-3, atol=1e-4)
    for key in ("losses", "validation"):
        torch.testing.assert_close(ran.value[key], [v * std**2 for v in wanted[key]], rtol=1e-3, atol=1e-2)
    torch.testing.assert_close(ran.value["outputs"], wanted["outputs"] * std + mean, rtol=1e-3, atol=1e-2)
    plain = epochs(one, squares, R)()
    ran = run(epochs(one, squares, R), "targets=standardize")
    assert same(ran.value["batches"], plain["batches"])
    assert ran.value["validation"][-1] < 0.5 * std**2
    assert not plain["validation"][-1] < 0.5 * std**2


def test_standardized_targets_in_columns_and_other_shapes() -> None:
    both = torch.cat([R, -R * 1e-3], 1)
    flat = lambda found, y: F.smooth_l1_loss(found.squeeze(-1), y[:, 0])  # noqa: E731
    for style in STYLES:
        ran = run(style(ending(outputs=2), squares, both), "targets=standardize")
        error = (ran.value["outputs"] - both[160:]).square().mean(0) / both[160:].var(0)
        assert bool((error < 2).all())  # the small column is learned, too
        assert run(style(ending(outputs=1), flat, R), "targets=standardize").touches
        doubled = lambda found, y: F.mse_loss(found * 2, y)  # noqa: E731
        assert "as it is" in run(style(ending(outputs=1), doubled, R), "targets=standardize").refused
        for loss, why in (
            (entropy, "the loss is cross_entropy"),
            (by_formula, "no loss function of PyTorch"),
        ):
            y, outputs = (Y, 2) if loss is entropy else (R, 1)
            assert why in run(style(ending(outputs=outputs), loss, y), "targets=standardize").refused


def test_permuted_labels_are_one_permutation_of_the_data_set() -> None:
    plain, ran = epochs(ending())(), run(epochs(ending()), "labels=permute")
    assert ran.touches["labels=permute"] == {"samples": 160}
    assert ran.facts["labels_permuted"] == "over the data set"
    assert torch.equal(ran.value["random"], plain["random"])
    by_input: dict[tuple[float, ...], set[int]] = {}
    for (x, y), (x_plain, _) in zip(ran.value["batches"], plain["batches"], strict=True):
        assert torch.equal(x, x_plain)
        for row, label in zip(x.tolist(), y.tolist(), strict=True):
            by_input.setdefault(tuple(row), set()).add(label)
    assert all(len(labels) == 1 for labels in by_input.values())
    assert sum(next(iter(labels)) for labels in by_input.values()) == int(Y[:160].sum())
    changed = sum(
        by_input[tuple(row)] != {label} for row, label in zip(X[:160].tolist(), Y.tolist(), strict=False)
    )
    assert 20 < changed < 100
    # the validation loss is that of real labels: the trained model, evaluated here, gives the same
    held_out = F.cross_entropy(ran.value["outputs"], Y[160:])
    assert float(ran.value["validation"][-1]) == pytest.approx(float(held_out), rel=1e-6)


def test_a_shuffled_validation_loader_keeps_its_labels() -> None:
    def train() -> list[torch.Tensor]:
        loader, held_out = (
            DataLoader(TensorDataset(X[i], Y[i]), 20, shuffle=True) for i in (slice(160), slice(160, 200))
        )
        model, losses = ending()(), []
        steps = len(loader) + len(held_out)  # asked for before anything is trained
        for x, y in loader:
            F.cross_entropy(model(x), y).backward()
        model.eval()
        with torch.no_grad():
            losses += [F.cross_entropy(model(x), y) * 20 for x, y in held_out]
        return [sum(losses) / 40, F.cross_entropy(model(X[160:]), Y[160:]), torch.tensor(steps)]

    found = run(train, "labels=permute").value
    assert float(found[0]) == pytest.approx(float(found[1].detach()), rel=1e-5)


class Noisy(Dataset):
    """Draws in each access, and hands out dicts."""

    def __len__(self) -> int:
        return 40

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"x": X[i] + 0.1 * torch.randn(6) * np.random.rand(), "label": i, "name": str(i)}


class Stream(IterableDataset):
    def __iter__(self):
        yield from zip(X[:64], Y[:64], strict=True)


def drawn(dataset: Any) -> list[Any]:
    torch.manual_seed(0), np.random.seed(0)
    model = ending()()
    out = []
    for _ in range(2):
        for batch in DataLoader(dataset, 8, shuffle=not isinstance(dataset, Stream)):
            x, y = batch.values() if isinstance(batch, dict) and len(batch) == 2 else (batch["x"], batch["label"]) if (
                isinstance(batch, dict)) else batch  # fmt: skip
            F.cross_entropy(model(x), y % 2).backward()
            out.append((x, y))
    return out


def test_a_data_set_that_draws_is_permuted_without_moving_random_numbers() -> None:
    plain, ran = drawn(Noisy()), run(lambda: drawn(Noisy()), "labels=permute")
    assert same([x for x, _ in ran.value], [x for x, _ in plain])
    first = {int(a): int(b) for (_, p), (_, q) in zip(plain[:5], ran.value[:5], strict=True)
             for a, b in zip(p, q, strict=True)}  # fmt: skip
    assert sorted(first.values()) == list(range(40))


def test_labels_are_permuted_within_batches_where_there_is_no_data_set() -> None:
    ran = run(lambda: drawn(Stream()), "labels=permute")
    assert ran.facts["labels_permuted"] == "within batches"
    assert ran.touches["labels=permute"] == {"batches": 16}
    plain, ran = (
        by_hand(ending(), whole=True)(),
        run(by_hand(ending(), whole=True, steps=300), "labels=permute"),
    )
    assert torch.equal(ran.value["random"], plain["random"])
    # one permutation for the full batch: it can be learned by heart to below what chance allows
    share = float(Y[:160].float().mean())
    assert (
        float(ran.value["losses"][-1]) < -(share * math.log(share) + (1 - share) * math.log(1 - share)) - 0.1
    )
    assert "computed by hand" in run(by_hand(ending(outputs=1), by_formula, R), "labels=permute").refused
