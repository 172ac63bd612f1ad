"""`traindx run` as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.capture.launch.launching import SCRIPTS
from tests.cli.process import COMMAND, LIMIT, environment, traindx
from tests.processes import line, started

Document = dict[str, Any]


def run(*options: str, script: str, cwd: Path):  # type: ignore[no-untyped-def]
    done = traindx(
        "run", *options, "--", sys.executable, str(SCRIPTS / script), cwd=cwd, env={"PYTHONWARNINGS": ""}
    )
    return done


def test_no_such_program(tmp_path: Path) -> None:
    done = traindx("run", "--", "absent-program", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "there is no such program" in done.err
    assert not (tmp_path / "traindx-runs").exists()


@pytest.mark.parametrize("name", ["train.py", "./train.py"])
def test_a_python_file_is_started_by_python(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.py").write_text(
        "import sys\nprint(sys.argv[1:])\nfor i in range(12): print('step', i, 'loss', 9 - i)"
    )
    done = traindx("run", name, "--epochs", "3", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "['--epochs', '3']" in done.out
    assert "train/loss" in done.out


def test_a_file_that_no_interpreter_is_known_for_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.sh").write_text("")
    done = traindx("run", "./train.sh", cwd=tmp_path)
    assert done.status == 2
    assert "put its interpreter before it" in done.err


@pytest.mark.parametrize(("number", "catches"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_interrupted_before_it_trained_it_ends_as_that(
    tmp_path: Path, number: signal.Signals, catches: bool
) -> None:
    tail = (
        "\nexcept KeyboardInterrupt:\n    print('ended'); traceback.print_exc(); sys.exit(1)"
        if catches
        else ""
    )
    script = (
        ("try:\n    " if catches else "")
        + "import sys, time, traceback; print('begun', flush=True); time.sleep(600)"
        + tail
    )
    (tmp_path / "train.py").write_text(script)
    command = [*COMMAND, "run", "--", sys.executable, "train.py"]
    with started(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert line(process.stdout) == "begun"
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out) == (128 + number, b"ended\n" * catches)
    assert err.decode().endswith("\ntraindx: interrupted\n" if catches else "\ntraindx: ended by SIGTERM\n")
    assert not list(tmp_path.glob("traindx-runs/*"))


def test_without_a_command(tmp_path: Path) -> None:
    done = traindx("run", cwd=tmp_path)
    assert done.status == 2
    assert "COMMAND" in done.err


def test_nothing_recorded_leaves_what_was_printed_in_a_folder_of_the_users(tmp_path: Path) -> None:
    done = run("--out", "here", script="no_torch.py", cwd=tmp_path)
    assert done.status == 2
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["stderr.log", "stdout.log"]
    assert (tmp_path / "here" / "stdout.log").read_text() == done.out
    assert run("--out", "here", script="no_torch.py", cwd=tmp_path) == done


def test_nothing_recorded_is_one_sentence(tmp_path: Path) -> None:
    done = run(script="no_torch.py", cwd=tmp_path)
    assert (done.status, done.out) == (2, "hello 45\n")
    assert (
        "nothing was recorded: the script never imported a framework whose trainings are recorded (torch, keras"
        in done.err
    )
    assert not list(tmp_path.glob("traindx-runs/*"))


def test_a_record_that_the_script_removes_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import shutil, time\nshutil.rmtree('here')")
    done = traindx("run", "--out", "here", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.status == 2
    assert "nothing was recorded: here was removed while the script ran" in done.err


PRINTS = """
for epoch in range(40):
    print(f"epoch {epoch} loss {2.3 * 0.9**epoch:.4f} accuracy {1 - 0.9**epoch:.3f}")
"""


def test_what_is_printed_is_diagnosed_where_nothing_can_be_recorded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PRINTS)
    done = traindx("run", "-f", "json", "--out", "here", "--", sys.executable, "train.py", cwd=tmp_path)
    (found,) = json.loads(done.out)["runs"]
    assert done.status == 0
    assert (found["run"]["id"], found["run"]["last_step"], found["health"]) == ("here", 39, "healthy")
    assert "What the script printed is diagnosed instead." in done.err
    assert (tmp_path / "here" / "stdout.log").read_text().startswith("epoch 0 loss 2.3000")


def test_a_script_that_fails_before_it_trains_is_reported_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("open('absent.csv')")
    command = [*COMMAND, "run", "-f", "json", "--", sys.executable, "train.py"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment())
    (found,) = json.loads(done.stdout)["runs"]
    assert (done.returncode, found["health"]) == (1, "failed")
    assert "absent.csv" in found["decision"]["reason"]


def run_and_diagnose(script: str, cwd: Path) -> tuple[Document, Document]:
    """The report after the run, and that of its folder."""
    (cwd / "train.py").write_text(script)
    command = [*COMMAND, "run", "-f", "json", "--out", "here", "--", sys.executable, "train.py"]
    done = subprocess.run(command, capture_output=True, cwd=cwd, env=environment(), check=False)
    again = traindx("diagnose", "-f", "json", "here", cwd=cwd)
    return json.loads(done.stdout)["runs"][0], json.loads(again.out)["runs"][0]


@pytest.mark.parametrize("printed", ["", PRINTS])
def test_the_folder_of_a_script_that_failed_keeps_its_error(tmp_path: Path, printed: str) -> None:
    script = f"{printed}\nraise ValueError('no host at https://bob:hunter2-pass@example.com')"
    for found in run_and_diagnose(script, tmp_path):
        assert (found["health"], found["decision"]["action"]) == ("failed", "stop")
        assert "ValueError: no host at https://bob:***@example.com" in found["decision"]["reason"]
        assert ".launch" not in json.dumps(found)


def test_the_folder_of_a_script_that_ends_by_itself_has_no_error(tmp_path: Path) -> None:
    for found in run_and_diagnose(f"import sys\n{PRINTS}\nsys.exit(0)", tmp_path):
        assert found["health"] == "healthy"


def test_report_after_the_scripts_output(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run(script="plain_functions.py", cwd=tmp_path)
    assert done.status in (0, 1)
    assert done.out.startswith("Epoch 1: train loss ")
    assert "train/loss" in done.out[done.out.index("Epoch 3") :]
    (folder,) = tmp_path.glob("traindx-runs/plain_functions-*")
    assert str(folder.relative_to(tmp_path)) in done.err


def test_json_alone_on_stdout(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run("-f", "json", "--out", "here", script="plain_functions.py", cwd=tmp_path)
    (found,) = json.loads(done.out)["runs"]
    assert found["run"]["steps"] == 30
    assert "Epoch 1: train loss" in done.err
    again = run("--out", "here", script="plain_functions.py", cwd=tmp_path)
    assert again.status == 2
    assert "holds a recorded run" in again.err


def test_the_scripts_status_on_request(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run("--propagate-exit", "-f", "json", "-o", "report.json", script="exits_with_3.py", cwd=tmp_path)
    assert done.status == 3
    (found,) = json.loads((tmp_path / "report.json").read_text())["runs"]
    assert [e["message"] for e in found["run"]["events"] if e["kind"] == "crash"] == [
        "the script ended with status 3"
    ]
