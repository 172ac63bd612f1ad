"""What TensorBoard and Trackio take for the runs that `traindx watch` follows:

    python -m benchmarks.overhead.watching_peers PYTHON [--runs 1 50 200] [--seconds 60]

PYTHON has `tensorboard` and `trackio`. For each number of runs, the same runs of 500 rows are event files and rows of
Trackio's database, and grow by one row a second (`watching_feeder.py`). One after the other follow them: `traindx watch`
on the event files, TensorBoard (it reloads every 5 s), and Trackio's dashboard with one open page, whose requests of
each second are made as its page makes them. CPU time and memory are those of all processes of each.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

PROJECT = "runs"
SETTLED = 20.0  # seconds until all was read once
BATCH = 64  # runs of one request of Trackio's page
PAGE = (
    "get_all_projects",
    "get_runs_for_project",
    "get_alerts",
)  # what it asks each second besides the rows
DASHBOARD = (
    "import sys, trackio; trackio.show(open_browser=False, host='127.0.0.1', server_port=int(sys.argv[1]))"
)


@contextmanager
def running(*command: str, **variables: str) -> Iterator[psutil.Process]:
    """A process that is ended with all that it started."""
    quiet = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    null = subprocess.DEVNULL
    with subprocess.Popen(
        command, env={**os.environ, **quiet, **variables}, stdout=null, stderr=null
    ) as child:
        process = psutil.Process(child.pid)
        try:
            yield process
        finally:
            for one in [*process.children(recursive=True), process]:
                one.kill()


def cost(process: psutil.Process) -> tuple[float, float]:
    """Seconds of a processor and MB of memory, of a process and all that it started."""
    several = [process, *process.children(recursive=True)]
    times = [one.cpu_times() for one in several]
    return sum(t.user + t.system for t in times), sum(one.memory_info().rss for one in several) / 1e6


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def asked(port: int, name: str, **words: Any) -> Any:
    """What Trackio's server answers. Raises OSError."""
    body = json.dumps(words).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/{name}", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]


def page_of(port: int) -> Callable[[], None]:
    """One second of an open page."""

    def ask() -> None:
        for name in PAGE:
            found = asked(port, name, **({} if name == "get_all_projects" else {"project": PROJECT}))
            if name == "get_runs_for_project":
                runs = [{"run": run["name"], "run_id": run.get("id")} for run in found]
        for at in range(0, len(runs), BATCH):
            asked(port, "get_logs_batch", project=PROJECT, runs=runs[at : at + BATCH], scalar_only=True)

    return ask


def nothing() -> None:
    """Neither `traindx watch` nor TensorBoard waits for a page."""


def measured(
    process: psutil.Process, seconds: float, each_second: Callable[[], None]
) -> tuple[float, float]:
    """The share of a core and the memory over some seconds, once everything was read."""
    spent(SETTLED, each_second)
    before, _ = cost(process)
    took = spent(seconds, each_second)
    after, memory = cost(process)
    return (after - before) / took, memory


def spent(seconds: float, each_second: Callable[[], None]) -> float:
    """Wait, and do something each second; one that takes longer is not made up for. The seconds that it took."""
    began = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        try:
            each_second()
        except urllib.error.URLError:
            if now > began + SETTLED:
                raise
        time.sleep(max(0.0, now + 1 - time.monotonic()))
    return time.monotonic() - began


def rows(python: str, runs: int, seconds: float, place: Path) -> Iterator[tuple[str, float, float]]:
    """Each tool with its share of a core and its memory, on runs that grow the while."""
    events, home = place / "events", {"TRACKIO_DIR": str(place / "trackio")}
    feeder = Path(__file__).with_name("watching_feeder.py")
    port, page = free_port(), free_port()
    state = str(place / "state")
    tools: tuple[tuple[str, list[str], dict[str, str], Callable[[], None]], ...] = (
        ("traindx watch", [sys.executable, "-m", "traindx", "watch", str(events), "--json"],
         {"XDG_STATE_HOME": state}, nothing),
        ("TensorBoard", [python, "-m", "tensorboard.main", "--logdir", str(events), "--port", str(port),
                         "--reload_interval", "5"], {}, nothing),
        ("Trackio", [python, "-c", DASHBOARD, str(page)], home, page_of(page)),
    )  # fmt: skip
    with running(python, str(feeder), str(events), PROJECT, str(runs), **home):
        while not (place / "events" / "ready").exists():
            time.sleep(0.5)
        for name, command, variables, each_second in tools:
            with running(*command, **variables) as process:
                yield name, *measured(process, seconds, each_second)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.overhead.watching_peers", description=__doc__
    )
    parser.add_argument("python", help="of an environment with tensorboard and trackio")
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 50, 200])
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    print("| runs | tool | CPU, share of a core | memory, MB |\n|---|---|---|---|")
    for runs in options.runs:
        with tempfile.TemporaryDirectory() as place:
            for name, cpu, memory in rows(options.python, runs, options.seconds, Path(place)):
                print(f"| {runs} | {name} | {cpu:.1%} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
