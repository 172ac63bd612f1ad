"""Start the user's command as it is, under capture, and wait for it.

The command's process gets an environment in which Python loads `bootstrap/sitecustomize.py` first;
everything else (files, folder, arguments, signals, terminal) is what it would have been. Its output
passes through unchanged and is kept, up to a bound, beside the store: what the script prints is
evidence too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from traindx.capture.launch.output import Tee
from traindx.errors import ConfigError

VARIABLE = "TRAINDX_CAPTURE"
BOOTSTRAP = Path(__file__).parent / "bootstrap"
HOME = Path(__file__).parents[3]  # the folder that holds the package


class Request(NamedTuple):
    """What to record: `out` the store's folder, `steps` to end after (None: all), `every` n-th step
    measured per module (None: adaptive)."""

    out: Path
    steps: int | None = None
    every: int | None = None
    curvature: bool = False
    interventions: tuple[str, ...] = ()  # NAME=VALUE each
    patient: bool = False  # look at every batch, however long that takes
    updates: bool = True  # copy parts of the weights, to see how steps change them
    overhead: float | None = None  # share of the run's time that capture may take
    probes: bool = False  # look at the live model after the last of `steps` (probe_live)


class Ended(NamedTuple):
    """How the command ended: its exit status, or the signal that killed it; `seconds` it took."""

    status: int
    signal: int
    seconds: float

    @property
    def shell_status(self) -> int:
        """As a shell would give it: 128 + n for a signal n."""
        return 128 + self.signal if self.signal else self.status


def environment(request: Request, base: Mapping[str, str], folder: str | None = None) -> dict[str, str]:
    """`base` with the request in it, and the bootstrap's folder in front of PYTHONPATH. `folder` is
    the one that the command will run in, if that is not ours."""
    before = base.get("PYTHONPATH")
    wanted = {
        "out": str(request.out.absolute()),
        "steps": request.steps,
        "every": request.every,
        "curvature": request.curvature,
        "with": request.interventions,
        "patient": request.patient,
        "updates": request.updates,
        "probes": request.probes,
        "overhead": request.overhead,
        "home": str(HOME),
        "pythonpath": before,
        "folder": folder or os.getcwd(),
    }
    path = os.pathsep.join([str(BOOTSTRAP), *([before] if before else [])])
    return {**base, VARIABLE: json.dumps(wanted), "PYTHONPATH": path}


def run_folder(command: Sequence[str], base: Path, now: float | None = None) -> Path:
    """`base`/<script>-<local time>, one that does not exist yet."""
    stem = script_name(command)
    name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}"
    tries = [base / name, *(base / f"{name}-{i}" for i in range(2, 1000))]
    return next(folder for folder in tries if not folder.exists())


def script_name(command: Sequence[str]) -> str:
    """A short name for what a command trains: its first script, or the module after -m."""
    for word, after in zip(command, [*command[1:], ""], strict=True):
        if word == "-m" and after:
            return after.rsplit(".", 1)[-1]
        if word.endswith(".py"):
            return Path(word).stem
    return Path(command[0]).stem or "run"


def start_folder(folder: Path) -> None:
    """Make the store's folder. Raises ConfigError where that cannot be, or where a run is in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("steps-*.arrows")):
            raise ConfigError(f"--out {folder}: holds a recorded run; give another folder")
        (folder / ".launch").write_bytes(b"")
    except OSError as error:
        raise ConfigError(f"--out {folder}: cannot be written: {error.strerror}") from error


def launch(command: Sequence[str], request: Request, *, stdout: int = 1, stderr: int = 2) -> Ended:
    """Run `command` under capture, its output passed to the descriptors given.

    Raises ConfigError when there is no such program. The command has ended when this returns."""
    if shutil.which(command[0]) is None:
        known = Path(command[0]).is_file()
        hint = f"; to run a script: python {command[0]}" if known else ""
        raise ConfigError(f"{command[0]}: {'cannot be executed' if known else 'there is no such program'}{hint}")
    start_folder(request.out)
    begun = time.monotonic()
    with Tee(request.out, stdout, stderr) as tee:
        with HeldSignals() as held:
            try:
                child = subprocess.Popen(
                    list(command),
                    env=environment(request, os.environ),
                    stdout=tee.child_stdout,
                    stderr=tee.child_stderr,
                    preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, held.before),
                )
            except OSError as error:
                raise ConfigError(f"{command[0]}: cannot be executed: {error.strerror}") from error
            tee.start()
            held.forward_to(child)
            code = child.wait()
        tee.finish()
    return Ended(max(code, 0), max(-code, 0), time.monotonic() - begun)


FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class HeldSignals:
    """While the script runs, signals do not end the launcher but are handed on to the script.

    One from the terminal (Ctrl-C) has reached the script already: the kernel sends those to the
    whole group, and says so in `si_code`."""

    def __enter__(self) -> HeldSignals:
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
        self.over = threading.Event()
        return self

    def forward_to(self, child: subprocess.Popen[bytes]) -> None:
        def waiting() -> None:
            while not self.over.is_set():
                told = signal.sigtimedwait(FORWARDED, 0.2)
                if told is not None and told.si_code <= 0 and child.poll() is None:
                    child.send_signal(told.si_signo)

        self.thread = threading.Thread(target=waiting, name="traindx-signals", daemon=True)
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.over.set()
        while signal.sigtimedwait(FORWARDED, 0) is not None:  # those that came last were the script's
            continue
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)
