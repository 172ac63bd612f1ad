"""Parameters that are spread over processes: what is recorded is the norm of the whole, against a copy that
is in one piece. And gradients that `torch.autograd.grad` gave."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.capture.launch.launching import PYTHON, SCRIPTS, alone, launched  # noqa: E402
from traindx import pipeline  # noqa: E402


def sharded(clips: bool) -> list[str]:
    port = str(29500 + (os.getpid() + 7) % 2000)
    torchrun = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", port]
    return [PYTHON, *torchrun, str(SCRIPTS / "two_shards.py"), *(["clip"] if clips else [])]


@pytest.mark.parametrize("clips", [False, True], ids=["plain", "clipped"])
def test_the_norm_of_gradients_in_two_processes_is_that_of_the_whole(clips: bool, tmp_path: Path) -> None:
    done = launched("two_shards", tmp_path, command=sharded(clips))
    assert done.status == 0, done.err.decode()[-2000:]
    run = done.run()
    np.testing.assert_allclose(
        run.series["grad_norm"].values, done.truth("truth0.json")["grad_norm"], rtol=1e-5
    )
    assert not [name for name in run.series if "grad_norm_part" in name]
    assert not [event for event in run.events if event.code == "capture-failed"]
    if not clips:
        assert run.setup.flag("grad_norm_is_local") is False
    else:
        np.testing.assert_allclose(
            run.series["clip_ratio"].values, 0.2 / (run.series["grad_norm"].values + 1e-6), rtol=1e-5
        )


def test_a_part_alone_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    done = launched("two_shards", tmp_path, command=sharded(False))
    for file in (tmp_path / "run").glob("steps-1-*"):
        file.unlink()
    (run,) = pipeline.read_capture(tmp_path / "run")
    assert "grad_norm" not in run.series
    assert run.setup.flag("grad_norm_is_local") is True
    assert (run.series["grad_norm_part"].values < done.truth("truth0.json")["grad_norm"]).all()
    assert [event.message for event in run.events if event.code == "norm-of-part"] == [
        "gradient norms are those of the parts of 1 of 2 processes"
    ]


@pytest.mark.parametrize("way", ["by hand", "optimizer"])
def test_gradients_without_backward(way: str, tmp_path: Path) -> None:
    command = [PYTHON, str(SCRIPTS / "autograd_grad.py"), *([way] if way == "optimizer" else [])]
    done = launched("autograd_grad", tmp_path, command=command)
    plain = alone("autograd_grad", tmp_path / "alone", command=command)
    assert (done.status, plain.status) == (0, 0), done.err.decode()[-2000:]
    assert (done.folder / "weights.pt").read_bytes() == (plain.folder / "weights.pt").read_bytes()
    run, truth = done.run(), done.truth()
    assert run.series["train/loss"].values.tolist() == truth["loss"]
    np.testing.assert_allclose(run.series["grad_norm"].values, truth["grad_norm"], rtol=1e-5)
    assert run.setup.word("gradients_from") == "torch.autograd.grad"
    assert run.setup.word("where/backward") == "autograd_grad.py:19"
    assert run.setup.number("optimizer_steps") == 25
    assert run.setup.number("parameters_without_gradient") == 0
    assert run.setup.number("zero_grad_missing_steps") == 0
    assert run.setup.word("optimizer") == ("sgd" if way == "optimizer" else "by hand")
