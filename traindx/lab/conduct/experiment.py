"""One experiment: the user's command under capture with interventions, as one bounded process.

The command runs in a scratch copy of its folder (scratch.py), may write nowhere else where the kernel can
enforce that (fence.py, enclosure.py), and is ended together with everything it started (keeper.py). What
it prints is kept, up to a limit, in `stdout.log` next to the record, or goes where the caller's `output`
puts it."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

from traindx.errors import ConfigError
from traindx.lab.conduct import enclosure, scratch
from traindx.lab.conduct.output import POLL, Output, OutputSink
from traindx.lab.conduct.warm import Forked, Warm
from traindx.redaction import redact_text
from traindx.version import OWN_THREADS

HOME = Path(__file__).parents[3]  # the folder that holds the package
KEEPER = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from traindx.lab.conduct.keeper import main; main()"
)
DEVICES = ("/dev", "/proc")  # writable: accelerators, shared memory, settings of the process itself
FREE_BYTES = 256 << 20  # kept free on the disk of the scratch copy; below that an experiment is ended
# A service of this machine is not in the experiment's network. Only the output shows that a connection to it
# was refused.
REFUSED = "Connection refused"
HOST = re.compile(r"host='([\w.:-]+)'")
WISH = "The script tried to reach the network{}; experiments run without it. Allow it with --network."
GRACE = 2.0  # seconds between being asked to end and being killed

Keeping = subprocess.Popen[bytes] | Forked
EndedHow = Literal["finished", "out-of-time", "full-disk", "stopped", "not-started"]


class Recording(Protocol):
    def __call__(
        self,
        out: Path,
        interventions: Sequence[str],
        steps: int | None,
        base: Mapping[str, str],
        folder: str,
    ) -> dict[str, str]:
        """Prepare a record: make the folder `out` and return the environment, based on `base`, in which
        a command that runs in `folder` records itself there. Raises ConfigError."""


class Conducted(NamedTuple):
    """How an experiment ended.

    `out` is the folder of its record (which may be empty), `status` the exit status, `signal` what killed
    it (0: nothing), `tail` the end of its output. `fenced`: the kernel kept it from writing outside of
    its scratch copy. `linked`: files and folders too large to be copied, `left_out`: sockets, pipes and
    unreadable files, which the scratch copy lacks, `changed`: files in the user's project that changed
    meanwhile, whoever changed them. `why` is set if it could not be started. `unfenced`: what the machine
    could not prevent. `wanted_network`: it tried to reach the network, which it did not have."""

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
    unfenced: tuple[str, ...] = ()
    wanted_network: bool = False

    def wish(self) -> str:
        """A sentence about the network that the script did not have, or ""."""
        host = HOST.search(self.tail)
        return WISH.format(f" ({host[1]})" if host else "") if self.wanted_network else ""

    @property
    def ok(self) -> bool:
        """Whether the command finished without an error."""
        return self.ended == "finished" and not self.status and not self.signal

    def describe_end(self) -> str:
        """How it ended, as a clause for the user."""
        if self.ended == "finished" and self.signal:
            return f"killed by signal {self.signal}"
        if self.ended == "finished" and self.status:
            return ". ".join(
                filter(None, [f"ended with status {self.status}: {last_line(self.tail)}", self.wish()])
            )
        return {
            "finished": "finished",
            "out-of-time": f"ended after {self.seconds:.0f} s, its time limit",
            "full-disk": "ended because the disk was nearly full",
            "stopped": "stopped",
            "not-started": f"could not be started: {self.why}",
        }[self.ended]


class Reach(TypedDict, total=False):
    """What a command may reach outside of its copy."""

    writable: Sequence[str]
    network: bool


class Bounds(Reach, total=False):
    """Options that callers pass on to `conduct`, where each is explained."""

    seconds: float | None
    threads: int | None
    stop: threading.Event | None
    edited: Mapping[str, str]
    folder: Path | None
    base: Mapping[str, str] | None


class Asked(Bounds, total=False):
    """And what to record, as in `Request`."""

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
    network: bool = False,
    stop: threading.Event | None = None,
    until: Callable[[], bool] | None = None,
    edited: Mapping[str, str] = {},
    warm: Warm | None = None,
    output: Callable[[Path], OutputSink] | None = None,
) -> Conducted:
    """Run `command` as if in `folder` (default: here), recorded into `out`, and wait for its end.

    It is ended after `steps` optimizer steps, after `seconds`, when `stop` is set, or when `until`, which
    is called four times a second, returns true; in an exception (Ctrl-C) it is ended first. `base` is the
    environment (default: ours), `threads` the number of threads for its arithmetic, `writable` further
    paths that it may write to, `network` whether it may use that, `grace` the seconds it gets to end by
    itself, `edited` the changed texts of files in the folder, `warm` has Pythons that it may be forked
    from, `output` makes what takes its output, from the path of its log (default: only that log). Raises
    ConfigError for an unknown program or intervention, OSError when the scratch copy has no room."""
    here = (folder or Path.cwd()).resolve()
    base = dict(os.environ if base is None else base)
    before = scratch.state(scratch.project(here))
    copy = copy_project(command, here, base, copied_bytes, edited)
    begun = time.monotonic()
    try:
        inside = with_threads(scratch.environment_in(base, copy), threads)
        environment = record(out, interventions, steps, inside, str(copy.folder))
        places = [str(out.resolve()), *writable]
        request = order(command, copy, (seconds, grace), places, scratch.caches(base), network)
        sink = (output or Output)(out / "stdout.log")
        tail, answer = run_under_keeper(request, environment, copy, sink, stop, until, warm)
        records = os.path.relpath(out.resolve(), copy.root)
        changed = scratch.changes(before, scratch.state(copy.root), except_in=records)
    finally:
        scratch.remove(copy.place)
    done = read_answer(out, tuple(interventions), time.monotonic() - begun, tail, answer, network)
    return done._replace(linked=copy.linked, left_out=copy.left_out, changed=changed)


def copy_project(
    command: Sequence[str], here: Path, base: Mapping[str, str], most: int, edited: Mapping[str, str]
) -> scratch.Scratch:
    """The scratch copy for a command. Raises ConfigError where there is no such program."""
    check_program(command[0], here, base)
    words, home = (*command, base.get("PYTHONPATH", "")), Path(base.get("HOME") or Path.home())
    return scratch.make(here, words=words, home=home, copied_bytes=most, edited=edited)


def order(
    command: Sequence[str],
    copy: scratch.Scratch,
    limits: tuple[float | None, float],
    writable: Sequence[str],
    caches: Sequence[str],
    network: bool,
) -> dict[str, object]:
    """The request to a keeper: what to run, for how many seconds, and what it may reach."""
    place = str(copy.place)
    view = {"place": place, "writable": writable, "caches": caches, "network": network}
    return {
        "command": [scratch.redirect_paths(word, copy) for word in command],
        "seconds": limits[0],
        "grace": limits[1],
        "writable": [place, *DEVICES, *writable, *caches],
        "place": place,
        "enclosure": view if enclosure.possible() else None,
    }


def read_answer(
    out: Path,
    interventions: tuple[str, ...],
    seconds: float,
    tail: str,
    answer: Mapping[str, Any],
    network: bool,
) -> Conducted:
    """The answer of a keeper as a result."""
    wanted = answer.get("wanted_network")  # None: it had the network of the machine
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
        unfenced=enclosure.limits(network),
        wanted_network=wanted is not None and (wanted or REFUSED in tail),
    )


def run_under_keeper(
    request: Mapping[str, object],
    environment: Mapping[str, str],
    copy: scratch.Scratch,
    output: OutputSink,
    stop: threading.Event | None,
    until: Callable[[], bool] | None,
    warm: Warm | None = None,
) -> tuple[str, dict[str, Any]]:
    """Run a request under a keeper. Returns the end of its output, and the keeper's answer."""
    lifeline, ours = os.pipe()
    answers, answer = os.pipe()
    ended: dict[str, Any] = {}
    try:
        keeper: Keeping | None = None
        if warm is not None:
            keeper = fork_keeper(request, environment, copy, warm, (lifeline, answer, answers))
            ended["warm"] = keeper is not None
        keeper = keeper or start_keeper(request, environment, copy, output, lifeline, answer)
    finally:
        os.close(lifeline)
        os.close(answer)
    try:
        ended |= follow(
            keeper, output, copy.place.parent, stop, until
        )  # the keeper may have removed the copy
    finally:
        os.close(ours)  # if the command still runs, this ends it and all that it started
        output.rest(keeper)
        keeper.wait()
        with os.fdopen(answers, "rb") as answered, contextlib.suppress(ValueError):
            ended = {**json.loads(answered.read()), **ended}
    return redact_text(output.tail.decode("utf-8", "replace")), ended


def start_keeper(
    request: Mapping[str, object],
    environment: Mapping[str, str],
    copy: scratch.Scratch,
    output: OutputSink,
    lifeline: int,
    answer: int,
) -> Keeping:
    """A keeper in a new process."""
    asked = {**request, "lifeline": lifeline, "answer": answer}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", KEEPER, str(HOME), json.dumps(asked)],
        stdin=output.stdin,
        stdout=output.stdout,
        stderr=output.stderr,
        cwd=copy.folder,
        env=dict(environment),
        pass_fds=(lifeline, answer),
        start_new_session=True,
    )


def fork_keeper(
    request: Mapping[str, object],
    environment: Mapping[str, str],
    copy: scratch.Scratch,
    warm: Warm,
    pipes: tuple[int, int, int],
) -> Keeping | None:
    """A keeper forked from a Python that has loaded the script's libraries, None where that is impossible.
    `pipes`: lifeline, answer, and where the answer can be read."""
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
    output: OutputSink,
    place: Path,
    stop: threading.Event | None,
    until: Callable[[], bool] | None,
) -> dict[str, Any]:
    """Take the output until the keeper has ended. Returns why it must end early, if so."""
    while keeper.poll() is None:
        output.take(keeper, POLL)
        if (stop is not None and stop.is_set()) or (until is not None and until()):
            return {"ended": "stopped"}
        if shutil.disk_usage(place).free < FREE_BYTES:
            return {"ended": "full-disk"}
    return {}


def check_program(program: str, folder: Path, base: Mapping[str, str]) -> None:
    """Raises ConfigError when there is no such program."""
    found = folder / program if os.sep in program else shutil.which(program, path=base.get("PATH"))
    if found is None or not os.access(found, os.X_OK) or Path(found).is_dir():
        known = (folder / program).is_file()
        hint = "cannot be executed: put its interpreter before it, such as bash or python"
        raise ConfigError(f"{program}: {hint if known else 'there is no such program'}")


def with_threads(base: Mapping[str, str], threads: int | None) -> dict[str, str]:
    """`base` with a limit on the threads of arithmetic libraries, if one is given."""
    if threads is None:
        return dict(base)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {**base, **dict.fromkeys(names, str(threads)), OWN_THREADS: ""}
