"""Interventions in loops of other kinds: two optimizers, closures, loss scaling, hidden parameters, errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from tests.capture.interventions.altering import run, same  # noqa: E402

NORM = torch.nn.utils.clip_grad_norm_


def weights(*models: Any) -> list[Any]:
    return [p.detach().clone() for model in models for p in model.parameters()]


def adversaries(factor: float = 1.0, zero: bool = True) -> list[Any]:
    """Two models, two optimizers."""
    torch.manual_seed(1)
    maker, judge = nn.Linear(2, 2), nn.Linear(2, 1)
    first = torch.optim.SGD(judge.parameters(), lr=0.1 * factor)
    second = torch.optim.Adam(maker.parameters(), lr=0.02 * factor)
    for _ in range(5):
        made = maker(torch.randn(8, 2))
        loss = (judge(torch.randn(8, 2) + 1) - judge(made.detach())).mean()
        first.zero_grad()
        loss.backward()
        first.step()
        if zero:
            second.zero_grad()
        judge(made).mean().backward()
        second.step()
    return weights(maker, judge)


def closures(
    kind: Any, lr: float = 0.1, limit: float | None = None, zero: bool = True, steps: int = 4
) -> list[Any]:
    torch.manual_seed(2)
    model, x = nn.Linear(3, 1), torch.randn(20, 3)
    optimizer = (getattr(torch.optim, kind) if isinstance(kind, str) else kind)(model.parameters(), lr=lr)

    def closure() -> torch.Tensor:
        if zero:
            optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        if limit is not None:
            NORM(model.parameters(), limit)
        return loss

    return [*(optimizer.step(closure).item() for _ in range(steps)), *weights(model)]


class Twice(torch.optim.SGD):
    """The closure is called twice in a step, as sharpness-aware optimizers do."""

    @torch.enable_grad()
    def step(self, closure: Any = None) -> Any:
        closure()
        return super().step(closure)


def scaled(scale: float | None, limit: float | None = None, **more: Any) -> list[Any]:
    """With a scaler, and (without one) its own limit. `fused` takes the scale out by itself."""
    torch.manual_seed(3)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, **more)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale or 1.0, enabled=scale is not None)
    for _ in range(4):
        x = torch.randn(16, 4)
        optimizer.zero_grad()
        scaler.scale(nn.functional.mse_loss(model(x), x[:, :2])).backward()
        if limit is not None:
            NORM(model.parameters(), limit)
        scaler.step(optimizer)
        scaler.update()
    return weights(model)


def test_two_optimizers_are_both_changed() -> None:
    ran = run(adversaries, "lr=*0.5")
    assert same(ran.value, adversaries(0.5))
    assert ran.touches == {"lr=*0.5": {"steps": 10}}
    assert same(run(partial(adversaries, zero=False), "zero_grad=each-step").value, adversaries())
    ran = run(
        adversaries,
        "zero_grad=each-step",
        "loss=/accumulation",
        "mode=train",
        "unfreeze=all",
        "register=all",
    )
    assert same(ran.value, adversaries())


def test_steps_with_closures() -> None:
    assert same(run(partial(closures, "SGD"), "clip=0.1").value, closures("SGD", limit=0.1))
    assert same(run(partial(closures, "SGD", zero=False), "zero_grad=each-step").value, closures("SGD"))
    assert same(run(partial(closures, "LBFGS", zero=False), "zero_grad=each-step").value, closures("LBFGS"))
    assert same(run(partial(closures, "LBFGS"), "lr=*0.5").value, closures("LBFGS", 0.05))
    adam = run(partial(closures, "SGD"), "optimizer=adam")
    assert same(adam.value, closures("Adam"))
    half = run(partial(closures, "SGD"), "accumulate=2")
    assert half.touches == {"accumulate=2": {"steps": 2, "steps held back": 2}}
    assert same(half.value[4:], closures("SGD", steps=2)[2:])  # the mean of twice the same gradient


def test_optimizers_that_call_their_closure_several_times() -> None:
    ran = run(partial(closures, Twice), "clip=0.1", "lr=*0.5")
    assert same(ran.value, closures(Twice, lr=0.05, limit=0.1))
    assert ran.touches == {"clip=0.1": {"steps": 8}, "lr=*0.5": {"steps": 4}}
    assert "inside of its step" in run(partial(closures, Twice), "accumulate=2").refused


@pytest.mark.parametrize("spec", ["clip=1.0", "skip_nonfinite=on", "optimizer=adam", "accumulate=2"])
def test_what_makes_no_sense_with_a_line_search_is_refused(spec: str) -> None:
    ran = run(partial(closures, "LBFGS"), spec)
    assert "LBFGS" in ran.refused
    assert ran.refused.startswith(f"{spec} cannot be applied: ")


def test_settings_that_an_optimizer_has_not() -> None:
    assert "LBFGS has no weight_decay" in run(partial(closures, "LBFGS"), "weight_decay=0.1").refused
    assert "Adam has no momentum; it has betas" in run(partial(closures, "Adam"), "momentum=0.9").refused
    assert "SGD has no betas" in run(partial(closures, "SGD"), "betas=0.9,0.99").refused
    assert "number of steps" in run(partial(closures, "SGD"), "lr.warmup=0.1").refused


def test_gradients_are_clipped_without_the_loss_scale() -> None:
    """A power of two changes no digits, so that the scaled training equals the plain one."""
    expected = scaled(None, 0.05)
    assert not same(expected, scaled(None))
    for more in ({}, {"fused": True}):
        plain = scaled(None, 0.05, **more)
        assert same(run(partial(scaled, 1024.0, **more), "clip=0.05").value, plain)
        assert same(run(partial(scaled, 1024.0, **more), "clip=1e30").value, scaled(None, **more))
    assert same(run(partial(scaled, 1024.0), "precision=float32").value, scaled(None))


def by_hand() -> None:
    weight = torch.ones(2, requires_grad=True)
    for _ in range(4):
        (weight**2).sum().backward()
        with torch.no_grad():
            weight -= 0.1 * weight.grad
            weight.grad = None


def test_a_script_without_an_optimizer_is_refused() -> None:
    for spec in ("lr=*0.1", "clip=1", "optimizer=adam", "accumulate=2"):
        assert "no optimizer object seen" in run(by_hand, spec).refused
    assert run(by_hand, "seed=0", "precision=float32").refused == ""


class Hidden(nn.Module):
    """Layers in a plain list are not known to their model."""

    def __init__(self) -> None:
        super().__init__()
        self.layers, self.head = [nn.Linear(3, 3) for _ in range(2)], nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
        return self.head(x)


def hidden(known: bool) -> list[Any]:
    torch.manual_seed(4)
    model = Hidden()
    more = [p for layer in model.layers for p in layer.parameters()] if known else []
    optimizer = torch.optim.Adam([*model.parameters(), *more], lr=0.05)
    for _ in range(5):
        optimizer.zero_grad() if known else model.zero_grad()
        model(torch.randn(8, 3)).pow(2).mean().backward()
        optimizer.step()
    return weights(model, *model.layers)


def test_layers_in_a_plain_list_are_trained() -> None:
    ran = run(partial(hidden, False), "register=all")
    assert same(ran.value, hidden(True))
    assert ran.touches == {"register=all": {"tensors": 4, "parameters": 24}}
    assert run(partial(hidden, True), "register=all").unused == ["register=all"]


def embedding() -> None:
    table = nn.Embedding(5, 2, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    table(torch.tensor([1, 2])).sum().backward()
    optimizer.step()


def test_a_failure_inside_is_reported_with_its_place() -> None:
    """Adam takes no sparse gradients: the experiment is over, and not silently another one."""
    with pytest.raises(RuntimeError, match="sparse"):
        run(embedding, "optimizer=adam")


def own_error(where: str) -> Callable[[], None]:
    def train() -> None:
        model = nn.Linear(2, 1)
        model.register_forward_hook(lambda *_: 1 / 0 if where == "call" else None)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def closure() -> torch.Tensor:
            if where == "closure":
                raise KeyError("mine")
            loss = model(torch.ones(1, 2)).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    return train


def test_errors_of_the_script_stay_its_own() -> None:
    specs = ("mode=train", "eval_mode=eval", "clip=1", "lr=*0.5", "precision=bfloat16")
    with pytest.raises(ZeroDivisionError):
        run(own_error("call"), *specs)
    with pytest.raises(KeyError, match="mine"):
        run(own_error("closure"), *specs)
