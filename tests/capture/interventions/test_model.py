"""Interventions on the model, against the same script changed by hand."""

from __future__ import annotations

import copy
import math

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from tests.capture.interventions.altering import run, same  # noqa: E402
from tests.capture.interventions.small import STYLES, X, Y, by_hand, entropy, epochs, perceptron  # noqa: E402
from traindx.capture.torch.interventions.model.init import reinitialize  # noqa: E402


class Functions(nn.Module):
    """Activations as functions and methods, one in place, and a probability at the end."""

    def __init__(self, hidden=(torch.tanh, torch.Tensor.sigmoid, F.hardtanh), end=torch.sigmoid) -> None:
        super().__init__()
        self.hidden, self.end = hidden, end
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))
        self.last = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer, function in zip(self.layers, self.hidden, strict=True):
            x = function(layer(x))
        return self.end(self.last(x))


def test_activation_is_the_same_as_changed_by_hand() -> None:
    for style in STYLES:
        for into, module in (("relu", nn.ReLU), ("gelu", nn.GELU), ("leaky_relu", nn.LeakyReLU)):
            ran = run(style(perceptron(nn.Tanh)), f"activation={into}")
            assert ran.touches == {f"activation={into}": {"calls": 2}}
            assert same(ran.value, style(perceptron(module))())
        ran = run(style(Functions), "activation=relu")
        assert ran.touches == {"activation=relu": {"calls": 3}}
        assert ran.facts["activation_left_output"] == 1
        assert same(ran.value, style(lambda: Functions((F.relu,) * 3))())
        ran = run(style(perceptron(lambda: nn.ReLU(inplace=True))), "activation=leaky_relu")
        assert same(ran.value, style(perceptron(nn.LeakyReLU))())


def test_activation_without_one_to_replace_changes_nothing() -> None:
    for style in STYLES:
        for module, into in ((nn.ReLU, "relu"), (nn.GELU, "leaky_relu"), (nn.Identity, "gelu")):
            ran = run(style(perceptron(module)), f"activation={into}")
            assert ran.unused == [f"activation={into}"]
            assert same(ran.value, style(perceptron(module))())


def test_a_hand_made_cell_keeps_its_gates() -> None:
    from tests.capture.interventions.test_roles import HandMadeLSTM

    def make() -> nn.Module:
        return nn.Sequential(nn.Unflatten(1, (2, 3)), HandMadeLSTM())

    ran = run(epochs(make), "activation=relu")
    assert ran.unused == ["activation=relu"]
    assert ran.facts["activation_left_gate"] == 10
    assert same(ran.value, epochs(make)())


def test_what_needs_a_module_is_refused_without_one() -> None:
    def train() -> None:
        w = torch.zeros(6, 2, requires_grad=True)
        for _ in range(3):
            entropy(X @ w, Y).backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                w.grad = None

    for spec in ("init=he", "activation=relu", "normalize=layer", "inputs=blank", "inputs=standardize"):
        assert "calls no module" in run(train, spec).refused


def test_init_gives_the_variances_of_theory_and_draws_nothing() -> None:
    wide = nn.Sequential(
        nn.Linear(400, 300), nn.Conv2d(40, 60, 3), nn.ConvTranspose1d(60, 80, 5), nn.BatchNorm1d(7),
        nn.Embedding(500, 30, padding_idx=2), nn.LSTM(50, 64), nn.MultiheadAttention(96, 2),
    )  # fmt: skip
    state = torch.get_rng_state()
    for kind in ("he", "xavier", "orthogonal"):
        model = copy.deepcopy(wide)
        with torch.no_grad():
            for p in model.parameters():
                p.fill_(9.0)
        touched, left = reinitialize(model, kind, torch.Generator().manual_seed(0))
        assert sum(touched.values()) == 8  # the output projection of attention is its own layer
        assert left == 0
        linear, conv, back, norm, words, lstm, _ = model
        variances = {"he": (2 / 400, 2 / 360, 2 / 300), "xavier": (2 / 700, 2 / 900, 2 / 700)}
        for layer, variance in zip((linear, conv, back), variances.get(kind, ()), strict=False):
            assert float(layer.weight.detach().var()) == pytest.approx(variance, rel=0.05)
        if kind == "orthogonal":
            torch.testing.assert_close(
                linear.weight @ linear.weight.T, 2 * torch.eye(300), atol=1e-4, rtol=0
            )
        gates = lstm.weight_hh_l0.detach().chunk(4)
        torch.testing.assert_close(gates[1] @ gates[1].T, torch.eye(64), atol=1e-4, rtol=0)
        assert lstm.bias_ih_l0.reshape(4, 64).mean(1).tolist() == [0, 1, 0, 0]
        assert norm.weight.tolist() + norm.bias.tolist() == [1] * 7 + [0] * 7
        assert float(words.weight.detach().std()) == pytest.approx(1, rel=0.02)
        assert not words.weight[2].any()
        assert not linear.bias.any()
    assert torch.equal(state, torch.get_rng_state())


def test_init_leaves_what_is_frozen_or_unknown_and_shares_what_is_shared() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.head = nn.Embedding(2000, 64), nn.Linear(64, 2000, bias=False)
            self.head.weight = self.words.weight
            self.own, self.frozen = nn.Parameter(torch.ones(5)), nn.Linear(3, 3).requires_grad_(False)

    model = Tied()
    kept = model.frozen.weight.clone()
    touched, left = reinitialize(model, "he", torch.Generator().manual_seed(0))
    assert (dict(touched), left) == ({"Embedding": 1}, 5 + 12)
    assert float(model.words.weight.detach().std()) == pytest.approx(1 / 8, rel=0.02)
    assert torch.equal(kept, model.frozen.weight)


def test_init_is_made_before_the_first_step_and_once() -> None:
    for style in STYLES:
        plain, ran = style(perceptron())(), run(style(perceptron()), "init=he")
        assert ran.touches["init=he"] == {"Linear modules": 3}
        assert torch.equal(ran.value["random"], plain["random"])
        assert same(ran.value, run(style(perceptron()), "init=he").value)
        assert not torch.equal(ran.value["losses"][0], plain["losses"][0])

        def rewritten(style=style) -> nn.Module:
            model = perceptron()()
            from traindx.capture.torch.alter.random_state import generator

            reinitialize(model, "he", generator("init"))
            return model

        assert same(ran.value, style(rewritten)())


def test_init_is_refused_after_weights_were_loaded() -> None:
    weights = perceptron()().state_dict()

    def make() -> nn.Module:
        model = perceptron()()
        model.load_state_dict(weights)
        return model

    for style in STYLES:
        assert "has loaded weights" in run(style(make), "init=he").refused


def test_dropout_at_another_rate_is_the_same_as_written() -> None:
    for style in STYLES:
        script = style(perceptron(rate=0.2))
        for spec, rate in (("dropout=0.5", 0.5), ("dropout=*0.5", 0.1), ("dropout=*2", 0.4)):
            ran = run(script, spec)
            assert ran.touches[spec]["calls"] >= 12
            assert same(ran.value, style(perceptron(rate=rate))())
        for spec in ("dropout=*1", "dropout=0.2"):
            ran = run(script, spec)
            assert ran.unused == [spec]
            assert same(ran.value, script())


def test_dropout_taken_away_leaves_random_numbers_as_they_were() -> None:
    for style in STYLES:
        plain, ran = style(perceptron(rate=0.2))(), run(style(perceptron(rate=0.2)), "dropout=0")
        assert torch.equal(ran.value["random"], plain["random"])
        assert same(ran.value.get("batches"), plain.get("batches"))
        written = style(perceptron())()  # draws less: other batches from the second on
        assert torch.equal(ran.value["losses"][0], written["losses"][0])
        if style is by_hand:
            assert not torch.equal(ran.value["losses"][1], written["losses"][1])


def test_dropout_is_added_in_training_only_and_from_its_own_random_numbers() -> None:
    for style in STYLES:
        plain, ran = style(perceptron())(), run(style(perceptron()), "dropout=0.3")
        assert ran.touches["dropout=0.3"] == {"activations": 2}
        assert torch.equal(ran.value["random"], plain["random"])
        assert not torch.equal(ran.value["losses"][0], plain["losses"][0])
        assert run(style(perceptron()), "dropout=*2").unused == ["dropout=*2"]
    zeros: list[float] = []

    class Looking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(6, 2000), nn.Linear(2000, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = F.softplus(self.a(x))
            zeros.append(float((x == 0).double().mean()))
            return self.b(x)

    run(epochs(Looking), "dropout=0.3")
    share = 0.3
    for place, found in enumerate(zeros[1:]):  # the first is the trial pass
        training = place % 6 < 5 and place < 18
        tolerance = 5 * math.sqrt(share * (1 - share) / (32 * 2000))
        assert found == (pytest.approx(share, abs=tolerance) if training else 0), place


def test_dropout_of_attention_and_recurrent_layers() -> None:
    class Both(nn.Module):
        def __init__(self, rate: float) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, dropout=rate, batch_first=True)
            self.lstm, self.out = nn.LSTM(6, 6, 2, dropout=rate, batch_first=True), nn.Linear(6, 2)
            self.rate = rate

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x[:, None].repeat(1, 3, 1)
            x = self.attention(x, x, x, need_weights=False)[0]
            x = F.scaled_dot_product_attention(x, x, x, None, self.rate if self.training else 0.0)
            return self.out(self.lstm(x)[0][:, -1])

    for style in STYLES:
        ran = run(style(lambda: Both(0.2)), "dropout=0.4")
        assert set(ran.touches["dropout=0.4"]) == {"calls", "recurrent layers"}
        assert same(ran.value, style(lambda: Both(0.4))())
        assert same(run(style(lambda: Both(0.2)), "dropout=*1").value, style(lambda: Both(0.2))())


@pytest.mark.parametrize("kind", ["layer", "batch"])
def test_normalization_is_the_same_as_written(kind: str) -> None:
    norm = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d}[kind]

    def written() -> nn.Module:
        parts = list(perceptron()())
        return nn.Sequential(*parts[:1], norm(16), *parts[1:3], norm(16), *parts[3:])

    for style in STYLES:
        ran, wanted = run(style(perceptron()), f"normalize={kind}"), style(written)()
        assert ran.touches[f"normalize={kind}"] == {"layers": 2}
        assert "normalize_without_optimizer" not in ran.facts
        for key in ("losses", "validation", "outputs", "random"):
            assert same(ran.value[key], wanted[key]), key
        assert len(ran.value["weights"]) == len(wanted["weights"])
        ran = run(style(written), f"normalize={kind}")
        assert ran.unused == [f"normalize={kind}"]
        assert same(ran.value, wanted)


def test_normalization_of_images_and_sequences() -> None:
    class Images(nn.Module):
        def __init__(self, norms=(nn.Identity(), nn.Identity())) -> None:
            super().__init__()
            self.conv, self.mix, self.out = nn.Conv2d(1, 4, 2), nn.Linear(2, 3), nn.Linear(12, 2)
            self.norms = nn.ModuleList(copy.deepcopy(norms))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = F.relu(self.norms[0](self.conv(x.reshape(-1, 1, 2, 3)))).flatten(2)
            x = self.mix(x)
            x = self.norms[1](x.transpose(1, 2)).transpose(1, 2) if len(self.norms[1].state_dict()) else x
            return self.out(torch.tanh(x).flatten(1))

    for style in STYLES:
        ran = run(style(Images), "normalize=batch")
        wanted = style(lambda: Images((nn.BatchNorm2d(4), nn.BatchNorm1d(3))))()
        assert ran.touches["normalize=batch"] == {"layers": 2}
        for key in ("losses", "validation", "outputs"):
            assert same(ran.value[key], wanted[key]), key
        ran = run(style(Images), "normalize=layer")
        assert same(ran.value["losses"], style(lambda: Images((nn.GroupNorm(1, 4), Last(3))))()["losses"])


class Last(nn.LayerNorm):
    """Over the features of `[n, features, positions]`."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


def test_a_model_in_two_groups_keeps_them() -> None:
    groups = []

    def train() -> None:
        torch.manual_seed(0)
        model = perceptron()()
        weights, biases = ([p for p in model.parameters() if p.dim() == d] for d in (2, 1))
        optimizer = torch.optim.AdamW(
            [{"params": weights, "weight_decay": 0.1}, {"params": biases, "weight_decay": 0}]
        )
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        for _ in range(3):
            optimizer.zero_grad()
            entropy(model(X), Y).backward()
            optimizer.step()
            schedule.step()
        groups[:] = [len(group["params"]) for group in optimizer.param_groups]
        assert all(p in optimizer.state for p in model.parameters())

    run(train, "normalize=layer")
    assert groups == [3, 3 + 4]
