"""The probes of a live model, on models whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from traindx.capture.process.patches import Lines  # noqa: E402
from traindx.capture.session.stream import Stream  # noqa: E402
from traindx.capture.torch.backend import torch_session  # noqa: E402
from traindx.capture.torch.checks.last_step import Live  # noqa: E402
from traindx.capture.torch.checks.probes import facts as probed  # noqa: E402
from traindx.capture.torch.discover.discovery import Discovery  # noqa: E402


class Mixing(nn.Module):
    """Rows of other samples get into each sample."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.out = nn.Linear(4, 6), nn.Linear(30, 3)

    def forward(self, x: Any) -> Any:
        return self.out(self.rows(x).permute(1, 0, 2).reshape(len(x), -1))


class Apart(Mixing):
    def forward(self, x: Any) -> Any:
        return self.out(self.rows(x).reshape(len(x), -1))


class Lists(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Linear(5, 7)
        self.parts = {"a": [nn.Linear(7, 7), nn.Linear(7, 7)], "spare": nn.Linear(3, 3)}
        self.out = nn.Linear(7, 3)

    def forward(self, x: Any) -> Any:
        return self.out(self.parts["a"][0](self.own(x)))  # type: ignore[index]


def trained(
    model: Any, batch: Callable[[], tuple[Any, Any]], loss: Callable[..., Any], steps: int = 3
) -> Live:
    """Some steps under a discovery that keeps the last one."""
    session = torch_session(None, every=1)
    problems: list[str] = []
    stream = Stream(lambda: session, Lines("/"), lambda _: None, lambda stage, **more: None)
    discovery = Discovery(stream)
    live = Live(stream)
    discovery.attach()
    try:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(steps):
            x, y = batch()
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
    finally:
        stream.active = False
        discovery.loop.release()
    assert not problems
    assert session.active
    live.kept_alive = optimizer  # type: ignore[attr-defined] # as a script does until its end; capture does not
    return live


def facts(live: Live) -> dict[str, Any]:
    found, session = probed(live), live.stream.opened
    live.stream.detach()
    assert session is not None
    session.close()
    return found


def sequences() -> tuple[Any, Any]:
    return torch.randn(8, 5, 4), torch.randint(0, 3, (8,))


def crossed(out: Any, y: Any) -> Any:
    """Looked up when it is called: by then it is wrapped."""
    return F.cross_entropy(out, y)


def rows() -> tuple[Any, Any]:
    return torch.randn(8, 5), torch.randint(0, 3, (8,))


def test_a_leak_across_the_batch() -> None:
    torch.manual_seed(0)
    found = facts(trained(Mixing(), sequences, crossed))
    assert found["leak_pairs_checked"] == 21
    assert found["leak_pairs"] > 0
    assert facts(trained(Apart(), sequences, crossed))["leak_pairs"] == 0


def test_normalization_over_the_batch_is_no_leak() -> None:
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    found = facts(trained(model, rows, crossed))
    assert (found["leak_pairs"], found["leak_pairs_checked"]) == (0, 21)
    assert found["bias_before_normalization"] == 1
    assert found["bias_before_normalization_names"] == "0"


def test_softmax_over_the_batch_is_one() -> None:
    model = nn.Sequential(nn.Linear(5, 3), nn.LogSoftmax(dim=0))
    assert facts(trained(model, rows, lambda out, y: F.nll_loss(out, y)))["leak_pairs"] == 21


def test_whole_number_inputs_are_replaced() -> None:
    class Bag(nn.Module):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.words, self.out, self.dim = nn.Embedding(20, 6), nn.Linear(6, 3), dim

        def forward(self, x: Any) -> Any:
            h = self.words(x).mean(1)
            return self.out(h if self.dim else h - h.mean(0))

    def words() -> tuple[Any, Any]:
        return torch.randint(0, 20, (8, 9)), torch.randint(0, 3, (8,))

    assert facts(trained(Bag(1), words, crossed))["leak_pairs"] == 0
    assert facts(trained(Bag(0), words, crossed))["leak_pairs"] == 56


def test_time_first_and_graphs_are_not_judged() -> None:
    """The first dimension is time, or a square matrix relates all rows."""

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.out = nn.GRU(4, 6), nn.Linear(6, 3)

        def forward(self, x: Any) -> Any:
            return self.out(self.rnn(x)[0]).flatten(0, 1)

    def tagged() -> tuple[Any, Any]:
        return torch.randn(7, 2, 4), torch.randint(0, 3, (14,))

    assert "which dimension" in facts(trained(Tagger(), tagged, crossed))["leak_not_checked"]

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("edges", torch.rand(8, 8))
            self.out = nn.Linear(5, 3)

        def forward(self, x: Any) -> Any:
            return self.out(self.edges @ x)

    assert "graph" in facts(trained(Graph(), rows, crossed))["leak_not_checked"]


@pytest.mark.parametrize(
    ("loss", "growth"),
    [
        (lambda out, y: F.cross_entropy(out, y), 1.0),
        (lambda out, y: F.cross_entropy(out, y, reduction="sum"), 2.0),
        (lambda out, y: F.cross_entropy(out, y, reduction="sum") / len(y), 1.0),
        (lambda out, y: nn.CrossEntropyLoss(reduction="sum")(out, y) / 4, 2.0),
        (lambda out, y: F.mse_loss(out, F.one_hot(y, 3).float(), reduction="sum") / out.numel(), 1.0),
        (lambda out, y: -out.log_softmax(1)[torch.arange(len(y)), y].mean(), 1.0),
        (lambda out, y: -out.log_softmax(1)[torch.arange(len(y)), y].sum(), 2.0),
        (lambda out, y: -out.log_softmax(1)[torch.arange(len(y)), y].sum() / 8, 1.0),
        (lambda out, y: ((out - F.one_hot(y, 3)) ** 2).sum(1).mean(), 1.0),
        (lambda out, y: ((out - F.one_hot(y, 3)) ** 2).mean(1).sum(), 2.0),
    ],
)
def test_growth_of_the_loss_with_the_batch(loss: Callable[..., Any], growth: float) -> None:
    """As it really is: the loss of the batch twice over the loss of the batch."""
    torch.manual_seed(1)
    live = trained(nn.Linear(5, 3), lambda: (torch.randn(8, 5), torch.randint(0, 3, (8,))), loss, steps=1)
    found = facts(live)
    assert found["loss_batch_growth"] == pytest.approx(growth, rel=1e-4)


def test_the_modes_of_stale_statistics_differ() -> None:
    torch.manual_seed(2)
    x = torch.randn(64, 5) * 9 + 4
    y = (x[:, 0] > 4).long()

    def modes(momentum: float) -> dict[str, Any]:
        model = nn.Sequential(
            nn.BatchNorm1d(5, momentum=momentum), nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3)
        )
        return facts(trained(model, lambda: (x, y), crossed, steps=150))

    stale, usual = modes(0.0), modes(0.1)
    assert stale["modes_loss_eval"] > 5 * stale["modes_loss_train"]
    assert usual["modes_loss_eval"] == pytest.approx(usual["modes_loss_train"], rel=0.2)
    assert usual["modes_loss_first"] > 3 * usual["modes_loss_train"]


def test_layers_in_plain_containers() -> None:
    found = facts(trained(Lists(), rows, crossed))
    assert found["parameters_unregistered"] == 7 * 7 + 7
    assert found["parameters_unregistered_names"] == "parts[a][0].weight, parts[a][0].bias"
    assert facts(trained(nn.Linear(5, 3), rows, crossed))["parameters_unregistered"] == 0


def test_memory_by_kind() -> None:
    found = facts(trained(nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3)), rows, crossed))
    values = 5 * 10 + 10 + 10 * 3 + 3
    assert found["memory_weights"] == found["memory_gradients"] == 4 * values
    assert (
        found["memory_optimizer"] == 2 * 4 * values + 4 * 4
    )  # two moments, and a step count for each tensor
    assert found["memory_activations"] >= 4 * 8 * (5 + 10)


def test_latency_is_in_order() -> None:
    found = facts(trained(nn.Linear(5, 3), rows, crossed))
    assert 0 < found["latency_p50"] <= found["latency_p95"] <= found["latency_p99"] < 5
    assert found["inference_throughput"] == pytest.approx(8 / found["latency_batch_p50"])


def test_nothing_of_the_model_is_left_changed() -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3))
    live = trained(model, rows, crossed)
    model[2].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    gradients = [p.grad.clone() for p in model.parameters()]
    state = torch.get_rng_state()
    facts(live)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), gradients, strict=True))
    assert [m.training for m in model] == [True, True, False, True]


def test_a_model_that_cannot_be_called_again_is_said() -> None:
    class Once(nn.Linear):
        calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            if self.calls > 3:
                raise RuntimeError("no more")
            return super().forward(x)

    found = facts(trained(Once(5, 3), rows, crossed))
    assert found["leak_not_checked"] == "the model could not be called: RuntimeError: no more"
    assert found["parameters_unregistered"] == 0
