"""A script that a command starts once (`run`, `memory`, `profile`): where its record goes, and the end without one.

A start that ends the script early, or changes it, happens in a scratch copy of the folder: what the script saves on its
way out (`finally:`, `atexit`) is then the model of a few steps, and must not take the place of a real one.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from traindx.capture.launch.command import Ended, Request, check_program, environment, launch
from traindx.capture.launch.folder import DIARY, Claim, forget_start, run_folder
from traindx.capture.launch.output import Relayed
from traindx.capture.launch.stages import ASKING, PRINTED, has_records, last_output
from traindx.cli.api import (
    ConfigError,
    Output,
    click,
    command_argument,
    fence_options,
    note,
    state_limits,
)
from traindx.cli.interruptions import ASKED, Ended as Interrupted

RUNS = Path("traindx-runs")
COPY = "The script runs in a scratch copy{why}. What it writes there is thrown away."
# What the system says to a script that wants to write elsewhere: Landlock, and file systems that are read-only.
REFUSED = ("Permission denied", "Read-only file system")


def start_options(what: str = "record") -> Callable[[Any], Any]:
    """The command to start, `--out` for `what` is kept of it, and the options of the fence."""
    out = click.option(
        "--out",
        "folder_name",
        metavar="DIR",
        help=f"Keep the {what} in DIR. Default: {RUNS}/<script>-<time>.",
    )
    command = command_argument()
    return lambda verb: command(out(fence_options(verb)))


class Start:
    """A start of `command`, recorded in the folder that the user named, or in a new one under `RUNS`. Raises
    ConfigError where there is no such program."""

    def __init__(self, command: Sequence[str], folder_name: str | None) -> None:
        check_program(command[0])
        self.command = command
        self.named = bool(folder_name)
        self.folder = Path(folder_name) if folder_name else run_folder(command, RUNS)

    def launch(self, request: Request, out: Output, begun: Callable[[int], None] = lambda _: None) -> Ended:
        """Run it to its end, in the user's folder. `begun` is called once it has been started, as in `launch`."""
        with self.cleared():
            return launch(self.command, request, stdout=stdout_for(out), begun=begun)

    def launch_apart(self, request: Request, out: Output, why: str = "", **reach: Any) -> Ended:
        """Run it to its end in a scratch copy of the user's folder; `reach` is what else `conduct` lets it use."""
        from traindx.lab.conduct.attempts import conduct, fence_notes

        def record(
            out: Path, interventions: Sequence[str], steps: int | None, base: Mapping[str, str], folder: str
        ) -> dict[str, str]:
            return environment(request._replace(asked=True), base, folder)

        if not (self.folder / DIARY).exists():  # else `Claim` knows what of it is ours
            self.check_empty()
        state_limits(reach.get("network", False), out.quiet)
        note(COPY.format(why=why), out.quiet)
        with self.cleared(), Claim(self.folder):
            self.check_empty()
            with Relay(stdout_for(out)) as relay:
                done = conduct(self.command, record=record, out=self.folder, output=relay, **reach)
            if done.ended == "not-started":
                raise ConfigError(f"{self.command[0]}: cannot be executed: {done.why}")
        if done.ended == "full-disk":
            note(f"traindx: the script {done.describe_end()}")
        elif done.status and any(words in done.tail for words in REFUSED):
            note(
                "The script can only write to its scratch copy. --writable PATH allows another place.",
                out.quiet,
            )
        for line in fence_notes(done):
            note(f"traindx: {line}", out.quiet)
        return Ended(done.status, done.signal, done.seconds, relay.asked)

    def check_empty(self) -> None:
        """The script may write into its record's folder: nothing of the user's may be in it. Raises ConfigError."""
        there = self.folder.iterdir() if self.folder.is_dir() else ()
        other = sorted({path.name for path in there} - {DIARY, *PRINTED})
        if other:
            raise ConfigError(f"--out {self.folder}: holds other files ({other[0]}); give a new folder")

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        """Leave no empty folder behind where the script was not started."""
        try:
            yield
        except BaseException:
            self.clear()
            raise

    def nothing(self, why: str, ended: Ended) -> int:
        """Say why nothing can be reported; the exit status. A script that was asked to end is reported as interrupted."""
        self.clear()
        if ended.asked in ASKED:
            return Interrupted(signal.Signals(ended.asked)).report("")
        note(f"traindx: {why}")
        return 2

    def clear(self) -> None:
        """Leave no folder behind, unless it is the user's own or holds numbers."""
        if has_records(self.folder):
            return
        if self.named:
            forget_start(self.folder)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def stdout_for(out: Output) -> int:
    """Where the script's stdout goes: to ours, unless that is to hold a document for programs."""
    return 1 if out.path is not None or out.format == "text" else 2


class Relay:
    """Passes an experiment's output on while it runs, and our input and signals to it. For `conduct(output=...)`."""

    stdin = None  # as ours

    def __init__(self, target: int) -> None:
        self.target = target
        self.tail, self.asked = b"", 0
        self.keeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Relay:
        heeded = [
            number for number in ASKING if signal.getsignal(number) is not signal.SIG_IGN
        ]  # as under nohup
        self.before = {number: signal.signal(number, self.pass_on) for number in heeded}
        return self

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKING)
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def __call__(self, log: Path) -> Relay:
        try:
            self.folder, self.relayed = log.parent, Relayed(log.parent, self.target, 2)
        except OSError as error:
            raise ConfigError(f"the script's output cannot be passed on: {error.strerror}") from error
        self.stdout, self.stderr = self.relayed.stdout, self.relayed.stderr
        signal.pthread_sigmask(signal.SIG_BLOCK, ASKING)  # the keeper inherits it until it can hear them
        return self

    def pass_on(self, number: int, _frame: object) -> None:
        """The script ends by the signal that asked for it; one that comes before there is a script ends us."""
        if self.keeper is None:
            raise Interrupted(signal.Signals(number))
        self.asked = number
        self.keeper.send_signal(number)

    def begin(self, keeper: subprocess.Popen[bytes]) -> None:
        if self.keeper is None:
            self.keeper = keeper
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKING)
            self.relayed.begun(
                0
            )  # no process: if we are killed, the keeper ends the script and all that it started

    def take(self, keeper: subprocess.Popen[bytes], patience: float) -> None:
        """Wait for up to `patience` seconds."""
        self.begin(keeper)
        with contextlib.suppress(subprocess.TimeoutExpired):
            keeper.wait(patience)

    def rest(self, keeper: subprocess.Popen[bytes]) -> None:
        """Wait for the end, and until what was printed has arrived."""
        self.begin(keeper)
        keeper.wait()
        self.relayed.ended()
        self.relayed.close()
        self.tail = b"".join(last_output(self.folder, name) for name in PRINTED)
