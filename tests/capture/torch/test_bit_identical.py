"""Training is the same to the last bit with and without capture, and nothing remains attached."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.optim import optimizer as optimizers  # noqa: E402

import traindx  # noqa: E402
from tests.capture.torch import loops  # noqa: E402
from tests.capture.torch.loops import Loop  # noqa: E402
from traindx.capture.torch.hooks import CALLS  # noqa: E402

STEPS = 12
OPTIONS = ({"every": 1}, {"every": 5}, {}, {"every": 1, "updates": False})
NAMES = ("every step", "every fifth", "adaptive", "no copies")


def run(make: Callable[[], Loop], folder: Path | None, **options: object) -> list[bytes]:
    """The bytes of everything that training changes after STEPS steps."""
    torch.manual_seed(3)
    random.seed(4)
    np.random.seed(5)
    loop = make()
    if folder is None:
        for _ in range(STEPS):
            loop.step(lambda loss: None)
    else:
        own = sum(map(hooks, loop.models)), sum(map(step_hooks, loop.optimizers))
        with traindx.watch(loop.models, loop.optimizers, out=folder, scaler=loop.scaler, **options) as watch:
            for _ in range(STEPS):
                loop.step(lambda loss: watch.log(loss=loss))
                assert watch.session.active
                assert (sum(map(hooks, loop.models)), sum(map(step_hooks, loop.optimizers))) == own
            assert CALLS
        assert not CALLS
        assert torch.nn.Module.__call__.__code__ is CALLS.plain
        assert not optimizers._global_optimizer_pre_hooks
        assert not optimizers._global_optimizer_post_hooks
        assert torch.autograd.backward.__code__.co_filename == torch.autograd.__file__
    state = [
        t.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
        for t in loop.state()
        if t.numel()
    ]
    return [*state, str(random.getstate()).encode(), np.random.get_state()[1].tobytes()]


def hooks(model: torch.nn.Module) -> int:
    """Hooks on a model, its modules and its parameters."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    on_modules = sum(len(getattr(m, kind)) for m in model.modules() for kind in kinds)
    return on_modules + sum(len(p._backward_hooks or ()) for p in model.parameters())


def step_hooks(optimizer: torch.optim.Optimizer) -> int:
    return len(optimizer._optimizer_step_pre_hooks) + len(optimizer._optimizer_step_post_hooks)


@pytest.fixture
def nothing_left() -> Iterator[None]:
    def files() -> set[str]:
        found = {
            os.readlink(f"/proc/self/fd/{n}")
            for n in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{n}")
        }
        return {name for name in found if name.startswith("/")}

    gc.collect()
    before, threads = files(), set(threading.enumerate())
    yield
    gc.collect()
    assert files() - before == set()
    assert set(threading.enumerate()) == threads


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
@pytest.mark.parametrize("make", loops.LOOPS, ids=lambda f: f.__name__)
def test_the_same_to_the_last_bit(
    make: Callable[[], Loop], options: dict[str, object], tmp_path: Path
) -> None:
    assert run(make, tmp_path, **options) == run(make, None)
    recorded = traindx.read(tmp_path)
    assert recorded.complete
    assert len(recorded.series["lr"]) == len(recorded.series["grad_norm"]) >= STEPS - 1
    assert np.isfinite(recorded.series["grad_norm"].values).all()
    assert ("skipped_steps" in recorded.series) == (make is loops.amp)
    assert not [e for e in recorded.events if e.code == "capture-failed"]


def test_it_would_notice_a_random_number() -> None:
    def with_a_draw() -> Loop:
        loop = loops.mlp()
        inner = loop.step
        loop.step = lambda log: inner(lambda loss: torch.rand(1))
        return loop

    assert run(with_a_draw, None) != run(loops.mlp, None)


def test_compiled(tmp_path: Path) -> None:
    torch._dynamo.reset()
    try:
        torch.compile(lambda x: x + 1)(torch.ones(2))
    except Exception as error:  # noqa: BLE001 - a compiler that is not there fails in many ways
        pytest.skip(f"torch.compile does not work here: {type(error).__name__}")
    try:
        assert run(loops.compiled, tmp_path, every=1) == run(loops.compiled, None)
        recorded = traindx.read(tmp_path)
        assert recorded.panels["grad_norm"].modules
        assert recorded.setup.flag("compiled")
    finally:
        torch._dynamo.reset()
