"""What a step is made of: how many samples went into it."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence  # noqa: E402

import traindx  # noqa: E402
from tests.capture.session.test_session import net, read  # noqa: E402
from traindx.capture.session.habits import Habits  # noqa: E402


@pytest.mark.parametrize("positions", [1, 5])
def test_positions_of_a_sequence_share_a_batch(tmp_path: Path, positions: int) -> None:
    """Whatever is generated in between, with gradients enabled, is no batch either."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1):
        for _ in range(20):
            optimizer.zero_grad()
            losses = [
                functional.cross_entropy(model(torch.randn(8, 6)), torch.zeros(8, dtype=torch.long))
                for _ in range(positions)
            ]
            torch.stack(losses).sum().backward()
            optimizer.step()
            for _ in range(3):
                model(torch.randn(1, 6))
    assert read(tmp_path).setup.batch_size == 8


def test_batches_whose_gradients_are_zeroed_are_no_part_of_a_step() -> None:
    """The last batches of an epoch do not fill a step, and the next epoch begins with zero_grad."""
    habits = Habits()
    for place in range(18):
        habits.batch(8)
        habits.backward(None)
        if place % 9 in (3, 7):
            habits.step()
        habits.zeroed = place == 8
    assert habits.batch_size == 32


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([100, *[64] * 9, 36], 64),  # a hundred pictures are drawn before the first step, without `no_grad`
        ([64, 36] * 5, 64),  # two batches an epoch
        ([31, 45, 38, 52, 40], 52),  # as many tokens in each, not samples
        ([], 0),
    ],
)
def test_the_batch_size_is_that_of_most_steps(sizes: list[int], expected: int) -> None:
    habits = Habits()
    for size in sizes:
        habits.batch(size)
        habits.backward(None)
        habits.step()
    assert habits.batch_size == expected


def test_what_an_optimizer_evaluates_again_is_the_same_batch(tmp_path: Path) -> None:
    """L-BFGS tries other weights within a step: its loss is the first one."""
    model, first = net(), []
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=6)
    x, y = torch.randn(24, 6), torch.randint(0, 2, (24,))
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for _ in range(20):
            tried: list[float] = []

            def closure(tried: list[float] = tried) -> torch.Tensor:
                optimizer.zero_grad()
                loss = functional.cross_entropy(model(x), y)
                loss.backward()  # type: ignore[no-untyped-call]
                watch.log(loss)
                tried.append(loss.item())
                return loss

            optimizer.step(closure)
            first.append(tried[0])
    run = read(tmp_path)
    assert run.setup.batch_size == 24
    assert run.series["train/loss"].values.tolist() == pytest.approx(first)
    assert run.setup.number("backwards_per_step") == 1


class Sequences(torch.nn.Module):
    """Recurrent layers that get sequences first, or samples first, and how the batch is laid out before them."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.swaps, first, self.packs = kind == "swapped", kind == "samples first", kind.startswith("packed")
        self.packs_first = kind == "packed samples first"
        self.attention = torch.nn.MultiheadAttention(6, 2, batch_first=first)
        self.layer = self.attention if kind == "attention" else torch.nn.LSTM(6, 6, batch_first=first)
        self.head = torch.nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.transpose(0, 1) if self.swaps else x
        if self.packs:
            lengths = torch.full((5,), 20)
            x = pack_padded_sequence(x, lengths, batch_first=self.packs_first)
        found, _ = self.layer(x, x, x) if self.layer is self.attention else self.layer(x)
        return self.head(found.data if self.packs else found)


@pytest.mark.parametrize(
    ("kind", "shape", "targets", "expected"),
    [
        ("sequences first", (20, 5, 6), (100,), 5),
        ("attention", (20, 5, 6), (20, 5), 5),
        ("samples first", (5, 20, 6), (100,), 5),
        ("swapped", (5, 20, 6), (5,), 5),
        ("packed", (20, 5, 6), (100,), 5),
        ("packed samples first", (5, 20, 6), (100,), 5),
        ("by mistake", (5, 20, 6), (5,), 5),  # one target for each of the first dimension
    ],
)
def test_samples_of_a_batch_of_sequences(
    kind: str, shape: tuple[int, ...], targets: tuple[int, ...], expected: int, tmp_path: Path
) -> None:
    model = Sequences(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for _ in range(10):
            x, y = torch.randn(shape), torch.randint(0, 2, targets)
            optimizer.zero_grad()
            found = model(x)
            watch.batch(None, y)
            found.square().mean().backward()
            optimizer.step()
    assert read(tmp_path).setup.batch_size == expected


@pytest.mark.parametrize(("ends", "by_name"), [(False, False), (True, False), (False, True)])
def test_bags_are_samples_and_their_words_are_not(ends: bool, by_name: bool, tmp_path: Path) -> None:
    class Bags(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bag = torch.nn.EmbeddingBag(30, 6, include_last_offset=ends)
            self.head = torch.nn.Linear(6, 2)

        def forward(self, words: torch.Tensor, begins: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.bag(words, offsets=begins) if by_name else self.bag(words, begins)
            return self.head(found)

    model = Bags()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1):
        for count in range(40, 50):
            begins = torch.tensor([0, 7, 9, 30, *[count] * ends])
            optimizer.zero_grad()
            model(torch.randint(0, 30, (count,)), begins).square().mean().backward()
            optimizer.step()
    assert read(tmp_path).setup.batch_size == 4


@pytest.mark.parametrize(("width", "single"), [(4, True), (1, False)])
def test_a_sample_without_a_batch_is_one_sample(width: int, single: bool, tmp_path: Path) -> None:
    """What an agent observes, in one row of the length that the first layer takes; four numbers for a layer that takes
    one at a time are four samples."""
    model = torch.nn.Sequential(torch.nn.Unflatten(0, (-1, width)), torch.nn.Linear(width, 1))
    model = torch.nn.Sequential(torch.nn.Linear(width, 1)) if single else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path, every=1):
        for _ in range(8):
            optimizer.zero_grad()
            model(torch.randn(4)).square().mean().backward()
            optimizer.step()
    setup = read(tmp_path).setup
    assert setup.batch_size == (1 if single else 4)
    assert setup.number("inputs_features") == (4 if single else 1)
