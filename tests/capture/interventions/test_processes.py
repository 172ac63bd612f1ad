"""`traindx run --with`: scripts as processes, their record, and how an experiment ends that cannot be made."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.capture.launch.launching import LIMIT, PYTHON, SCRIPTS, alone, command_of, environment as clean
from traindx import pipeline
from traindx.vocabulary.run import Run

pytest.importorskip("torch")


def experiment(
    folder: Path, *specs: str, command: list[str], more: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    """Exit status of `traindx run`, its output and its errors; the record is in `folder/run`."""
    folder.mkdir(exist_ok=True)
    given = [word for spec in specs for word in ("--with", spec)]
    start = [
        PYTHON,
        "-c",
        "from traindx.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))",
        "run",
    ]
    done = subprocess.run(
        [*start, "--out", "run", "--in-place", *more, *given, "--", *command],
        cwd=folder, env=clean(""), capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def recorded(folder: Path) -> Run:
    (run,) = pipeline.read_capture(folder / "run")
    return run


def test_what_is_recorded_is_what_was_used(tmp_path: Path) -> None:
    """The script sees its own rate; the record holds the one used, and the gradient before clipping."""
    specs = ("lr=*0.1", "clip=0.05", "steps=12", "momentum=0.9", "lr.warmup=0.5")
    _, _, err = experiment(tmp_path, *specs, command=command_of("plain_functions"))
    run = recorded(tmp_path)
    expected = [0.1 * 0.1 * min(1.0, (i + 1) / 6) for i in range(12)]
    np.testing.assert_allclose(run.series["lr"].values, expected, rtol=1e-12)
    assert run.series["grad_norm"].values.min() > 0.05
    facts = run.setup.facts
    assert facts["interventions"] == "steps=12, clip=0.05, lr=*0.1, lr.warmup=0.5, momentum=0.9"
    assert {name: facts[f"intervention/{name}"] for name in ("momentum=0.9",)} == {
        "momentum=0.9": "changed nothing"
    }
    counts = {"lr=*0.1/steps": 12, "clip=0.05/steps": 12, "lr.warmup=0.5/steps": 5, "steps=12/runs": 1}
    assert {name: facts[f"intervention/{name}"] for name in counts} == counts
    assert run.setup.number("clip_norm") == 0.05
    unused = [event.message for event in run.events if event.code == "intervention-unused"]
    assert unused == ["momentum=0.9 changed nothing: the script already uses this value"]
    assert "experiment" not in err


def test_a_sweep_of_rates_ends_the_script(tmp_path: Path) -> None:
    experiment(tmp_path, "lr=sweep:1e-6:10:8", command=command_of("tiny_gpt"))
    run = recorded(tmp_path)
    np.testing.assert_allclose(run.series["lr"].values, np.geomspace(1e-6, 10, 8), rtol=1e-9)
    assert run.setup.schedule == "sweep"


IDENTITIES = (
    "lr=*1", "clip=1e30", "clip.value=1e30", "weight_decay=*1", "skip_nonfinite=on", "zero_grad=each-step",
    "loss=/accumulation", "accumulate=1", "mode=train", "eval_mode=eval", "unfreeze=all", "register=all",
    "steps=1000000",
)  # fmt: skip


@pytest.mark.parametrize("name", ["gan", "scaler_amp", "cnn_batchnorm"])
def test_identities_leave_every_bit(name: str, tmp_path: Path) -> None:
    plain = alone(name, tmp_path / "alone")
    _, _, err = experiment(tmp_path / "changed", *IDENTITIES, command=command_of(name))
    assert "experiment was stopped" not in err, err
    assert (tmp_path / "changed" / "weights.pt").read_bytes() == (plain.folder / "weights.pt").read_bytes()
    run = recorded(tmp_path / "changed")
    unused = {
        event.message.split(" changed nothing")[0]
        for event in run.events
        if event.code == "intervention-unused"
    }
    assert unused == set(IDENTITIES)


def test_an_experiment_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    status, out, err = experiment(tmp_path, "lr=*0.1", command=command_of("manual_sgd"))
    assert status == 2
    assert out == ""
    why = "lr=*0.1 cannot be applied: no optimizer object seen: the script changes its parameters by hand"
    assert err.strip() == f"traindx: the experiment was stopped: {why}"
    assert not (tmp_path / "truth.json").exists()
    status, _, _ = experiment(
        tmp_path / "b", "clip=1", command=command_of("lbfgs_closure"), more=("--propagate-exit",)
    )
    assert status == 70


STUBBORN = """
import torch
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(1000):
    try:
        weight.sum().backward()
        optimizer.step()
    except BaseException:
        pass
open("finished", "w").close()
"""


def test_a_script_that_catches_everything_is_ended(tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    status, _, err = experiment(tmp_path, "betas=0.9,0.99", command=[PYTHON, "stubborn.py"])
    assert status == 2
    assert err.strip().endswith("betas=0.9,0.99 cannot be applied: SGD has no betas")
    assert not (tmp_path / "finished").exists()


def test_what_is_asked_wrongly_is_said_before_anything_runs(tmp_path: Path) -> None:
    status, _, err = experiment(tmp_path, "lr=fast", command=[PYTHON, "-c", "open('ran', 'w')"])
    assert status == 2
    assert "lr=fast" in err
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "run").exists()


def test_without_the_interventions_there_is_no_experiment(tmp_path: Path) -> None:
    """The request as a process of another version would get it: the script ends at once."""
    request = {"out": str(tmp_path), "home": str(Path(pipeline.__file__).parents[1]), "pythonpath": None,
               "folder": str(tmp_path), "with": ["nonsense=1"], "frameworks": ["torch"]}  # fmt: skip
    (tmp_path / ".launch").write_bytes(b"")
    bootstrap = Path(pipeline.__file__).parent / "capture" / "launch" / "bootstrap"
    env = {**clean(""), "TRAINDX_CAPTURE": json.dumps(request), "PYTHONPATH": str(bootstrap)}
    done = subprocess.run(
        [PYTHON, os.fspath(SCRIPTS / "gan.py")],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 70
    assert "there is no intervention 'nonsense'" in done.stderr
