"""Lines that read from an accelerator: counted on a tensor that reports to be on one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.capture.launch.launching import PYTHON, SCRIPTS, environment, finished, launched  # noqa: E402
from traindx import pipeline  # noqa: E402
from traindx.capture.torch.discover.extras import COUNTED, READS  # noqa: E402

SCRIPT = SCRIPTS / "pretend_accelerator.py"


def test_reads_of_each_step_are_counted_with_their_lines(tmp_path: Path) -> None:
    plain = finished([PYTHON, str(SCRIPT), "each"], tmp_path, environment(""))
    done = launched("pretend_accelerator", tmp_path, command=[PYTHON, str(SCRIPT), "each"])
    assert done.status == 0, done.err.decode()[-2000:]
    assert done.out == plain.out  # the training is the same
    run = done.run()
    counts = run.series["calls/synchronize"].values
    assert len(counts) == COUNTED
    assert set(counts) == {4.0}  # item, float, if, cpu
    lines = SCRIPT.read_text().splitlines()
    places = re.findall(r"pretend_accelerator\.py:(\d+) \((\w+)\)", str(run.setup.known("synchronized_at")))
    assert len(places) == 3
    for number, way in places:
        text = {"item": ".item()", "float": "float(", "bool": "if loss >", "cpu": ".cpu()"}[way]
        assert text in lines[int(number) - 1]
    (seen,) = [f for f in pipeline.diagnose([run]).first.findings if f.slug == "host-waits-for-accelerator"]
    assert "4 times per step (" in seen.message


def test_reads_now_and_then_are_no_fault(tmp_path: Path) -> None:
    done = launched("pretend_accelerator", tmp_path, command=[PYTHON, str(SCRIPT), "seldom"])
    run = done.run()
    assert sorted(set(run.series["calls/synchronize"].values)) == [0.0, 4.0]
    assert "host-waits-for-accelerator" not in {f.slug for f in pipeline.diagnose([run]).first.findings}


def test_nothing_is_wrapped_on_a_processor(tmp_path: Path) -> None:
    done = launched("pretend_accelerator", tmp_path, command=[PYTHON, str(SCRIPT), "here"])
    assert "calls/synchronize" not in done.run().series


def test_every_read_exists() -> None:
    assert all(hasattr(torch.Tensor, name) for name in READS)
