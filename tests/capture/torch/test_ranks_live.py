"""Several processes on gloo, healthy and with faults: what is seen of each rank, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.capture.launch.launching import PYTHON, SCRIPTS, Launched, launched  # noqa: E402
from traindx import pipeline  # noqa: E402
from traindx.vocabulary.run import Run  # noqa: E402

DST = (
    "rank-straggles",
    "ranks-disagree",
    "rank-stops-reporting",
    "ranks-see-same-data",
    "gradients-are-not-averaged",
)


def trained(tmp_path: Path, script: str, *words: str, ranks: int = 2) -> Launched:
    free = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # a port that nobody has
    start = [PYTHON, "-m", "torch.distributed.run", "--nproc_per_node", str(ranks), *free]
    return launched(script, tmp_path, command=[*start, str(SCRIPTS / "ranks" / f"{script}.py"), *words])


def found(run: Run) -> set[str]:
    """The findings about processes."""
    return {finding.slug for finding in pipeline.diagnose([run]).first.findings if finding.slug in DST}


@pytest.mark.parametrize("ranks", [2, 4])
def test_healthy_ranks(tmp_path: Path, ranks: int) -> None:
    done = trained(tmp_path, "ranks_with_faults", "none", ranks=ranks)
    assert done.status == 0, done.err.decode()[-2000:]
    run = done.run()
    assert run.setup.number("world_size") == ranks
    for rank in range(1, ranks):
        assert len(run.series[f"rank/{rank}/train/loss"]) == 60
        np.testing.assert_array_equal(
            run.series[f"rank/{rank}/grad_norm"].values, run.series["grad_norm"].values
        )
    assert found(run) <= {"rank-straggles"}  # of a machine with fewer processors than ranks


def test_the_global_batch_is_reported_with_its_learning_rate(tmp_path: Path) -> None:
    done = trained(tmp_path, "ranks_with_faults", "none", ranks=2)
    diagnosis = pipeline.diagnose([done.run()]).first
    (seen,) = [f for f in diagnosis.findings if f.slug == "batch-grows-with-ranks"]
    assert seen.severity == "info"
    assert "2 processes with 8 samples each make a batch of 16" in seen.message


@pytest.mark.parametrize(
    ("fault", "ranks", "times"),
    [("summed", 2, 2.0), ("summed", 4, 4.0), ("summing hook", 2, 2.0), ("divided twice", 4, 0.25)],
)
def test_a_wrong_mean_is_reported_with_its_factor(
    tmp_path: Path, fault: str, ranks: int, times: float
) -> None:
    done = trained(tmp_path, "ranks_with_faults", fault, ranks=ranks)
    assert done.status == 0, done.err.decode()[-2000:]
    diagnosis = pipeline.diagnose([done.run()]).first
    (seen,) = [f for f in diagnosis.findings if f.slug == "gradients-are-not-averaged"]
    assert seen.severity == "medium"
    assert seen.evidence[0].value == pytest.approx(times, rel=1e-4)


def test_a_sum_changes_little_for_adam(tmp_path: Path) -> None:
    diagnosis = pipeline.diagnose([trained(tmp_path, "ranks_with_faults", "summed with Adam").run()]).first
    (seen,) = [f for f in diagnosis.findings if f.slug == "gradients-are-not-averaged"]
    assert seen.severity == "low"


@pytest.mark.parametrize("way", ["by hand", "loss divided", "clipped"])
def test_a_mean_is_no_fault(tmp_path: Path, way: str) -> None:
    done = trained(tmp_path, "ranks_with_faults", way)
    assert done.status == 0, done.err.decode()[-2000:]
    run = done.run()
    assert len(run.series["rank/1/exchange/own"]) >= 30
    assert found(run) <= {"rank-straggles"}


@pytest.mark.parametrize(
    ("fault", "slug"), [("same data", "ranks-see-same-data"), ("not wrapped", "ranks-disagree")]
)
def test_faults(tmp_path: Path, fault: str, slug: str) -> None:
    done = trained(tmp_path, "ranks_with_faults", fault)
    assert done.status == 0, done.err.decode()[-2000:]
    assert slug in found(done.run())


def test_a_rank_that_works_longer_is_named(tmp_path: Path) -> None:
    done = trained(tmp_path, "ranks_with_faults", "straggler")
    assert done.status == 0, done.err.decode()[-2000:]
    run = done.run()
    (seen,) = [f for f in pipeline.diagnose([run]).first.findings if f.slug == "rank-straggles"]
    assert seen.where == "rank 1"


@pytest.mark.parametrize("way", ["dies", "raises"])
def test_a_rank_that_ended_is_reported_with_its_last_step(tmp_path: Path, way: str) -> None:
    done = trained(tmp_path, "ranks_with_faults", way)
    assert done.status != 0
    run = done.run()
    if way == "raises":
        assert len(run.series["rank/1/train/loss"]) in (29, 30, 31)
    else:  # the last quarter of a second was not written yet
        assert len(run.series["rank/1/train/loss"]) <= 31
    diagnosis = pipeline.diagnose([run]).first
    assert diagnosis.health == "failed"
    said = " ".join(
        [
            *(f.message for f in diagnosis.findings),
            diagnosis.decision.reason,
            *(e.message for e in run.events),
        ]
    )
    if way == "raises":
        assert "of this rank alone" in said
        assert "ranks_with_faults.py:" in said


def test_tensor_parallel_norms_are_those_of_the_whole(tmp_path: Path) -> None:
    done = trained(tmp_path, "tensor_parallel")
    assert done.status == 0, done.err.decode()[-2000:]
    run, truth = done.run(), done.truth("truth0.json")
    np.testing.assert_allclose(run.series["train/loss"].values, truth["loss"], rtol=1e-6)
    np.testing.assert_allclose(run.series["grad_norm"].values, truth["grad_norm"], rtol=1e-5)
    assert found(run) <= {"rank-straggles"}
