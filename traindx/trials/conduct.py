"""One experiment: the user's command under capture with interventions, as one bounded process.

The command runs in a scratch copy of its folder (scratch.py), may write nowhere else where the
kernel can hold that (fence.py), and is ended together with everything it started (keeper.py). What
it prints is kept, up to a bound, in `stdout.log` beside the record.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

from traindx.errors import ConfigError
from traindx.own import OWN_THREADS
from traindx.redaction import Redacted, redact_text
from traindx.trials import scratch
from traindx.trials.warm import Forked, Warm

HOME = Path(__file__).parents[2]  # the folder that holds the package
KEEPER = "import sys; sys.path.insert(0, sys.argv.pop(1)); from traindx.trials.keeper import main; main()"
KEPT_BYTES = 8 << 20  # of the output are written to stdout.log
TAIL_BYTES = 16 << 10  # and its end is kept in memory
DEVICES = ("/dev", "/proc")  # may be written to: accelerators, shared memory, settings of the process itself
FREE_BYTES = 256 << 20  # left on the scratch's disk; below that an experiment is ended
LOOK = 0.25  # seconds between two looks at the disk and at `stop`
GRACE = 2.0  # seconds between being asked to end and being killed

Keeping = subprocess.Popen[bytes] | Forked
EndedHow = Literal["finished", "out-of-time", "full-disk", "stopped", "not-started"]


class Recording(Protocol):
    """Prepares a record: makes the folder `out` and gives the environment, based on `base`, in which
    a command that runs in `folder` records itself there. Raises ConfigError."""

    def __call__(
        self, out: Path, interventions: Sequence[str], steps: int | None, base: Mapping[str, str], folder: str
    ) -> dict[str, str]: ...


class Conducted(NamedTuple):
    """How an experiment went.

    `out` is the folder of its record (it may hold none), `status` the exit status, `signal` what
    killed it (0: nothing), `tail` the end of what it printed. `fenced`: the kernel kept it from
    writing outside of its scratch copy. `linked`: files and folders too large to be copied,
    `left_out`: sockets, pipes and what cannot be read, which the scratch copy lacks,
    `changed`: files in the user's project that changed meanwhile, through whomever. `why` is set
    where it could not be started."""

    out: Path
    ended: EndedHow
    status: int
    signal: int
    seconds: float
    tail: str
    interventions: tuple[str, ...]
    fenced: bool
    linked: tuple[str, ...]
    changed: tuple[str, ...]
    why: str = ""
    left_out: tuple[str, ...] = ()
    warm: bool = False  # forked from a Python that had its libraries loaded

    @property
    def ok(self) -> bool:
        """Whether the command came to its end, and without an error."""
        return self.ended == "finished" and not self.status and not self.signal

    def words(self) -> str:
        """How it ended, as a clause for the user."""
        if self.ended == "finished" and self.signal:
            return f"killed by signal {self.signal}"
        if self.ended == "finished" and self.status:
            return f"ended with status {self.status}: {last_line(self.tail)}"
        return {
            "finished": "came to its end",
            "out-of-time": f"ended after {self.seconds:.0f} s, its time limit",
            "full-disk": "ended because the disk was nearly full",
            "stopped": "stopped",
            "not-started": f"could not be started: {self.why}",
        }[self.ended]


class Bounds(TypedDict, total=False):
    """What those who start a command hand on to `conduct`, which says what each means."""

    seconds: float | None
    writable: Sequence[str]
    threads: int | None
    stop: threading.Event | None
    edited: Mapping[str, str]
    folder: Path | None
    base: Mapping[str, str] | None


class Asked(Bounds, total=False):
    """And what is to be recorded of it, as `Request` says."""

    overhead: float | None
    probes: str
    keep: bool
    slices: tuple[str, ...]
    profile: tuple[int, int] | None


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "(it printed nothing)"


def conduct(
    command: Sequence[str],
    interventions: Sequence[str] = (),
    *,
    record: Recording,
    out: Path,
    steps: int | None = None,
    seconds: float | None = None,
    folder: Path | None = None,
    base: Mapping[str, str] | None = None,
    threads: int | None = None,
    grace: float = GRACE,
    copied_bytes: int = scratch.COPIED_BYTES,
    writable: Sequence[str] = (),
    stop: threading.Event | None = None,
    until: Callable[[], bool] | None = None,
    edited: Mapping[str, str] = {},
    warm: Warm | None = None,
) -> Conducted:
    """Run `command` as if in `folder` (default: here), recorded into `out`, and wait for its end.

    It is ended after `steps` optimizer steps, after `seconds`, when `stop` is set, or when `until`,
    which is asked four times a second, says so; in an exception (Ctrl-C) it is ended first. `base`
    is the environment (default: ours), `threads` the number of threads for its arithmetic,
    `writable` further paths that it may write to, `grace` the seconds
    that it gets to end by itself when it is asked to, `edited` the texts of files of the folder that it
    finds changed, `warm` has Pythons that it may be forked from. Raises ConfigError when there is no such program
    or intervention, OSError when the scratch copy has no room."""
    here = (folder or Path.cwd()).resolve()
    base = dict(os.environ if base is None else base)
    check_program(command[0], here, base)
    before = scratch.state(scratch.project(here))
    words = (*command, base.get("PYTHONPATH", ""))
    copy = scratch.make(here, words=words, home=Path(base.get("HOME") or Path.home()), copied_bytes=copied_bytes)
    begun = time.monotonic()
    try:
        for name, text in edited.items():
            scratch.rewrite(copy.folder / name, text)
        inside = with_threads(scratch.environment_in(base, copy), threads)
        environment = record(out, interventions, steps, inside, str(copy.folder))
        may_write = [str(out.resolve()), *scratch.caches(base), *writable]
        request = {**order(command, copy, may_write), "seconds": seconds, "grace": grace}
        tail, answer = kept(request, environment, copy, out / "stdout.log", stop, until, warm)
        changed = scratch.changes(before, scratch.state(copy.root), besides=os.path.relpath(out.resolve(), copy.root))
    finally:
        scratch.remove(copy.place)
    done = conducted(out, tuple(interventions), time.monotonic() - begun, tail, answer)
    return done._replace(linked=copy.linked, left_out=copy.left_out, changed=changed)


def order(command: Sequence[str], copy: scratch.Scratch, writable: Sequence[str]) -> dict[str, object]:
    """What a keeper is asked to run, and where that may write."""
    places = [str(copy.place), *DEVICES, *writable]
    return {"command": scratch.command_in(command, copy), "writable": places, "place": str(copy.place)}


def conducted(
    out: Path, interventions: tuple[str, ...], seconds: float, tail: str, answer: Mapping[str, Any]
) -> Conducted:
    """What a keeper answered, in the words of this module."""
    return Conducted(
        out=out,
        ended=answer.get("ended", "stopped"),
        status=int(answer.get("status", 0)),
        signal=int(answer.get("signal", 0)),
        seconds=seconds,
        tail=tail,
        interventions=interventions,
        fenced=bool(answer.get("fenced", False)),
        linked=(),
        changed=(),
        why=str(answer.get("why", "")),
        warm=bool(answer.get("warm", False)),
    )


def kept(
    request: Mapping[str, object],
    environment: Mapping[str, str],
    copy: scratch.Scratch,
    log: Path,
    stop: threading.Event | None,
    until: Callable[[], bool] | None,
    warm: Warm | None = None,
) -> tuple[str, dict[str, Any]]:
    """Run a request under a keeper; the end of its output, and the keeper's answer."""
    output = Output(log)
    lifeline, ours = os.pipe()
    answers, answer = os.pipe()
    ended: dict[str, Any] = {}
    try:
        keeper: Keeping | None = None
        if warm is not None:
            keeper = forked(request, environment, copy, warm, (lifeline, answer, answers))
            ended["warm"] = keeper is not None
        keeper = keeper or started(request, environment, copy, lifeline, answer)
    finally:
        os.close(lifeline)
        os.close(answer)
    try:
        ended |= follow(keeper, output, copy.place, stop, until)
    finally:
        os.close(ours)  # where the command still runs, this ends it and all that it started
        output.rest(keeper)
        keeper.wait()
        with os.fdopen(answers, "rb") as told, contextlib.suppress(ValueError):
            ended = {**json.loads(told.read()), **ended}
    return redact_text(output.tail.decode("utf-8", "replace")), ended


def started(
    request: Mapping[str, object], environment: Mapping[str, str], copy: scratch.Scratch, lifeline: int, answer: int
) -> Keeping:
    """A keeper of its own."""
    asked = {**request, "lifeline": lifeline, "answer": answer}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", KEEPER, str(HOME), json.dumps(asked)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=copy.folder,
        env=dict(environment),
        pass_fds=(lifeline, answer),
        start_new_session=True,
    )


def forked(
    request: Mapping[str, object],
    environment: Mapping[str, str],
    copy: scratch.Scratch,
    warm: Warm,
    pipes: tuple[int, int, int],
) -> Keeping | None:
    """A keeper that is forked from a Python with the script's libraries in it; None where that cannot be. `pipes`:
    lifeline, answer, and where the answer can be read."""
    lifeline, answer, answers = pipes
    output, theirs = os.pipe()
    asked = {**request, "environment": environment, "folder": str(copy.folder)}
    try:
        begun = warm.fork(asked, (theirs, lifeline, answer))
    finally:
        os.close(theirs)
    if not begun:
        os.close(output)
        return None
    return Forked(os.fdopen(output, "rb", buffering=0), answers)


def follow(
    keeper: Keeping,
    output: Output,
    place: Path,
    stop: threading.Event | None,
    until: Callable[[], bool] | None,
) -> dict[str, Any]:
    """Take the output until the keeper has ended; why it is to be ended before, if it is."""
    while keeper.poll() is None:
        output.take(keeper, LOOK)
        if (stop is not None and stop.is_set()) or (until is not None and until()):
            return {"ended": "stopped"}
        if shutil.disk_usage(place).free < FREE_BYTES:
            return {"ended": "full-disk"}
    return {}


class Output:
    """What a command prints: its beginning goes into a file, its end is kept in memory."""

    def __init__(self, log: Path) -> None:
        self.log, self.room = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), KEPT_BYTES
        self.tail, self.lines = b"", Redacted()

    def take(self, keeper: Keeping, patience: float) -> bool:
        """What there is within `patience` seconds. False when there was nothing, or no writer is left."""
        assert keeper.stdout is not None
        ready, _, _ = select.select([keeper.stdout], [], [], patience)
        data = os.read(keeper.stdout.fileno(), 65536) if ready else b""
        if data:
            self.keep(self.lines.add(data))
            self.tail = (self.tail + data)[-TAIL_BYTES:]
        elif ready:
            time.sleep(0.01)  # it has closed its output and still runs
        return bool(data)

    def keep(self, lines: bytes) -> None:
        os.write(self.log, lines[: self.room])
        self.room -= min(self.room, len(lines))

    def rest(self, keeper: Keeping) -> None:
        """What is printed until the keeper has ended: it must not wait for a reader meanwhile."""
        while keeper.poll() is None:
            self.take(keeper, LOOK)
        while self.take(keeper, 0.0):
            continue
        assert keeper.stdout is not None
        keeper.stdout.close()
        self.keep(self.lines.rest())
        os.close(self.log)


def check_program(program: str, folder: Path, base: Mapping[str, str]) -> None:
    """Raises ConfigError when there is no such program."""
    found = folder / program if os.sep in program else shutil.which(program, path=base.get("PATH"))
    if found is None or not os.access(found, os.X_OK) or Path(found).is_dir():
        known = (folder / program).is_file()
        hint = f"; to run a script: python {program}" if known else ""
        raise ConfigError(f"{program}: {'cannot be executed' if known else 'there is no such program'}{hint}")


def with_threads(base: Mapping[str, str], threads: int | None) -> dict[str, str]:
    """`base` with a bound on the threads of arithmetic libraries, where one is given."""
    if threads is None:
        return dict(base)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {**base, **dict.fromkeys(names, str(threads)), OWN_THREADS: ""}
