"""Interventions on optimizers and loops: the same, to the last bit, as the change made in the script."""

from __future__ import annotations

import math
import random
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.capture.interventions.altering import run, same  # noqa: E402
from tests.capture.interventions.trainings import Gradients, Native, Setting, plain, trainer  # noqa: E402

NORM, VALUE = torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad_value_


def times(factor: float) -> Setting:
    return Setting("lr", lambda step, i, own: own * factor)


def cosine(step: int, i: int, own: float, base: float) -> float:
    return (base, 0.01)[i] * 0.5 * (1 + math.cos(math.pi * step / 8))


STEPS = {"steps": 8}
CHANGES: list[tuple[Any, str, Native, dict[str, int]]] = [
    (plain, "lr=*0.3", times(0.3), STEPS),
    (trainer, "lr=*0.3", times(0.3), STEPS),
    (plain, "lr=0.03", times(0.03 / 0.1), STEPS),
    (trainer, "lr=0.03", times(0.03 / 0.02), STEPS),
    (trainer, "lr=constant", Setting("lr", lambda step, i, own: (0.02, 0.01)[i]), {"steps": 5}),
    (plain, "lr=cosine:8", Setting("lr", partial(cosine, base=0.1)), {"steps": 7}),
    (trainer, "lr=cosine:8", Setting("lr", partial(cosine, base=0.02)), {"steps": 6}),
    (plain, "lr.warmup=4", Setting("lr", lambda step, i, own: own * min(1, (step + 1) / 4)), {"steps": 3}),
    (trainer, "lr.warmup=4", Setting("lr", lambda step, i, own: own * min(1, (step + 1) / 4)), {"steps": 3}),
    (plain, "weight_decay=0.2", Setting("weight_decay", lambda step, i, own: 0.2), STEPS),
    (trainer, "weight_decay=0.2", Setting("weight_decay", lambda step, i, own: (0.2, 0.0)[i]), STEPS),
    (trainer, "weight_decay=*3", Setting("weight_decay", lambda step, i, own: own * 3), STEPS),
    (plain, "momentum=0.5", Setting("momentum", lambda step, i, own: 0.5), STEPS),
    (partial(trainer, kind="RMSprop", settings={}), "momentum=0.5",
     Setting("momentum", lambda step, i, own: 0.5), STEPS),
    (trainer, "betas=0.5,0.7", Setting("betas", lambda step, i, own: (0.5, 0.7)), STEPS),
    (partial(plain, kind="NAdam", settings={"lr": 0.01}), "betas=0.5,0.7",
     Setting("betas", lambda step, i, own: (0.5, 0.7)), STEPS),
    (trainer, "eps=0.01", Setting("eps", lambda step, i, own: 0.01), STEPS),
    (partial(plain, kind="Adagrad", settings={"lr": 0.05}), "eps=0.01",
     Setting("eps", lambda step, i, own: 0.01), STEPS),
    (plain, "clip=0.1", Gradients(lambda p: NORM(p, 0.1)), STEPS),
    (trainer, "clip=0.1", Gradients(lambda p: NORM(p, 0.1)), STEPS),
    (plain, "clip.value=0.01", Gradients(lambda p: VALUE(p, 0.01)), STEPS),
    (trainer, "clip.value=0.01", Gradients(lambda p: VALUE(p, 0.01)), STEPS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("train", "spec", "native", "touched"), CHANGES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_setting_of_the_step(train: Any, spec: str, native: Native, touched: dict[str, int]) -> None:
    """The script's own rates, which are part of what it returns, are those of its own schedule."""
    ran = run(train, spec)
    expected = train(native)
    assert same(ran.value, expected)
    assert ran.touches == {spec: touched}
    assert not same(expected, train())


def test_limits_of_the_script_itself() -> None:
    assert same(run(trainer, "clip=*0.5").value, trainer(limit=0.1))
    ran = run(trainer, "clip=off")
    assert same(ran.value, trainer(limit=None))
    assert ran.touches == {"clip=off": {"calls": 8}}
    assert same(
        run(trainer, "clip=off", "clip=0.05").value, trainer(Gradients(lambda p: NORM(p, 0.05)), limit=None)
    )
    assert run(plain, "clip=*0.5").unused == ["clip=*0.5"]


def test_no_clipping_leaves_gradients_that_are_not_finite() -> None:
    """`clip_grad_norm_` with an infinite limit would make all of them NaN."""

    def train() -> list[Any]:
        weights = [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))]
        optimizer = torch.optim.SGD(weights, lr=1.0)
        weights[0].grad, weights[1].grad = torch.tensor([math.inf, 1.0]), torch.ones(2)
        norm = torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        return [norm, weights[0].tolist(), weights[1].tolist()]

    assert run(train, "clip=off").value == [math.inf, [-math.inf, 0.0], [0.0, 0.0]]


OPTIMIZERS = {
    "adam": ("Adam", {}), "adamw": ("AdamW", {}), "sgd": ("SGD", {}), "momentum": ("SGD", {"momentum": 0.9}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_another_optimizer(name: str) -> None:
    kind, more = OPTIMIZERS[name]
    if name == "momentum":  # is what the plain loop has
        assert run(plain, "optimizer=momentum").unused == ["optimizer=momentum"]
    else:
        assert same(
            run(plain, f"optimizer={name}").value,
            plain(kind=kind, settings={"lr": 0.1, "weight_decay": 0.0}),
        )
    ran = run(
        partial(trainer, kind="NAdam", settings={"weight_decay": 0.05}), f"optimizer={name}", "lr=*0.5"
    )
    assert same(ran.value, trainer(times(0.5), kind=kind, settings={"weight_decay": 0.05, **more}))
    assert ran.touches == {f"optimizer={name}": STEPS, "lr=*0.5": STEPS}
    assert ran.facts["optimizer"] == kind
    assert "optimizers" not in ran.facts


def test_steps_that_are_not_finite_are_left_out() -> None:
    for train in (plain, trainer, partial(plain, kind="Adam", settings={})):
        bad = partial(train, spoiled=3)
        ran = run(bad, "skip_nonfinite=on")
        expected = bad(skips=True)
        assert repr(ran.value[0]) == repr(expected[0])
        assert all(
            torch.equal(a, b) or bool(b.isnan().any())
            for a, b in zip(ran.value[1], expected[1], strict=True)
        )
        assert ran.touches == {"skip_nonfinite=on": {"steps": 1}}


def test_an_optimizer_that_needs_gradients_is_not_called_with_none() -> None:
    class Signs(torch.optim.Optimizer):
        def __init__(self, parameters: Any) -> None:
            super().__init__(parameters, {"lr": 0.5})

        @torch.no_grad()
        def step(self) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * p.grad.sign()

    def train() -> list[float]:
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = Signs([weight])
        for gradient in (1.0, math.nan, 1.0):
            weight.grad = torch.full((1,), gradient)
            optimizer.step()
        return weight.tolist()

    assert run(train, "skip_nonfinite=on").value == [-1.0]


def test_gradients_zeroed_after_each_step() -> None:
    ran = run(partial(plain, zero=False), "zero_grad=each-step")
    assert same(ran.value, plain())
    assert ran.touches == {"zero_grad=each-step": {"steps": 7}}
    assert same(run(partial(trainer, zero=False), "zero_grad=each-step").value, trainer())


def test_gradients_of_several_batches_are_averaged() -> None:
    ran = run(partial(plain, micro=4), "loss=/accumulation")
    divided = plain(micro=4, divide=4)
    assert same(ran.value[1], divided[1])  # the losses themselves are what they were
    assert ran.touches == {"loss=/accumulation": STEPS}
    assert run(partial(plain, micro=4, divide=4), "loss=/accumulation").unused
    across = run(partial(plain, every=2), "loss=/accumulation")
    assert same(across.value, plain(Halved(), every=2))
    assert across.touches == {"loss=/accumulation": {"steps": 4}}


class Halved(Native):
    """Of every second step."""

    def before(self, step: int, optimizer: Any) -> None:
        for p in optimizer.param_groups[0]["params"]:
            if step % 2:
                p.grad.div_(2)


def test_larger_batches_by_accumulation() -> None:
    ran = run(plain, "accumulate=2")
    assert same(ran.value, plain(Halved(), every=2))
    assert ran.touches == {"accumulate=2": {"steps": 4, "steps held back": 4}}
    assert ran.facts["accumulation"] == 2
    assert run(partial(trainer, zero=False), "accumulate=9").unused == []


def test_modes() -> None:
    forgets = run(partial(trainer, returns=False), "mode=train")
    assert same(forgets.value, trainer())
    assert forgets.touches == {
        "mode=train": {"calls": 10}
    }  # body and head of five steps, after the validation
    never = run(partial(trainer, evaluates=False), "eval_mode=eval")
    assert same(never.value, trainer())
    assert never.touches == {"eval_mode=eval": {"calls": 4}}


def test_what_is_frozen_or_unknown_is_trained() -> None:
    both = ("unfreeze=all", "register=all")
    ran = run(partial(plain, frozen=True), *both)
    assert same(ran.value, plain())
    assert ran.touches == {"unfreeze=all": {"tensors": 2, "parameters": 40}, "register=all": {}}
    assert same(run(partial(plain, frozen=True), "unfreeze=all").value, plain())
    assert not same(run(partial(plain, frozen=True), "register=all").value, plain())
    moved = run(partial(trainer, frozen=True), *both).value[1]
    start = trainer(frozen=True)[1]
    assert not torch.equal(moved[0], start[0])


def test_seeds() -> None:
    assert same(run(partial(plain, seed=7), "seed=3").value, plain(seed=3))
    assert same(run(partial(plain, seed=3), "seed=3").value, plain(seed=3))

    def draws() -> list[float]:
        random.seed(10)
        torch.manual_seed(12)
        return [random.random(), torch.rand(1).item()]

    expected = [random.Random(3).random(), torch.rand(1, generator=torch.Generator().manual_seed(5)).item()]
    assert run(draws, "seed=3").value == expected
    assert run(lambda: torch.rand(1).item(), "seed=5").value == expected[1]


def test_precision() -> None:
    half = torch.bfloat16
    ran = run(partial(plain, cast=half), "precision=float32")
    assert same(ran.value, plain())
    assert ran.touches == {"precision=float32": {"regions of autocast": 8}}
    ran = run(plain, "precision=bfloat16")
    assert same(ran.value, plain(model_cast=half))
    assert same(run(partial(plain, cast=torch.float16), "precision=bfloat16").value, plain(cast=half))

    def halves() -> list[Any]:
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2).half()
        return [
            model(torch.ones(4, 3).half()).dtype,
            model.weight.dtype,
            model.to(torch.float16).weight.dtype,
        ]

    assert run(halves, "precision=float32").value == [torch.float32] * 3
    assert run(halves, "precision=bfloat16").value == [half] * 3


IDENTITIES = (
    "lr=*1", "lr.warmup=0", "clip=1e30", "clip.value=1e30", "weight_decay=*1", "skip_nonfinite=on",
    "zero_grad=each-step", "loss=/accumulation", "accumulate=1", "mode=train", "eval_mode=eval", "unfreeze=all",
    "register=all", "steps=1000000", "precision=float32",
)  # fmt: skip


def test_identities_change_no_bit_and_say_so() -> None:
    for train, own in ((plain, ("momentum=0.9", "seed=5", "clip=*1", "lr=constant", "lr=0.1", "optimizer=momentum")),
                       (trainer, ("betas=0.9,0.999", "eps=1e-8", "seed=6", "clip=*1", "optimizer=adamw"))):  # fmt: skip
        specs = [spec for spec in (*IDENTITIES, *own) if not (spec == "lr=*1" and "lr=0.1" in own)]
        random.seed(0)
        expected = train()
        ran = run(train, *specs)
        assert same(ran.value, expected)
        left = {
            "seed=5": {"generators": 2},
            "seed=6": {"generators": 2},
        }  # Python's and NumPy's, not seeded there
        assert {spec: touched for spec, touched in ran.touches.items() if touched} == {
            spec: touched for spec, touched in left.items() if spec in specs
        }
        assert {ran.facts[f"intervention/{spec}"] for spec in specs if spec not in left} == {
            "changed nothing"
        }


def test_several_compose_in_their_order() -> None:
    """Gradients are checked, clipped by value, then by norm; rates are set, then warmed up."""

    class Both(Setting):
        def before(self, step: int, optimizer: Any) -> None:
            given = [p for group in optimizer.param_groups for p in group["params"]]
            VALUE(given, 0.05)
            NORM(given, 0.1)
            super().before(step, optimizer)

    native = Both("lr", lambda step, i, own: own * 0.5 * min(1.0, (step + 1) / 4))
    given = ("lr.warmup=4", "clip=0.1", "lr=*0.5", "clip.value=0.05", "skip_nonfinite=on")
    assert same(run(plain, *given).value, plain(native))
    assert same(run(plain, *reversed(given)).value, plain(native))
