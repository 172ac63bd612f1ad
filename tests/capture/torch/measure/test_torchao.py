"""Fake quantization as torchao writes it: layers that round their weights, and exported graphs (PT2E)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchao")

from torch import nn  # noqa: E402

import traindx  # noqa: E402
from traindx.vocabulary.run import Run  # noqa: E402


def recorded(model: Any, shape: tuple[int, ...], folder: Path) -> Run:
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    with traindx.watch(model, optimizer, out=folder):
        for _ in range(30):
            x = torch.randn(32, *shape)
            loss = nn.functional.cross_entropy(model(x), x.flatten(1).mean(1).gt(0).long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return traindx.read(folder)


def test_layers_of_torchao(tmp_path: Path) -> None:
    qat = pytest.importorskip("torchao.quantization.qat")
    from torchao.quantization import quantize_

    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    four = qat.IntxFakeQuantizeConfig(torch.int4, group_size=32)
    eight = qat.IntxFakeQuantizeConfig(torch.int8, "per_token", is_symmetric=False)
    quantize_(model, qat.QATConfig(weight_config=four, activation_config=eight, step="prepare"))
    run = recorded(model, (32,), tmp_path)
    assert run.setup.number("quantized_levels") == 16
    assert set(run.panels["quant/kept"].modules) == {"0", "2", "4"}
    assert run.panels["quant/kept"].values[-1] == pytest.approx([1, 1, 1], abs=0.05)
    assert run.panels["quant/gradient"].values[-1] == pytest.approx([1, 1, 1], abs=0.1)  # straight through


def test_an_exported_graph(tmp_path: Path) -> None:
    pt2e = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e")
    x86 = pytest.importorskip("torchao.quantization.pt2e.quantizer.x86_inductor_quantizer")

    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 2),
    )  # fmt: skip
    graph = torch.export.export(net, (torch.randn(32, 1, 8, 8),)).module()
    config = x86.get_default_x86_inductor_quantization_config(is_qat=True)
    run = recorded(
        pt2e.prepare_qat_pt2e(graph, x86.X86InductorQuantizer().set_global(config)), (1, 8, 8), tmp_path
    )
    assert run.setup.number("quantized_levels") in (255, 256)
    assert {"3", "5", "8"} <= set(run.panels["quant/kept"].modules)  # two of one shape are distinguished
    kept = dict(zip(run.panels["quant/kept"].modules, run.panels["quant/kept"].values[-1], strict=True))
    assert [kept[name] for name in ("3", "5")] == pytest.approx([1, 1], abs=0.05)
    assert {"5", "8"} <= set(run.panels["quant/act_clipped"].modules)
