"""`traindx.check(model, loss, loader)`: checks of a model in a running Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import traindx
from traindx import pipeline
from traindx.errors import ConfigError

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from traindx.capture.torch.checks.rehearsal import Rehearsal, blank, permute_targets  # noqa: E402


def parts(last: tuple[Any, ...] = ()) -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    x = torch.randn(400, 12)
    y = (x @ torch.randn(12, 4)).argmax(1)
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, 40, shuffle=True, generator=torch.Generator().manual_seed(1))
    return (
        nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4), *last),
        nn.CrossEntropyLoss(),
        loader,
    )


def faster(parameters: Any) -> Any:
    return torch.optim.Adam(parameters, lr=1e-2)


def test_a_healthy_model_passes_and_stays_as_it_is() -> None:
    model, loss, loader = parts()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = torch.get_rng_state()
    found = traindx.check(model, loss, loader, optimizer=faster)
    assert [check.message for check in found.failed] == []
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    checks = {c.slug: c for c in found.report.checks}
    for slug in (
        "one-batch",
        "blank-inputs",
        "permuted-labels",
        "determinism",
        "samples-apart",
        "loss-falls",
    ):
        assert checks[slug].status == "passed", checks[slug].message
    assert "seeds" not in checks
    assert json.loads(found.to_json())["schema"] == "traindx.check/1"
    assert "Sanity experiments" in found.to_text()
    assert "Sanity experiments" in found.to_markdown()
    assert found.to_html().startswith("<!doctype html>")


def test_a_second_softmax_fails() -> None:
    model, loss, loader = parts((nn.Softmax(1),))
    found = traindx.check(model, loss, loader, only=["logits"])
    assert [check.slug for check in found.failed] == ["logits"]
    assert found.diagnosis.first.hypotheses[0].cause == "double-softmax"


def test_labels_that_do_not_belong_to_inputs() -> None:
    model, loss, _ = parts()
    torch.manual_seed(4)
    data = torch.utils.data.TensorDataset(torch.randn(400, 12), torch.randint(0, 4, (400,)))
    found = traindx.check(
        model, loss, torch.utils.data.DataLoader(data, 40), optimizer=lambda p: torch.optim.Adam(p, lr=3e-3), steps=200,
        only=["permuted-labels"],
    )  # fmt: skip
    (check,) = found.report.checks
    assert check.status == "failed", check.message


def test_no_hook_is_left() -> None:
    model, loss, loader = parts()
    original = torch.nn.functional.cross_entropy, torch.autograd.backward, torch.optim.Optimizer.zero_grad
    traindx.check(model, loss, loader, only=["logits"], steps=20)
    assert (
        torch.nn.functional.cross_entropy,
        torch.autograd.backward,
        torch.optim.Optimizer.zero_grad,
    ) == original
    assert not model._forward_hooks
    assert not model._forward_pre_hooks


def test_what_is_no_loader_is_said() -> None:
    model, loss, _ = parts()
    with pytest.raises(TypeError, match="pairs"):
        traindx.check(model, loss, [torch.randn(4, 12)], only=["logits"])
    with pytest.raises(TypeError, match="has no batch"):
        traindx.check(
            model, loss, iter([(torch.randn(4, 12), torch.zeros(4).long())]), only=["logits"], steps=5
        )
    with pytest.raises(ConfigError, match="did you mean 'logits'"):
        traindx.check(model, loss, [], only=["logit"])


def test_one_batch_is_always_the_same(tmp_path: Path) -> None:
    model, loss, loader = parts()
    for change in ("one batch", "one blank batch", "first steps"):
        Rehearsal(model, loss, loader, faster).run(tmp_path / change, 30, change)
        run = pipeline.read(tmp_path / change)
        assert run.points == 30
        assert (run.setup.number("batches_distinct") == 1) is (change != "first steps")


def test_permuted_labels_are_the_same_ones_elsewhere() -> None:
    _, _, loader = parts()
    torch.manual_seed(2)
    given = [(x, y) for x, y in loader]
    torch.manual_seed(2)
    found = [batch for batch, _ in zip(permute_targets(given), range(20), strict=False)]
    for (x, y), (x2, y2), (_, again) in zip(given, found, found[10:], strict=False):
        assert torch.equal(x, x2)
        assert torch.equal(y2, again)
        assert len(y) == len(y2)
    before, after = (torch.cat([y for _, y in part]) for part in (given, found[:10]))
    assert torch.equal(before.sort().values, after.sort().values)
    assert 0.1 < (before == after).float().mean() < 0.5


def test_blank_inputs_keep_their_shape() -> None:
    made = blank({"a": torch.ones(2, 3), "b": [torch.ones(2).long(), "text"]})
    assert torch.equal(made["a"], torch.zeros(2, 3))
    assert made["b"][0].dtype == torch.long
    assert made["b"][1] == "text"
