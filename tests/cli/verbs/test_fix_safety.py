"""What `traindx fix` and its like owe the user when they are stopped, started twice, or begun anew."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, LIMIT, environment, traindx
from tests.cli.verbs.test_fix import QUIET, TRAIN, diary
from tests.lab.edits.test_odd_configs import bomb
from tests.processes import line, started

pytest.importorskip("torch")

SLACK = 25  # seconds, on a busy machine: libraries are loaded, processes ended, the report is written
WAITS = "import sys\nopen(sys.argv[1], 'w').close()\n"
# Its classes are far apart: it is surely well at a rate of 0.1, works at 50, and hardly learns at 1e-4.
CONFIGURED = (
    TRAIN.replace("import sys, torch", "import json, torch")
    .replace("float(sys.argv[1])", "json.load(open('cfg.json'))['lr']")
    .replace("1.2 * torch", "0.5 * torch")
)


def configured(folder: Path, rate: float) -> Path:
    folder.mkdir()
    (folder / "train.py").write_text(CONFIGURED)
    (folder / "cfg.json").write_text(f'{{"lr": {rate}}}')
    return folder


def folders(here: Path) -> list[Path]:
    return sorted(path for path in (here / "traindx-fix").iterdir() if path.is_dir())


@pytest.mark.slow
def test_starts_of_another_configuration_are_not_counted_again(tmp_path: Path) -> None:
    here = configured(tmp_path / "p", 1e-4)
    arguments = ["fix", "-f", "json", "--", sys.executable, "train.py"]
    with started([*COMMAND, *arguments], cwd=here, env=environment(), **QUIET) as process:
        while not any(map(diary, folders(here) if (here / "traindx-fix").exists() else [])) and line(
            process.stderr
        ):
            continue
        process.kill()
        process.wait()
    (here / "cfg.json").write_text('{"lr": 0.1}')
    (first,) = folders(here)
    done = traindx(*arguments, cwd=here)
    assert done.status == 0, done.err
    assert f"cfg.json changed since {first.relative_to(here)}; starting over" in done.err
    assert json.loads(done.out)["verdict"] == "nothing-to-fix"
    assert len(folders(here)) == 2
    assert len(diary(first)) >= 1, "the earlier work is left as it was"


def test_a_start_that_lacked_memory_is_made_again(tmp_path: Path) -> None:
    here = configured(tmp_path / "p", 0.1)
    arguments = ["fix", "-f", "json", "--", sys.executable, "train.py"]
    little = 1 << 30  # bytes of addresses: PyTorch cannot be imported
    short = traindx(
        *arguments, cwd=here, before=lambda: resource.setrlimit(resource.RLIMIT_AS, (little, little))
    )
    assert short.status != 0
    (folder,) = folders(here)
    assert [entry["recorded"] for entry in diary(folder)] == [False]
    done = traindx(*arguments, cwd=here)
    assert done.status == 0, done.err
    assert folders(here) == [folder], "it goes on with the earlier work"
    assert json.loads(done.out)["verdict"] == "nothing-to-fix"


def waiting_project(folder: Path) -> tuple[Path, list[str]]:
    """A project, and a command there that waits in its first start for somebody to read from a pipe."""
    here, pipe = folder / "p", folder / "pipe"
    here.mkdir()
    os.mkfifo(pipe)
    (here / "train.py").write_text(WAITS)
    return here, ["--writable", str(pipe), "--", sys.executable, "train.py", str(pipe)]


@pytest.mark.slow
def test_a_change_while_the_trials_run_is_noted(tmp_path: Path) -> None:
    here = configured(tmp_path / "p", 1e-4)
    command = ["fix", "-f", "json", "--", sys.executable, "train.py"]
    with started(
        [*COMMAND, *command], cwd=here, env=environment(), **{**QUIET, "stdout": subprocess.PIPE}
    ) as process:
        while not any(map(diary, folders(here) if (here / "traindx-fix").exists() else [])) and line(
            process.stderr
        ):
            continue
        (here / "cfg.json").write_text('{"lr": 2e-4}')
        printed, said = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 1), said
    assert (
        "cfg.json changed while the trials ran, so they may not be comparable"
        in json.loads(printed)["notes"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["fix", "investigate"])
def test_the_budget_bounds_all_of_it(tmp_path: Path, verb: str) -> None:
    """A script of some seconds, which names a bomb, at a rate that many starts would have to settle."""
    here = tmp_path / "p"
    here.mkdir()
    slow = TRAIN.replace("optimizer.step()", "optimizer.step(); time.sleep(0.02)").replace(
        "import sys", "import time, sys"
    )
    (here / "train.py").write_text(slow + "'cfg.yaml'\n")
    (here / "cfg.yaml").write_text(bomb("a{i}: &a{i} [{above}]"))
    begun = time.monotonic()
    done = traindx(verb, "--budget", "20s", "-f", "json", "--", sys.executable, "train.py", "40", cwd=here)
    assert done.status in (0, 1), done.err
    assert time.monotonic() - begun < 20 + SLACK
    if verb == "fix":  # the other is settled by the first start
        assert "the budget of 20 s is used up (--budget)" in done.out
        assert any(
            note.startswith("cfg.yaml is not read or changed") for note in json.loads(done.out)["notes"]
        )


@contextmanager
def at_work(here: Path, *arguments: str) -> Iterator[int]:
    """A verb once it has begun its first start; the number of its process."""
    with started([*COMMAND, *arguments], cwd=here, env=environment(), **QUIET) as process:
        while "as it is" not in (said := line(process.stderr)):
            assert said, "it ended"
        yield process.pid


@pytest.mark.parametrize("verb", ["fix", "investigate"])
def test_two_at_once_do_not_share_a_folder(tmp_path: Path, verb: str) -> None:
    here, command = waiting_project(tmp_path)
    with at_work(here, verb, *command) as first:
        second = traindx(verb, *command, cwd=here)
        assert second.status == 2
        assert f") is at work in traindx-{verb}/train-" in second.err
        assert f"(process {first})" in second.err


def test_two_at_once_in_a_named_folder_do_not_share_it(tmp_path: Path) -> None:
    here, command = waiting_project(tmp_path)
    with at_work(here, "fix", "--out", "proof", *command) as first:
        before = (here / "proof" / "trials.jsonl").read_bytes()
        second = traindx("fix", "--out", "proof", "--", sys.executable, "other.py", cwd=here)
        assert second.status == 2
        assert f"another traindx (process {first}) is at work in proof" in second.err
        assert (here / "proof" / "trials.jsonl").read_bytes() == before
