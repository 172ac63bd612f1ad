"""Every signal that capture writes is declared once, and its panels say what a plain computation says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx.capture.signals import catalogue, parameter_families
from traindx.capture.signals.family import Cost, Modules
from traindx.causes.catalogue import catalogue as causes
from traindx.vocabulary.signals import SIGNALS

CAPTURE = Path(traindx.__file__).parent / "capture"
FAMILIES = catalogue()
NAMED = {kind.name for kind in SIGNALS}
DERIVED = {"grad_norm", "grad_norm_part"}  # of all modules together
MODULES = Modules("a\nb", np.array([0, 1, 0]), np.array([2.0, 4.0, 6.0]))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.kind)
def test_a_family_is_declared_in_the_words_of_the_vocabulary(family: object) -> None:
    assert isinstance(family, type(FAMILIES[0]))
    for name in set(family.signals) - NAMED:
        raise AssertionError(f"add a SignalKind for {name} to traindx/vocabulary/signals.py")
    assert set(family.asks) <= {cause.slug for cause in causes()}
    assert family.cost.fixed > 0
    assert family.apart >= 1
    if family.shape == "by module":
        assert all(name.endswith("/<module>") for name in set(family.signals) - DERIVED)


def test_every_parameter_signal_has_a_reader() -> None:
    for family in parameter_families():
        name = f"traindx.capture.torch.measure.by_parameter.{family.kind}"
        file = name.replace(".", "/") + ".py"
        assert importlib.util.find_spec(name), f"{family.kind}: add {file} with read(parameters, elsewhere)"


def test_every_panel_is_measured_by_a_framework() -> None:
    """By the text of the modules: importing them needs the frameworks."""
    rooms = [path for path in CAPTURE.rglob("*.py") if path.parent.name != "signals"]
    text = "".join(path.read_text(encoding="utf-8") for path in rooms)
    for family in FAMILIES:
        if family.panels is not None and not family.by_parameter:
            file = CAPTURE / f"torch/measure/by_pass/{family.kind}.py"
            add = f"add {file.relative_to(CAPTURE.parents[1])} with an Observer"
            assert file.exists() or f'"{family.kind}"' in text, f"no framework measures {family.kind}: {add}"


def test_each_signal_is_measured_by_one_family() -> None:
    every = [name for family in FAMILIES for name in family.signals]
    assert len(every) == len(set(every))


def test_whatever_a_recording_holds_is_declared(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    with traindx.watch(model, optimizer, out=tmp_path, every=1) as watch:
        for _ in range(30):
            x, y = torch.randn(32, 6), torch.randint(0, 3, (32,))
            watch.batch(x, y)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            watch.log(loss=loss, val_loss=1.0)
            optimizer.step()
    run = traindx.read(tmp_path)
    declared = {name for family in FAMILIES for name in family.signals}
    assert set(run.series) <= declared
    assert {f"{name}/<module>" for name in run.panels} <= declared


def test_norms_add_up_in_squares_by_module() -> None:
    gradients = next(f for f in FAMILIES if f.kind == "gradients")
    assert gradients.panels is not None
    found = {name: values for name, _, values in gradients.panels(MODULES, np.array([9.0, np.inf, 16.0]))}
    assert found["grad_norm"].tolist() == [5.0, np.inf]
    assert found["grad_nonfinite"].tolist() == [0.0, 1.0]


def test_shares_are_weighted_by_size_and_unknown_where_nothing_was_read() -> None:
    zeros = next(f for f in FAMILIES if f.kind == "zeros")
    assert zeros.panels is not None
    ((_, names, values),) = zeros.panels(MODULES, np.array([0.5, np.nan, 1.0]))
    assert names == "a\nb"
    assert values[0] == pytest.approx((0.5 * 2 + 1.0 * 6) / 8)
    assert np.isnan(values[1])


def test_weights_are_read_of_every_parameter() -> None:
    (weights,) = (f for f in parameter_families() if f.kind == "weights")
    assert weights.panels is not None
    found = {n: v for n, _, v in weights.panels(MODULES, np.array([3.0, 2.0, 4.0, 1.0, 7.0, 5.0]))}
    assert found["weight_norm"].tolist() == [5.0, 2.0]
    assert found["weight_absmax"].tolist() == [5.0, 7.0]


def test_a_cost_is_the_sum_of_its_parts() -> None:
    assert Cost(10.0, each=2.0, value=0.5).seconds(3, 1000) == pytest.approx(
        10e-6 + 3 * 2e-6 + 1000 * 0.5e-9
    )
