"""What capture costs: python -m benchmarks.overhead.capture [mlp cnn gpt] [--blocks N] [--seconds S]

Blocks of plain steps and of recorded ones take turns in one process (so that both see the same machine),
and CPU time of the process is compared: `share` is the median over pairs of blocks of recorded / plain
- 1, `inside` the CPU time spent in traindx's own functions over that of a plain step, which does not
suffer from the noise between blocks. `noise` is the difference of plain blocks from plain ones. `watch` is
`traindx.watch` in the loop, `run` the hooks of the launcher (benchmarks.overhead.launched starts it as it
is). `--starts N` starts N processes anew and prints medians over them; `--peers` hangs wandb.watch and
TensorBoard's histograms into the same loop (they must be installed; of theirs only the share is known).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import traindx
from benchmarks.overhead.models import CASES, Case
from benchmarks.overhead.peers import PEERS, Peer

WAYS: dict[str, dict[str, Any]] = {
    "watch": {},
    "watch, every step": {"every": 1},
    "run": {},
    "run, every step": {"every": 1},
}
WARM = 10
START = (
    6.0  # seconds of recorded steps that come first: 0.2 s of measuring are allowed to any run as it begins
)


class Timed:
    """Sums the CPU time in functions that it wraps; nested calls count once."""

    def __init__(self) -> None:
        self.seconds, self._depth = 0.0, 0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return function(*args, **kwargs)
            self._depth += 1
            began = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.thread_time() - began
                self._depth -= 1

        return inner


def attach(timed: Timed) -> Callable[[], None]:
    """Time everything that capture hangs into a training; returns what undoes it."""
    from traindx.capture import watch
    from traindx.capture.session.session import Session
    from traindx.capture.session.stream import Stream
    from traindx.capture.torch.discover.watching import TorchLoop
    from traindx.capture.torch.hooks import Calls

    places: list[tuple[Any, str]] = [
        (watch.Watch, "log"),
        (watch.Watch, "batch"),
        (Session, "loss"),
        (Stream, "safely"),
    ]
    places += [(TorchLoop, name) for name in ("_step_begins", "_step_ends", "_gradient")]
    places += [(Session, "backward_seen"), (Calls, "before"), (Calls, "after")]
    kept = [(owner, name, getattr(owner, name)) for owner, name in places]
    for owner, name, function in kept:
        setattr(owner, name, timed.wrap(function))

    def undo() -> None:
        for owner, name, function in kept:
            setattr(owner, name, function)

    return undo


def block(case: Case, steps: int, log: Callable[[Any], None]) -> float:
    """CPU seconds of a step."""
    began = time.process_time()
    for _ in range(steps):
        case.step(log)
    return (time.process_time() - began) / steps


def compare(
    make: Callable[[], Case], options: dict[str, Any], blocks: int, seconds: float
) -> tuple[float, ...]:
    """Median share of recorded blocks, share inside of capture, plain milliseconds a step, and the
    share of plain blocks over plain ones. Two copies of the training take turns."""
    torch.manual_seed(0)
    one, other = make(), make()
    block(one, WARM, lambda loss: None)
    steps = max(4, int(seconds / block(one, 5, lambda loss: None)))
    timed = Timed()
    shares, noise, inside, plain = [], [], [], []
    undo = attach(timed)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            traindx.watch(other.model, other.optimizer, out=Path(folder), **options) as watch,
        ):
            block(other, max(3 * WARM, int(steps * START / seconds)), lambda loss: watch.log(loss=loss))
            for _ in range(blocks):
                first = block(one, steps, lambda loss: None)
                timed.seconds = 0.0
                watch.session.clock.interrupted = True  # the plain block is no part of a step
                second = block(other, steps, lambda loss: watch.log(loss=loss))
                inside.append(timed.seconds / steps)
                third = block(one, steps, lambda loss: None)
                plain += [first, third]
                shares.append(2 * second / (first + third) - 1)
                noise.append(abs(third / first - 1))
    finally:
        undo()
    base = statistics.median(plain)
    return statistics.median(shares), statistics.median(inside) / base, base * 1e3, statistics.median(noise)


def launched(
    make: Callable[[], Case], options: dict[str, Any], blocks: int, seconds: float
) -> tuple[float, ...]:
    """As `compare`, for the hooks of `traindx run`, which see all that trains in a process: the plain
    blocks are made before and after."""
    from traindx.capture.launch.attach import Process
    from traindx.capture.launch.bootstrap.sitecustomize import Watch
    from traindx.capture.torch.framework import TORCH

    torch.manual_seed(0)
    one = make()
    block(one, WARM, lambda loss: None)
    steps = max(4, int(seconds / block(one, 5, lambda loss: None)))
    timed = Timed()
    plain = [block(one, steps, lambda loss: None) for _ in range(blocks)]
    undo = attach(timed)
    found, inside = [], []
    with tempfile.TemporaryDirectory() as folder:
        process = Process({"out": folder, "folder": str(Path.cwd()), **options})
        process.watch = Watch()
        TORCH.attach(process)
        try:
            other = make()
            block(other, max(3 * WARM, int(steps * START / seconds)), lambda loss: None)
            for _ in range(blocks):
                timed.seconds = 0.0
                found.append(block(other, steps, lambda loss: None))
                inside.append(timed.seconds / steps)
        finally:
            process.end()
            undo()
    after = [block(one, steps, lambda loss: None) for _ in range(blocks)]
    base = statistics.median(plain + after)
    noise = abs(statistics.median(after) / statistics.median(plain) - 1)
    return statistics.median(found) / base - 1, statistics.median(inside) / base, base * 1e3, noise


def beside(make: Callable[[], Case], peer: Peer, blocks: int, seconds: float) -> tuple[float, ...]:
    """As `compare`, for somebody else's way of watching."""
    torch.manual_seed(0)
    one, other = make(), make()
    block(one, WARM, lambda loss: None)
    steps = max(4, int(seconds / block(one, 5, lambda loss: None)))
    shares, plain = [], []
    with tempfile.TemporaryDirectory() as folder, peer(other, Path(folder)) as log:
        block(other, WARM, log)
        for _ in range(blocks):
            first = block(one, steps, lambda loss: None)
            second = block(other, steps, log)
            third = block(one, steps, lambda loss: None)
            plain += [first, third]
            shares.append(2 * second / (first + third) - 1)
    return statistics.median(shares), math.nan, statistics.median(plain) * 1e3, math.nan


def measured(
    names: list[str], blocks: int, seconds: float, *, peers: bool
) -> Iterator[tuple[str, str, list[float]]]:
    """Case, way, and what `compare` gives, in this process."""
    torch.set_num_threads(1)
    for name in names:
        for way, options in WAYS.items():
            measure = compare if way.startswith("watch") else launched
            yield name, way, list(measure(CASES[name], options, blocks, seconds))
        for way, peer in PEERS.items() if peers else ():
            yield name, way, list(beside(CASES[name], peer, blocks, seconds))


def started(names: list[str], chosen: argparse.Namespace) -> Iterator[tuple[str, str, list[float]]]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.overhead.capture", *names, "--lines"]
    command += [
        "--blocks",
        str(chosen.blocks),
        "--seconds",
        str(chosen.seconds),
        *["--peers"] * chosen.peers,
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    for line in done.stdout.splitlines():
        with contextlib.suppress(json.JSONDecodeError):  # peers print as they like
            yield tuple(json.loads(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a block")
    parser.add_argument("--starts", type=int, default=1, help="processes that the medians are of")
    parser.add_argument("--peers", action="store_true", help="wandb.watch and TensorBoard's histograms too")
    parser.add_argument("--lines", action="store_true", help="one JSON line a row, at once")
    chosen = parser.parse_args()
    if chosen.lines:
        for row in measured(chosen.cases, chosen.blocks, chosen.seconds, peers=chosen.peers):
            print(json.dumps(row), flush=True)
        return
    print(
        f"{'':6}{'way':20}{'ms/step':>9}{'share':>9}{'inside':>9}{'noise':>9}   inside (peers: share), of the starts"
    )
    for name in chosen.cases:
        rows: dict[str, list[list[float]]] = {}
        for _ in range(chosen.starts):
            for _, way, found in started([name], chosen):
                rows.setdefault(way, []).append(found)
        for way, several in rows.items():
            share, inside, base, noise = map(statistics.median, zip(*several, strict=True))
            each = " ".join(f"{row[0] if math.isnan(row[1]) else row[1]:.1%}" for row in several)
            print(f"{name:6}{way:20}{base:9.2f}{share:9.1%}{inside:9.2%}{noise:9.1%}   {each}", flush=True)


if __name__ == "__main__":
    main()
