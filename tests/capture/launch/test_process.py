"""The launched process is what it would have been: output, status, signals, environment; and what
is left when it ends badly."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.launch.launching import LAUNCH, LIMIT, PYTHON, SCRIPTS, alone, environment, launched
from tests.processes import started
from traindx import pipeline

pytest.importorskip("torch")

SLOW = """
import sys, time, torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 3)
print("ready", flush=True)
{before}
for step in range(100000):
    loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {inside}
    if step == 50:
        print("trained", flush=True)
    time.sleep(0.001)
"""


def slow(folder: Path, before: str = "", inside: str = "") -> list[str]:
    """A script that trains until it is stopped, as a command."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "slow.py").write_text(SLOW.format(before=before, inside=inside))
    return [PYTHON, "slow.py"]


@contextlib.contextmanager
def begun(folder: Path, command: list[str], until: str = "trained") -> Iterator[subprocess.Popen[bytes]]:
    """The launcher with a script that trains, past its first steps."""
    start = [PYTHON, "-c", LAUNCH, str(folder / "run"), "0", "0", *command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(start, cwd=folder, env=environment(""), **pipes) as process:
        assert process.stdout is not None
        if not any(line.strip() == until.encode() for line in process.stdout):
            raise AssertionError(process.stderr.read().decode() if process.stderr else "")
        yield process


def script_of(folder: Path) -> int:
    """The process id of the script."""
    return int(json.loads((folder / "run" / ".launch").read_text().splitlines()[0])["pid"])


def test_a_signal_is_handed_on_and_the_record_says_so(tmp_path: Path) -> None:
    with begun(tmp_path, slow(tmp_path)) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 128 + signal.SIGTERM
    (run,) = pipeline.read_capture(tmp_path / "run")
    assert run.complete is False
    assert [e.code for e in run.events if e.kind == "stopped"] == ["terminated"]


def test_ctrl_c_reaches_the_script_once(tmp_path: Path) -> None:
    count = "import signal; seen = []; signal.signal(signal.SIGINT, lambda *_: seen.append(1))"
    report = "if seen and step % 100 == 99: print('seen', len(seen)); sys.exit(7)"
    command = slow(tmp_path, count, report)
    ours, theirs = pty.openpty()
    shown = b""
    start = [PYTHON, "-c", LAUNCH, str(tmp_path / "run"), "0", "0", *command]
    with started(
        start, terminal=True, cwd=tmp_path, env=environment(""), stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        typed = False
        with contextlib.suppress(OSError):  # EIO: the last writer has gone
            while piece := os.read(ours, 4096):
                shown += piece
                if b"trained" in shown and not typed:
                    typed = True
                    os.write(ours, b"\x03")
        os.close(ours)
    assert b"seen 1" in shown
    assert b"seen 2" not in shown


def test_ctrl_c_ends_a_script_as_ever(tmp_path: Path) -> None:
    with begun(tmp_path, slow(tmp_path)) as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode in (1, 128 + signal.SIGINT)
    assert b"KeyboardInterrupt" in err
    (run,) = pipeline.read_capture(tmp_path / "run")
    assert [e.code for e in run.events if e.kind == "stopped"] == ["interrupted"]


def test_output_at_a_terminal_is_that_of_a_terminal(tmp_path: Path) -> None:
    """isatty and the width are those of the real terminal, and each byte arrives once."""
    code = "import os, sys, torch; print(sys.stdout.isatty(), sys.stderr.isatty(), os.get_terminal_size().columns)"
    seen = {}
    for name, start in (("with", [PYTHON, "-c", LAUNCH, str(tmp_path / "run"), "0", "0"]), ("without", [])):
        ours, theirs = pty.openpty()
        __import__("termios").tcsetwinsize(theirs, (24, 133))
        process = subprocess.Popen(
            [*start, PYTHON, "-c", code],
            cwd=tmp_path,
            env=environment(""),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        seen[name] = b""
        while True:
            try:
                seen[name] += os.read(ours, 4096)
            except OSError:
                break
        os.close(ours)
        process.wait(LIMIT)
    assert seen["with"] == seen["without"] == b"True True 133\r\n"


BEFORE = """
import os, signal
from traindx.capture.launch.signals import Held
signal.signal(signal.SIGINT, signal.default_int_handler)
with Held() as held:
    child = os.fork()
    if not child:
        os.kill(os.getpid(), signal.SIGINT)
        held.begin()
        os._exit(3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_signal_that_comes_before_the_script_has_begun_ends_its_process() -> None:
    done = subprocess.run([PYTHON, "-c", BEFORE], capture_output=True, text=True, timeout=LIMIT)
    assert (done.stdout, done.stderr) == (f"{-signal.SIGINT}\n", "")


@pytest.mark.parametrize("number", [3, 11])
def test_steps_ends_a_script_cleanly(number: int, tmp_path: Path) -> None:
    """Exit handlers, `with` and `finally` run, `except Exception` does not stop it, the status is 0."""
    text = (SCRIPTS / "plain_functions.py").read_text()
    body = text[: text.index("for epoch in range(3)")].replace(
        "        optimizer.step()\n", "        try:\n            optimizer.step()\n        except Exception:\n"
        "            print('caught')\n        finally:\n            finals.append(1)\n",
    )  # fmt: skip
    tail = "for epoch in range(3):\n    train_epoch(model, train_loader, loss_fn, optimizer)\n"
    head = "import atexit\nfinals = []\natexit.register(lambda: print('finals', len(finals)))\n"
    (tmp_path / "script.py").write_text(head + body + tail)
    done = launched("", tmp_path, steps=number, command=[PYTHON, "script.py"])
    assert (done.status, done.err) == (0, b"")
    assert done.out == b"finals %d\n" % number
    run = done.run()
    assert run.last_step == number
    assert [e.code for e in run.events if e.kind == "stopped"] == ["steps-limit"]


def test_a_script_that_catches_everything_is_ended_all_the_same(tmp_path: Path) -> None:
    inside = "\n    ".join(["pass"])
    text = SLOW.format(before="", inside=inside).replace(
        "    optimizer.step()\n",
        "    try:\n        optimizer.step()\n    except BaseException:\n        pass\n",
    )
    (tmp_path / "script.py").write_text(text)
    done = launched("", tmp_path, steps=5, command=[PYTHON, "script.py"])
    assert done.status == 0
    assert done.run().series["train/loss"].steps[4] == 5


@pytest.mark.parametrize("kept", ["", "first = optimizer"], ids=["gone", "kept"])
def test_a_script_that_trains_on_with_another_optimizer_is_ended_all_the_same(
    tmp_path: Path, kept: str
) -> None:
    inside = f"if step == 3:\n        {kept}\n        optimizer = torch.optim.Adam(model.parameters())"
    done = launched("", tmp_path, steps=6, command=slow(tmp_path, inside=inside))
    assert done.status == 0
    assert done.run().last_step >= 4


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["inference_only.py"], "backward() was never called"),
        (["no_torch.py"], "never imported a framework whose trainings are recorded"),
        (["-I", "inference_only.py"], "no Python process was seen"),
    ],
)
def test_nothing_recorded_is_explained(command: list[str], words: str, tmp_path: Path) -> None:
    *options, script = command
    done = launched("", tmp_path, command=[PYTHON, *options, str(SCRIPTS / script)])
    assert done.status == 0
    assert words in done.why()
    assert not list((tmp_path / "run").glob("steps-*"))


def test_something_that_is_no_python(tmp_path: Path) -> None:
    done = launched("", tmp_path, command=["true"])
    assert "no Python process was seen" in done.why()


BREAKS = """
import json, sys, torch
def broken(*given, **named):
    raise RuntimeError("not ours")
json.dump = json.dumps = broken
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    optimizer.zero_grad()
    ((model(torch.ones(8, 4)) - 3) ** 2).mean().backward()
    optimizer.step()
"""


def test_a_script_that_breaks_the_standard_library_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(BREAKS)
    done = launched("", tmp_path, command=[PYTHON, str(tmp_path / "script.py")])
    assert done.err == b""
    assert len(done.run().series["train/loss"]) == 40


def test_a_shell_script_that_starts_python(tmp_path: Path) -> None:
    command = ["sh", "-c", f"{PYTHON} {SCRIPTS / 'custom_loss.py'}"]
    assert len(launched("", tmp_path, command=command).run().series["train/loss"]) == 40


def test_leaving_in_the_middle_of_a_step(tmp_path: Path) -> None:
    done = launched("exits_mid_step", tmp_path)
    assert done.status == 0
    truth, found = done.truth()["loss"], done.run().series["train/loss"]
    assert 0 < len(found) <= len(truth)
    assert found.values.tolist() == pytest.approx(truth[: len(found)], rel=2e-7)


def test_the_environments_own_sitecustomize_is_run(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.CUSTOM = __name__, __file__\n")
    (tmp_path / "script.py").write_text("import sys; print(CUSTOM, sys.path, sorted(set(sys.argv)))")
    script = [sys.executable, str(tmp_path / "script.py"), "a"]
    outputs = []
    for name in ("with", "without"):
        start = [PYTHON, "-c", LAUNCH, str(tmp_path / "run"), "0", "0"] if name == "with" else []
        env = {**environment(""), "PYTHONPATH": str(tmp_path)}
        outputs.append(subprocess.run([*start, *script], env=env, capture_output=True, check=True).stdout)
    assert outputs[0] == outputs[1]
    assert b"sitecustomize" in outputs[0]


def test_warnings_and_tracebacks_name_the_users_lines(tmp_path: Path) -> None:
    """A broadcast warning and a crash inside of wrapped functions read as without us."""
    (tmp_path / "script.py").write_text(
        "import torch\nimport torch.nn.functional as F\n"
        "w = torch.ones(4, requires_grad=True)\no = torch.optim.SGD([w], lr=0.1)\n"
        "F.mse_loss(w, torch.zeros(4, 1)).backward()\no.step()\n"
        "torch.nn.MSELoss()(w, torch.zeros(4, 1))\n"
        "def f():\n    try:\n        F.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 5]))\n"
        "    except IndexError as error:\n        raise ValueError('wrapped') from error\nf()\n"
    )
    command = [PYTHON, "script.py"]
    with_us, without = launched("", tmp_path, command=command), alone("", tmp_path, command=command)
    assert with_us.status == without.status == 1
    assert b"script.py:5: UserWarning" in without.err
    assert with_us.err == without.err


def written(folder: Path) -> bool:
    """Whether a batch of steps is on disk."""
    return any(file.stat().st_size for file in (folder / "run").glob("steps-*.arrows"))


def killed(folder: Path, after: float, begin: str) -> int | None:
    """Kill a training `after` seconds after its begin or its first "written" batch; the steps that can be
    read, None where there are none."""
    with begun(folder, slow(folder), until="ready") as process:
        while begin == "written" and not written(folder):
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(after)
        os.kill(script_of(folder), signal.SIGKILL)
        assert process.wait(LIMIT) == 128 + signal.SIGKILL
    if not written(folder):
        return None  # killed before the first batch was
    (run,) = pipeline.read_capture(folder / "run")
    steps = run.series["train/loss"].steps
    assert steps.tolist() == list(range(1, len(steps) + 1))
    assert run.complete is False
    return len(steps)


KILLS = int(os.environ.get("TRAINDX_KILLS", "4"))


def test_a_killed_training_can_be_read(tmp_path: Path) -> None:
    """At random moments; TRAINDX_KILLS=50 for more."""
    draw = random.Random(0)
    for i in range(KILLS):
        begin = "ready" if i % 2 else "written"
        steps = killed(tmp_path / str(i), draw.uniform(0.0, 1.0), begin)
        assert steps is not None or begin == "ready"
