"""Starts that end a script early, or change it, leave everything of the user's as it was: real scripts that save a
model on their way out, as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, LIMIT, Done, environment, traindx
from tests.processes import line, started

# Saves in `finally:` and by `atexit`, appends a line, deletes old checkpoints, and writes by an absolute path.
SAVES = """
import atexit, shutil, sys
from pathlib import Path

def save(name):
    Path(name).write_bytes(b"a model of a few steps")

def by_absolute_path():
    try:
        Path({project!r}, "absolute.pt").write_bytes(b"a model of a few steps")
    except OSError:
        print("refused")

atexit.register(save, "atexit.pt")
shutil.rmtree("ckpt")
"""
TRAINS = """
import torch
torch.manual_seed(0); torch.set_num_threads(1)
model = torch.nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for step in range(12):
        x, y = torch.randn(16, 8), torch.randint(3, (16,))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        print("step", step)
finally:
    save("final.pt")
    by_absolute_path()
    with open("results.csv", "a") as file:
        file.write("3,0.1\\n")
    print("typed:", sys.stdin.read())
"""
WAITS = """
import signal
try:
    print("begun", flush=True)
    signal.pause()
finally:
    save("final.pt")
    by_absolute_path()
    print("saved", flush=True)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the results of a week."""
    folder = tmp_path / "project"
    (folder / "ckpt").mkdir(parents=True)
    (tmp_path / "temporary").mkdir()
    for name in ("final.pt", "atexit.pt", "absolute.pt", "ckpt/step-9000.pt"):
        (folder / name).write_bytes(b"a model of a week: " + name.encode())
    (folder / "results.csv").write_text("lr,accuracy\n1,0.9\n")
    for name, does in (("train.py", TRAINS), ("waits.py", WAITS)):
        (folder / name).write_text(SAVES.format(project=str(folder)) + does)
    return folder


def contents(project: Path) -> dict[str, tuple[bytes, int]]:
    """Every file's bytes and time of change, but of the records."""
    files = (path for path in project.rglob("*") if path.is_file() and "traindx-runs" not in path.parts)
    return {str(path.relative_to(project)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def start(project: Path, *options: str, given: str = "") -> Done:
    return traindx(
        *options, "--", sys.executable, "train.py", cwd=project, given=given,
        env={"PYTHONWARNINGS": "", "OMP_NUM_THREADS": "1", "TMPDIR": str(project.parent / "temporary")},
    )  # fmt: skip


EARLY = (
    ("memory",),
    ("profile", "--skip", "1", "--steps", "2"),
    ("run", "--steps", "3"),
    ("run", "--with", "lr=*0.5"),
)


@pytest.mark.parametrize("options", EARLY, ids=" ".join)
def test_results_of_a_week_stay_as_they_are(project: Path, options: tuple[str, ...]) -> None:
    pytest.importorskip("torch")
    before = contents(project)
    done = start(project, *options, given="a word")
    assert done.status in (0, 1), done.err
    assert contents(project) == before
    assert "step 1\n" in done.out
    assert "typed: a word\n" in done.out
    assert "The script runs in a scratch copy" in done.err
    assert ("use --in-place to run it in this folder" in done.err) == (options[0] == "run")
    assert list((project.parent / "temporary").glob("traindx-*")) == []
    (record,) = (project / "traindx-runs").iterdir()
    assert list(record.glob("*.gz" if options[0] == "profile" else "steps-*.arrows"))
    assert "step 1\n" in (record / "stdout.log").read_text()


@pytest.mark.parametrize("options", [("run",), ("run", "--steps", "3", "--in-place")], ids=" ".join)
def test_what_is_to_run_in_place_does(project: Path, options: tuple[str, ...]) -> None:
    pytest.importorskip("torch")
    before = contents(project)
    done = start(project, *options)
    assert done.status in (0, 1), done.err
    after = contents(project)
    assert {name for name in before if after.get(name) != before[name]} == {
        "final.pt", "atexit.pt", "absolute.pt", "results.csv", "ckpt/step-9000.pt",
    }  # fmt: skip
    assert "scratch" not in done.err


def test_the_document_is_alone_on_stdout_and_the_record_in_the_folder_that_was_named(project: Path) -> None:
    pytest.importorskip("torch")
    done = start(project, "run", "--steps", "3", "-f", "json", "--out", "records/first", "-q")
    (run,) = json.loads(done.out)["runs"]
    assert run["run"]["steps"] == 3
    assert "step 1\n" in done.err
    assert "step 3\n" not in done.err
    assert list((project / "records" / "first").glob("steps-*.arrows"))


@pytest.mark.parametrize("out", [".", "ckpt", ".."])
@pytest.mark.parametrize("verb", ["memory", "profile", "run --steps 3"])
def test_a_record_is_not_kept_among_other_files(project: Path, verb: str, out: str) -> None:
    """The script may write into the folder of its record."""
    before = contents(project)
    done = start(project, *verb.split(), "--out", out)
    assert (done.status, done.out) == (2, "")
    assert f"--out {out}: holds other files" in done.err
    assert contents(project) == before
    assert not (project.parent / ".launch").exists()


def test_another_place_is_written_to_where_it_is_allowed(project: Path) -> None:
    log = project.parent / "log.txt"
    (project / "train.py").write_text(
        f"try: open({str(log)!r}, 'w').write('x')\nexcept OSError as no: exit(str(no))"
    )
    done = start(project, "run", "--steps", "3")
    assert not log.exists()
    assert "--writable PATH" in done.err
    assert "nothing was recorded" in done.err
    assert not list(project.glob("traindx-runs/*"))
    start(project, "run", "--steps", "3", "--writable", str(project.parent))
    assert log.read_text() == "x"


@pytest.fixture
def waiting(project: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A start of a script that waits, in its own group."""
    with started(
        [*COMMAND, *request.param, "--", sys.executable, "waits.py"], cwd=project,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(PYTHONWARNINGS="", TMPDIR=str(project.parent / "temporary")),
    ) as process:  # fmt: skip
        assert line(process.stdout) == "begun"
        yield process


CTRL_C = [(options, signal.SIGINT, True) for options in EARLY]


@pytest.mark.parametrize(
    ("waiting", "number", "group"),
    [
        *CTRL_C,
        (EARLY[2], signal.SIGINT, False),
        (EARLY[2], signal.SIGTERM, True),
        (EARLY[0], signal.SIGTERM, False),
    ],
    indirect=["waiting"],
    ids=str,
)
def test_a_start_that_is_interrupted_leaves_nothing(
    waiting: subprocess.Popen[bytes], project: Path, number: signal.Signals, group: bool
) -> None:
    before = contents(project)
    (os.killpg if group else os.kill)(waiting.pid, number)
    out, err = waiting.communicate(timeout=LIMIT)
    assert out == (
        b"refused\nsaved\n" if number == signal.SIGINT else b""
    )  # SIGTERM: Python ends without `finally:`
    assert (b"KeyboardInterrupt" in err) == (number == signal.SIGINT)
    ending = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert err.decode().endswith(f"\ntraindx: {ending}\n")  # and not that nothing was recorded
    assert waiting.returncode == 128 + number
    assert contents(project) == before
    assert list((project.parent / "temporary").iterdir()) == []
    assert not list(project.glob("traindx-runs/*"))


@pytest.mark.parametrize("waiting", [("memory",)], indirect=True, ids=" ".join)
def test_a_start_that_is_killed_leaves_nothing_running_and_no_copy(
    waiting: subprocess.Popen[bytes], project: Path
) -> None:
    before = contents(project)
    waiting.kill()
    waiting.communicate(timeout=LIMIT)  # until nobody holds the output any more
    assert contents(project) == before
    assert list((project.parent / "temporary").iterdir()) == []


def test_what_fails_after_the_last_step_is_no_crash_of_the_training(project: Path) -> None:
    pytest.importorskip("torch")
    text = (project / "train.py").read_text().replace("except OSError", "except KeyError")
    hook = "sys.excepthook = lambda kind, error, trace: print('hook:', error, 'after', error.__context__)\n"
    (project / "train.py").write_text(text.replace("import torch\n", f"import torch\n{hook}"))
    done = start(project, "run", "--steps", "3", "-f", "json", "-o", "run.json")
    shown = done.out.splitlines()[-1]
    assert shown.startswith("hook: [Errno"), (
        done.out
    )  # the script's own error, which it would have without us
    assert shown.endswith("absolute.pt' after None")
    (run,) = json.loads((project / "run.json").read_text())["runs"]
    assert [event["code"] for event in run["run"]["events"]] == ["steps-limit"]
    assert run["health"] != "failed"


HANGS = """
import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
"""


@pytest.mark.parametrize("options", [("run", "--steps", "3"), ("memory",)], ids=" ".join)
def test_a_script_that_does_not_end_after_the_last_step_is_ended(
    project: Path, options: tuple[str, ...]
) -> None:
    pytest.importorskip("torch")
    (project / "train.py").write_text(HANGS + (project / "train.py").read_text())
    done = start(project, *options, "-f", "json", "-o", "found.json")
    assert done.status in (0, 1), done.err
    assert "typed:" in done.out
    assert "traindx: the script" not in done.err
    assert "failed" not in (project / "found.json").read_text()
    assert list((project.parent / "temporary").glob("traindx-*")) == []
