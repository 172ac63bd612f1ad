"""The reported memory of a step, against the peaks of the allocator in real steps of the optimizer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

from tests.cli.process import traindx

NETS: dict[str, tuple[str, tuple[int, ...]]] = {
    "mlp": (
        "nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))",
        (256,),
    ),
    "convolutions": (
        "nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Conv2d(24, 48, 3, stride=2), "
        "nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10))",
        (3, 24, 24),
    ),
    "attention": (
        "nn.Sequential(nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3, "
        "enable_nested_tensor=False), nn.Flatten(), nn.Linear(64 * 32, 10))",
        (32, 64),
    ),
    "deep": (
        "nn.Sequential(nn.Linear(64, 256), *[m for _ in range(16) for m in (nn.Linear(256, 256), nn.GELU())], "
        "nn.Linear(256, 10))",
        (64,),
    ),
}
SCRIPT = """
import torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
model = {net}
optimizer = torch.optim.{optimizer}
for _ in range(9):
    x, y = torch.randn({batch}, *{shape}), torch.randint(0, 10, ({batch},))
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
OPTIMIZERS = ("Adam(model.parameters())", "SGD(model.parameters(), lr=0.01)")


def measured(
    net: str, shape: tuple[int, ...], optimizer: str, batch: int, way: str = "", parts: int = 1
) -> float:
    """Bytes at the highest point of a real third step: of the pass through the model, with everything allocated. `way`:
    with autocast, with checkpoints; `parts`: of the batch, one after the other."""
    torch.manual_seed(0)
    names: dict[str, Any] = {"nn": nn}
    names["model"] = model = eval(net, names)
    made = eval(f"torch.optim.{optimizer}", {"torch": torch, "model": model})
    x, y = torch.randn(batch, *shape), torch.randint(0, 10, (batch,))

    def passes() -> None:
        made.zero_grad()
        for inputs, targets in zip(x.chunk(parts), y.chunk(parts), strict=True):
            with torch.autocast("cpu", torch.bfloat16, enabled=way == "bfloat16"):
                out = (
                    checkpoint_sequential(model, 4, inputs, use_reentrant=False)
                    if way == "again"
                    else model(inputs)
                )
                loss = torch.nn.functional.cross_entropy(out, targets)
            (loss / parts).backward()

    for _ in range(2):
        passes()
        made.step()
    made.zero_grad()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profiler:
        passes()
    events = profiler.profiler.kineto_results.events()  # type: ignore[union-attr]
    used = highest = 0
    for _, change in sorted((e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]"):
        used += change
        highest = max(highest, used)
    states = [t for s in made.state.values() for t in s.values() if isinstance(t, torch.Tensor)]
    standing = [*model.parameters(), *model.buffers(), *states]
    return float(highest + sum(t.numel() * t.element_size() for t in standing))


def printed(tmp_path: Path, name: str, optimizer: str, batch: int, *options: str) -> dict[str, Any]:
    net, shape = NETS[name]
    (tmp_path / "train.py").write_text(SCRIPT.format(net=net, shape=shape, optimizer=optimizer, batch=batch))
    done = traindx(
        "memory", "-f", "json", *options, "--", sys.executable, "train.py", cwd=tmp_path,
        env={"PYTHONWARNINGS": "", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    (run,) = json.loads(done.out)["runs"]
    return run  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "optimizer"),
    list(zip(("mlp", "convolutions", "attention"), (*OPTIMIZERS, OPTIMIZERS[0]), strict=True)),
)
def test_peaks_of_this_batch_and_of_others(tmp_path: Path, name: str, optimizer: str) -> None:
    found = printed(tmp_path, name, optimizer, 16)["memory"]
    net, shape = NETS[name]
    assert found["needed"] == pytest.approx(measured(net, shape, optimizer, 16), rel=0.1)
    for batch in (4, 64, 256):
        line = found["standing"] + found["fixed"] + found["per_sample"] * batch
        assert line == pytest.approx(measured(net, shape, optimizer, batch), rel=0.25), batch


def test_what_does_not_fit_and_what_would(tmp_path: Path) -> None:
    run = printed(tmp_path, "attention", OPTIMIZERS[0], 64, "--limit", "30MB")
    found, first = run["memory"], run["memory"]["options"][0]
    assert run["findings"][0]["slug"] == "memory-too-small"
    assert run["decision"]["action"] == "inspect"
    assert found["needed"] > 30e6
    assert 0 < found["largest"] < 64
    assert first["fits"] is True
    net, shape = NETS["attention"]
    assert measured(net, shape, OPTIMIZERS[0], found["largest"]) < 30e6
    assert measured(net, shape, OPTIMIZERS[0], round(1.3 * found["largest"])) > 0.95 * 30e6
    half = next(o for o in found["options"] if "bfloat16" in o["change"])
    assert half["bytes"] < found["needed"]


def test_other_ways_to_make_the_same_step(tmp_path: Path) -> None:
    """Weights and gradients are most of this net: while parts of a batch are gathered, all gradients stay allocated."""
    found = printed(tmp_path, "deep", OPTIMIZERS[0], 256)["memory"]["options"]
    options = {one["change"].split(" ")[0]: one["bytes"] for one in found}
    net, shape = NETS["deep"]
    assert options["batches"] == pytest.approx(measured(net, shape, OPTIMIZERS[0], 256, parts=2), rel=0.05)
    assert options["the"] == pytest.approx(measured(net, shape, OPTIMIZERS[0], 256, "bfloat16"), rel=0.05)
    assert options["activations"] == pytest.approx(
        measured(net, shape, OPTIMIZERS[0], 256, "again"), rel=0.15
    )


def test_it_fits(tmp_path: Path) -> None:
    run = printed(tmp_path, "mlp", OPTIMIZERS[0], 8)
    assert (run["health"], run["findings"]) == ("healthy", [])
