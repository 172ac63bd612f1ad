"""Unmodified scripts written with other libraries, and with more of PyTorch: each is run under capture and as
itself. Both end the same way and compute the same numbers, these are recovered, and of a healthy run nothing is said."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import NamedTuple

import numpy as np
import pytest

from tests.capture.launch.launching import Launched, alone, launched
from tests.capture.launch.styles_frameworks import FRAMEWORKS
from traindx import pipeline

pytest.importorskip("torch")

TIMES = re.compile(rb"'(\w+_runtime|\w+_per_second)': '?[0-9.e+-]+'?")


class Both(NamedTuple):
    recorded: Launched
    alone: Launched


@pytest.fixture(scope="module", params=FRAMEWORKS)
def script(request, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Both]:
    name = request.param
    needs = FRAMEWORKS[name].needs
    if needs and importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    folder = tmp_path_factory.mktemp(name)
    return name, Both(launched(name, folder / "recorded"), alone(name, folder / "alone"))


def test_the_script_did_not_notice(script) -> None:
    _, both = script
    assert both.alone.status == 0, both.alone.err.decode()
    assert both.recorded.status == 0, both.recorded.err.decode()
    assert TIMES.sub(b"", both.recorded.out) == TIMES.sub(b"", both.alone.out)
    assert b"traindx" not in both.recorded.err


def test_its_results_are_the_same_to_the_last_bit(script) -> None:
    _, both = script
    results = [*both.alone.folder.glob("truth*.json"), *both.alone.folder.glob("weights*.pt")]
    assert results
    for file in results:
        assert (both.recorded.folder / file.name).read_bytes() == file.read_bytes(), file.name


def test_its_numbers_and_its_setup_are_recovered(script) -> None:
    name, both = script
    style, run = FRAMEWORKS[name], both.recorded.run()
    truth = both.recorded.truth(style.truth)
    for signal, key in style.signals.items():
        assert signal in run.series, f"{signal} is not among {sorted(run.series)}"
        loose = 1e-6 if signal.startswith("val/") else 2e-7
        np.testing.assert_allclose(
            run.series[signal].values, truth[key], rtol=loose, atol=loose, err_msg=signal
        )
    assert run.series["train/loss"].steps.tolist() == list(range(1, len(truth["loss"]) + 1))
    assert {key: run.setup.known(key) for key in style.facts} == style.facts


def test_its_modules_are_recorded(script) -> None:
    name, both = script
    panels = both.recorded.run().panels
    assert np.isfinite(panels["grad_norm"].values).all()
    assert np.nanmin(panels["weight_norm"].values, 0).min() > 0
    assert ("act_std" in panels) == (name != "compiled_epochs")


def test_nothing_is_said_of_a_healthy_run(script) -> None:
    _, both = script
    found = pipeline.diagnose(both.recorded.run()).first
    assert [f.slug for f in found.findings if f.severity not in ("low", "info")] == []
    assert found.health in ("healthy", "watch")


def test_every_rank_is_recorded(script) -> None:
    name, both = script
    style, run = FRAMEWORKS[name], both.recorded.run()
    ranks = [signal for signal in run.series if signal.startswith("rank/1/")]
    assert bool(ranks) == (style.start == "torchrun")
    if ranks:
        truth = json.loads((both.recorded.folder / "truth1.json").read_text())
        np.testing.assert_allclose(run.series["rank/1/train/loss"].values, truth["loss"], rtol=2e-7)
