"""Start the user's command as it is, under capture, and wait for it.

The command's process gets an environment in which Python loads `bootstrap/sitecustomize.py` first;
everything else (files, folder, arguments, signals, terminal) is what it would have been. Its output
passes through unchanged and is kept, up to a bound, next to the store: what the script prints is
evidence, too.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from traindx.capture.framework import frameworks
from traindx.capture.launch.bootstrap.sitecustomize import VARIABLE
from traindx.capture.launch.folder import Claim
from traindx.capture.launch.output import HOME, Relayed
from traindx.capture.launch.signals import Held
from traindx.errors import ConfigError
from traindx.version import OWN_THREADS

BOOTSTRAP = Path(__file__).parent / "bootstrap"


class Request(NamedTuple):
    """What to record: `out` the store's folder, `steps` to end after (None: all), `every` n-th step
    measured per module (None: adaptive)."""

    out: Path
    steps: int | None = None
    every: int | None = None
    curvature: bool = False
    interventions: tuple[str, ...] = ()  # NAME=VALUE each
    patient: bool = False  # read every batch, however long that takes
    updates: bool = True  # copy parts of the weights, to measure how steps change them
    overhead: float | None = None  # share of the run's time that capture may take
    probes: bool | str = False  # probe the live model after the last of `steps`; "room", "speed": that alone
    keep: bool = False  # write the weights next to the record when the script has ended
    slices: tuple[str, ...] = ()  # columns by which held-out data is looked at in groups
    profile: tuple[int, int] | None = None  # trace so many steps after so many, and record nothing else
    stop_on: str | None = None  # severity of a finding by which the script is ended
    asked: bool = False  # an experiment, that is asked to end by SIGTERM: close the record then


class Ended(NamedTuple):
    """How the command ended: its exit status, or the signal that killed it; `seconds` it took, and the last
    signal that was sent to us for it (0: none)."""

    status: int
    signal: int
    seconds: float
    asked: int = 0

    @property
    def shell_status(self) -> int:
        """As a shell would give it: 128 + n for a signal n."""
        return 128 + self.signal if self.signal else self.status


def environment(request: Request, base: Mapping[str, str], folder: str | None = None) -> dict[str, str]:
    """`base` with the request in it, and the bootstrap's folder in front of PYTHONPATH. `folder` is
    the one that the command will run in, if that is not ours."""
    before = base.get("PYTHONPATH")
    ours = (OWN_THREADS, *base.get(OWN_THREADS, "").split(","))
    wanted = {
        "out": str(request.out.absolute()),
        "steps": request.steps,
        "every": request.every,
        "curvature": request.curvature,
        "with": request.interventions,
        "patient": request.patient,
        "updates": request.updates,
        "probes": request.probes,
        "keep": request.keep,
        "slices": request.slices,
        "overhead": request.overhead,
        "asked": request.asked,
        "stop_on": request.stop_on,
        "profile": request.profile,
        "frameworks": [
            framework.imported for framework in frameworks(*(("trace",) if request.profile else ()))
        ],
        "optimizers": [name for framework in frameworks() for name in framework.optimizers],
        "home": str(HOME),
        "pythonpath": before,
        "folder": folder or os.getcwd(),
    }
    path = os.pathsep.join([str(BOOTSTRAP), *([before] if before else [])])
    theirs = {name: value for name, value in base.items() if name not in ours}
    loud = request.profile or request.probes not in (False, "speed")  # the profiler logs to stderr
    quiet = {"KINETO_LOG_LEVEL": base.get("KINETO_LOG_LEVEL", "99")} if loud else {}
    return {**theirs, **quiet, VARIABLE: json.dumps(wanted), "PYTHONPATH": path}


def launch(
    command: Sequence[str], request: Request, *, stdout: int = 1, stderr: int = 2,
    begun: Callable[[int], None] = lambda _: None,
) -> Ended:  # fmt: skip
    """Run `command` under capture, its output passed to the descriptors given. In the main thread. `begun` is called
    once the script has been started, with a descriptor that takes lines to print below its output (status_line.py).

    Raises ConfigError when there is no such program, or another start is at work in the folder. The command
    has ended when this returns."""
    check_program(command[0])
    with Claim(request.out):
        since = time.monotonic()
        with Held() as held:
            try:
                relayed = Relayed(request.out, stdout, stderr)
            except OSError as error:
                raise ConfigError(f"the script's output cannot be passed on: {error.strerror}") from error
            try:
                script = start_script(command, request, relayed, held)
                begun(relayed.notes)
                code = held.wait_for(script, relayed.received)
            except BaseException:
                relayed.close()
                raise
        try:
            relayed.ended()
        finally:
            relayed.close()
    return Ended(max(code, 0), max(-code, 0), time.monotonic() - since, held.asked)


def check_program(program: str) -> None:
    """Raises ConfigError when there is no such program."""
    if shutil.which(program) is None:
        known = Path(program).is_file()
        hint = "cannot be executed: put its interpreter before it, such as bash or python"
        raise ConfigError(f"{program}: {hint if known else 'there is no such program'}")


def start_script(
    command: Sequence[str], request: Request, relayed: Relayed, held: Held
) -> subprocess.Popen[bytes]:
    """The script, with its output in the relay's hands. Raises ConfigError."""
    try:
        script = subprocess.Popen(
            list(command),
            env=environment(request, os.environ),
            stdout=relayed.stdout,
            stderr=relayed.stderr,
            preexec_fn=held.begin,
        )
    except OSError as error:
        raise ConfigError(f"{command[0]}: cannot be executed: {error.strerror}") from error
    relayed.begun(script.pid)
    return script
