"""Interventions on inputs, order, batches and loaders, against the same script changed by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, TensorDataset  # noqa: E402

from tests.capture.interventions.altering import run, same  # noqa: E402
from tests.capture.interventions.small import STYLES, R, X, Y, by_hand, epochs, perceptron, squares  # noqa: E402
from traindx.capture.torch.alter.inputs import Spread  # noqa: E402

MAKE = perceptron()
KEYS = ("losses", "validation", "weights", "random")


def agree(ran: dict[str, Any], wanted: dict[str, Any], *keys: str) -> bool:
    return all(same(ran[key], wanted[key]) for key in keys or KEYS)


class Scaled(nn.Module):
    """A model that changes its inputs itself."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.change, self.model = change, MAKE()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(self.change(x))


def test_blank_inputs_are_zeros_in_training_and_evaluation() -> None:
    for style in STYLES:
        ran, wanted = run(style(MAKE), "inputs=blank"), style(lambda: Scaled(torch.zeros_like))()
        assert ran.touches["inputs=blank"] == {"passes": len(wanted["losses"] + wanted["validation"]) + 1}
        assert agree(ran.value, wanted, *KEYS, "outputs")


def test_standardized_inputs_of_a_full_batch_are_those_of_a_standardized_table() -> None:
    x = X * torch.tensor([1e-3, 1, 50, 1e4, 1, 0]) + torch.tensor([0, 1e3, -7, 0, 0, 3.0])
    spread = x[:160].double().std(0, correction=0)
    table = ((x.double() - x[:160].double().mean(0)) / torch.where(spread > 0, spread, 1)).float()
    ran, wanted = (
        run(by_hand(MAKE, x=x, whole=True), "inputs=standardize"),
        by_hand(MAKE, x=table, whole=True)(),
    )
    for key in ("losses", "validation", "weights"):
        torch.testing.assert_close(ran.value[key], wanted[key], rtol=1e-4, atol=1e-5)
    ran, plain = run(epochs(MAKE, x=x), "inputs=standardize"), epochs(MAKE, x=x)()
    assert agree(ran.value, plain, "random", "batches")  # what the script holds is not changed
    assert max(ran.value["losses"]) < 1 < 1e3 < max(plain["losses"])


def test_features_of_images_and_sequences_are_standardized_by_channel() -> None:
    seen: list[torch.Tensor] = []

    class First(nn.Module):
        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor, mask: Any = None, *, more: Any = None) -> torch.Tensor:
            seen[:] = [x, mask, more]
            return self.layer(x).flatten(1)

    scales = torch.tensor([1.0, 100.0, 1e4])
    for layer, shape, axis in ((nn.Conv2d(3, 2, 1), (50, 3, 4, 4), 1), (nn.Conv1d(3, 2, 1), (50, 3, 7), 1),
                               (nn.Linear(3, 2), (50, 7, 3), 2), (nn.Linear(3, 2), (50, 3), 1)):  # fmt: skip
        x = (torch.randn(shape).movedim(axis, -1) * scales + scales).movedim(-1, axis)
        mask, more = torch.full((50,), 7.0), torch.full((50,), 7.0)
        run(lambda layer=layer, x=x, mask=mask, more=more: First(layer)(x, mask, more=more).sum().backward(),
            "inputs=standardize")  # fmt: skip
        found = seen[0].movedim(axis, -1).flatten(0, -2)
        torch.testing.assert_close(found.mean(0), torch.zeros(3), atol=1e-4, rtol=0)
        torch.testing.assert_close(found.std(0, correction=0), torch.ones(3), atol=1e-4, rtol=0)
        assert torch.equal(seen[1], mask)
        assert not seen[2].any()  # constant


def test_evaluation_is_standardized_by_what_training_has_seen() -> None:
    seen: list[float] = []
    model = Scaled(lambda x: seen.append(float(x.mean())) or x)

    def train() -> None:
        model(
            torch.full((10, 6), 3.0) + torch.arange(10)[:, None]
        ).sum().backward()  # mean 7.5, variance 8.25
        model.eval()
        with torch.no_grad():
            for _ in range(2):
                model(torch.full((4, 6), 7.5 + 2 * math.sqrt(8.25)))

    run(train, "inputs=standardize")
    assert seen == pytest.approx([0, 2, 2], abs=1e-6)


class Words(nn.Module):
    """Returns its own loss."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(9, 6), nn.Linear(6, 9)

    def forward(self, idx: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.out(self.words(idx)).flatten(0, 1), labels.flatten())


def test_arguments_of_a_model_next_to_its_inputs_stay() -> None:
    idx, labels = torch.randint(0, 9, (8, 5)), torch.randint(0, 9, (8, 5))
    losses: list[torch.Tensor] = []

    def train() -> None:
        torch.manual_seed(0)
        model = Words()
        losses.append(model(idx, labels=labels))
        losses[-1].backward()

    train()
    run(train, "inputs=blank")
    torch.manual_seed(0)
    assert torch.equal(losses[1], Words()(torch.zeros_like(idx), labels))
    assert "whole numbers" in run(train, "inputs=standardize").refused


def test_what_one_model_hands_to_the_next_stays() -> None:
    def script() -> list[torch.Tensor]:
        torch.manual_seed(0)
        encoder, head = nn.Linear(6, 4), nn.Linear(4, 2)
        out = []
        for _ in range(2):
            F.cross_entropy(head(torch.relu(encoder(X))), Y).backward()
            with torch.no_grad():
                out.append(head(torch.relu(encoder(X))))
        return [*out, encoder.bias.grad]

    ran = run(script, "inputs=blank")
    assert ran.touches["inputs=blank"] == {"passes": 4}
    assert ran.value[2].any()


def test_shuffled_inputs_are_the_batch_in_another_order_in_training_only() -> None:
    seen: list[torch.Tensor] = []

    def keep(x: torch.Tensor) -> torch.Tensor:
        seen.append(x)
        return x

    for style in STYLES:
        seen.clear()
        plain, ran = style(lambda: Scaled(keep))(), run(style(lambda: Scaled(keep)), "inputs=shuffle")
        assert torch.equal(ran.value["random"], plain["random"])
        evaluations = [*range(5, 18, 6), 18] if style is epochs else [12, 13]
        for i, (x, y) in enumerate(zip(seen[: len(seen) // 2], seen[len(seen) // 2 :], strict=True)):
            assert torch.equal(x, y) == (i in evaluations)
            assert torch.equal(x[x[:, 0].argsort()], y[y[:, 0].argsort()])


def test_order_of_the_loader() -> None:
    plain = epochs(MAKE, shuffle=False)()
    ran = run(epochs(MAKE, shuffle=False), "data=shuffle").value
    assert torch.equal(ran["random"], plain["random"])
    rows = [[tuple(row) for x, _ in ran["batches"][i : i + 5] for row in x.tolist()] for i in (0, 5, 10)]
    table = [tuple(row) for row in X[:160].tolist()]
    assert len({tuple(epoch) for epoch in [*rows, table]}) == 4
    assert all(sorted(epoch) == sorted(table) for epoch in rows)
    plain = epochs(MAKE)()
    ran = run(epochs(MAKE), "data=fixed").value
    assert torch.equal(ran["random"], plain["random"])
    for i in (0, 5, 10):
        assert same(ran["batches"][i : i + 5], plain["batches"][:5])
    for spec, shuffle in (("data=shuffle", True), ("data=fixed", False)):
        ran = run(epochs(MAKE, shuffle=shuffle), spec)
        assert ran.unused == [spec]
        assert same(ran.value, epochs(MAKE, shuffle=shuffle)())


def test_one_batch_again_and_again() -> None:
    plain, ran = epochs(MAKE)(), run(epochs(MAKE), "data=repeat-batch")
    assert ran.touches["data=repeat-batch"] == {"batches": 14}
    assert all(same(batch, plain["batches"][0]) for batch in ran.value["batches"])
    assert torch.equal(ran.value["random"], plain["random"])
    x, y = plain["batches"][0]

    def alone() -> dict[str, Any]:
        torch.manual_seed(0)
        return by_hand(MAKE, x=x, y=y)()

    first = torch.randint(0, 160, (32,), generator=torch.Generator().manual_seed(0))
    ran = run(by_hand(MAKE, steps=40), "data=repeat-batch")
    assert ran.touches["data=repeat-batch"] == {"batches": 39}
    assert torch.equal(ran.value["random"], by_hand(MAKE, steps=40)()["random"])
    assert float(ran.value["losses"][-1]) < 0.5 * float(by_hand(MAKE, steps=40)()["losses"][-1])
    assert first.shape == (32,)
    ran = run(by_hand(MAKE, whole=True), "data=repeat-batch")
    assert agree(ran.value, by_hand(MAKE, whole=True)())  # one batch it was


def test_one_batch_of_a_model_that_is_given_its_labels() -> None:
    def train() -> list[float]:
        torch.manual_seed(0)
        model = Words()
        optimizer = torch.optim.SGD(model.parameters(), lr=0)
        losses = []
        for i in range(6):
            idx, labels = (
                torch.randint(0, 9, (8 if i < 5 else 3, 5)),
                torch.randint(0, 9, (8 if i < 5 else 3, 5)),
            )
            loss = model(idx, labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    found = run(train, "data=repeat-batch").value
    assert len(set(found[:5])) == 1
    assert len(set(train())) == 6


def test_another_batch_size_is_the_same_as_written() -> None:
    for shuffle in (True, False):
        for spec, size in (("batch=*2", 64), ("batch=8", 8), ("batch=*0.5", 16), ("batch=1000", 160)):
            ran, wanted = (
                run(epochs(MAKE, shuffle=shuffle), spec),
                epochs(MAKE, shuffle=shuffle, size=size)(),
            )
            assert ran.touches[spec] == {"loaders": 1}
            assert agree(ran.value, wanted, *KEYS, "batches", "length")
            assert ran.facts["batch_size"] == size
        for spec in ("batch=*1", "batch=32"):
            ran = run(epochs(MAKE, shuffle=shuffle), spec)
            assert ran.unused == [spec]
            assert same(ran.value, epochs(MAKE, shuffle=shuffle)())


def loader_of(**options: Any) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model, found = MAKE(), []
    for _ in range(2):
        for x, y in DataLoader(options.pop("dataset", None) or TensorDataset(X, Y), **options):
            F.cross_entropy(model(x), y).backward()
            found.append(x)
    return found


class Stream(IterableDataset):
    def __iter__(self):
        yield from zip(X, Y, strict=True)


def test_what_cannot_be_done_to_a_loader_is_refused() -> None:
    own = type("OwnBatches", (BatchSampler,), {})
    for spec in ("batch=8", "data=shuffle", "data=fixed", "workers=2", "prefetch=4"):
        assert "makes them itself" in run(by_hand(MAKE), spec).refused
        stream = run(lambda: loader_of(dataset=Stream(), batch_size=10), spec).refused
        assert ("stream" in stream) or (spec == "prefetch=4" and "no workers" in stream)
    for spec in ("batch=8", "data=shuffle"):
        made = run(lambda: loader_of(batch_sampler=own(range(200), 10, False)), spec).refused
        assert "OwnBatches" in made

    def never_training() -> None:
        model = MAKE().eval()
        _optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for x, y in DataLoader(TensorDataset(X, Y), 32):
            F.cross_entropy(model(x), y).backward()

    assert "training mode" in run(never_training, "batch=8").refused


def test_workers_hand_out_the_same_batches() -> None:
    plain = loader_of(batch_size=50)
    ran = run(lambda: loader_of(batch_size=50), "workers=1", "prefetch=3")
    assert ran.touches == {"workers=1": {"loaders": 2}, "prefetch=3": {"loaders": 2}}
    assert ran.facts["workers"] == 1
    assert same(ran.value, plain)
    ran = run(lambda: loader_of(batch_size=50, num_workers=1, persistent_workers=True), "workers=0")
    assert same(ran.value, plain)
    assert run(lambda: loader_of(batch_size=50), "workers=0").unused == ["workers=0"]


def test_outliers_by_a_robust_deviation() -> None:
    values = torch.randn(2000, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [1, 1e-3, 1e4, 1]
    )
    values[:, 3] = (values[:, 3] > 2.5).float()  # rare, and no outlier
    values[7, 0], values[11, 1], values[13, 2], values[17, 3] = 25, -0.03, math.nan, math.inf
    values[19, 0], values[23, 1] = 10, 0.01  # far, but not that far
    for size in (2000, 100):
        spread = Spread()
        found = torch.cat([spread.far(part) for part in values.split(size)])
        assert torch.nonzero(found)[:, 0].tolist() == [7, 11, 13, 17]
    assert not Spread().far(torch.tensor([[1.0], [1e9]])).any()  # too few to judge by
    image = torch.randn(40, 3, 8, 8)
    image[5, 2, 3, 3] = 1e3
    assert torch.nonzero(Spread().far(image))[:, 0].tolist() == [5]


def test_outliers_are_dropped_from_batches_of_a_loader() -> None:
    x, y = X.clone(), R.clone()
    x[[3, 40], 2], y[77] = math.nan, 1e6
    x[165, 0] = math.nan  # held out: stays
    ran = run(epochs(perceptron(outputs=1), squares, y, x=x), "drop=outliers")
    assert ran.touches["drop=outliers"]["samples"] == 3 * 3
    assert sum(len(x) for x, _ in ran.value["batches"]) == 3 * 157
    assert all(bool(torch.isfinite(v)) for v in ran.value["losses"])
    assert not torch.isfinite(ran.value["validation"][0])
    assert run(epochs(MAKE), "drop=outliers").unused == ["drop=outliers"]
    assert same(run(epochs(MAKE), "drop=outliers").value, epochs(MAKE)())
    bad = TensorDataset(torch.cat([X[:30], torch.full((10, 6), math.nan), X[40:60]]), Y[:60])
    found = run(lambda: loader_of(dataset=bad, batch_size=10), "drop=outliers")
    assert found.touches["drop=outliers"] == {"samples": 10, "batches": 1}
    assert len(found.value) == 5 + 20  # the second epoch is over all of X


def test_outliers_are_replaced_where_batches_are_made_by_hand() -> None:
    x, y = X.clone(), R.clone()
    x[[3, 40], 2], y[77] = math.nan, 1e6
    clean, labels = x.clone(), y.clone()
    clean[[3, 40]], labels[[3, 40]] = X[:2], R[:2]  # the first good ones in turn
    one = perceptron(outputs=1)

    def written(found: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            order = torch.arange(160)
            order[77] = 0
            found, target = found[order], target[order]
        return F.mse_loss(found, target)

    ran = run(by_hand(one, squares, y, x=x, whole=True), "drop=outliers")
    assert ran.touches["drop=outliers"] == {"samples": 12 * 3}
    assert agree(ran.value, by_hand(one, written, labels, x=clean, whole=True)())
    ran = run(by_hand(MAKE), "drop=outliers")
    assert ran.unused == ["drop=outliers"]
    assert same(ran.value, by_hand(MAKE)())
