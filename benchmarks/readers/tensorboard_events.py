"""TensorBoard event files: traindx beside TensorBoard's EventAccumulator and tbparse.

    python -m benchmarks.readers.tensorboard_events --events 1000000 --rounds 3

Writes five event files, reads each with every reader that is installed, in turns, and prints a
Markdown table: millions of values per second (median), and in brackets how many times the
EventAccumulator's (size_guidance 0: all events). traindx checks every checksum of length and
payload. `--memory` adds the peak memory of traindx over what the numbers take (wall time, step,
value and row of every event: 32 bytes).
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from traindx.readers.formats import tensorboard
from traindx.readers.raw import HEAD_BYTES, Source
from traindx.readers.tfevents.crc import crc32c, mask_crc
from traindx.vocabulary.run import Floats

TAGS = [
    "loss",
    "train/acc",
    "val/loss",
    "val/accuracy",
    "lr",
    "grad_norm",
    "time/step_time",
    "metrics/mAP50",
    "a/b/c",
    "x",
]
MANY = [f"layer{i}/{tag}" for i in range(20) for tag in TAGS]


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def block(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def simple(tag: str, value: float) -> bytes:
    return block(1, block(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def tensor(tag: str, value: float) -> bytes:
    content = b"\x08\x01\x12\x00" + block(4, struct.pack("<f", value))
    return block(1, block(1, tag.encode()) + block(9, block(1, block(1, b"scalars"))) + block(8, content))


def event(wall: float, step: int, values: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", wall) + (b"\x10" + varint(step) if step else b"") + block(5, values)


def histogram(limits: Floats) -> bytes:
    """A HistogramProto with these bucket limits: five numbers, then limits and counts, packed."""
    heads = b"".join(bytes([field << 3 | 1]) + struct.pack("<d", 1.0) for field in range(1, 6))
    octets = np.sort(limits).astype("<f8").tobytes()
    return heads + block(6, octets) + block(7, np.abs(limits).astype("<f8").tobytes())


def regular(count: int, tags: list[str], make: Callable[[str, float], bytes]) -> Iterator[bytes]:
    """Every tag at every step."""
    noise = np.random.default_rng(0).standard_normal(count)
    for i in range(count):
        yield event(1.7e9 + i * 0.01 + noise[i] * 1e-3, i // len(tags), make(tags[i % len(tags)], noise[i]))


def multi(count: int) -> Iterator[bytes]:
    """Ten values per event."""
    noise = np.random.default_rng(0).standard_normal((count // 10, 10))
    for i, row in enumerate(noise):
        values = b"".join(simple(tag, v) for tag, v in zip(TAGS, row, strict=True))
        yield event(1.7e9 + i * 0.01, i, values)


def irregular(count: int) -> Iterator[bytes]:
    """Tags in no order, some rare, steps that jump and restart, a histogram among a hundred."""
    rng = np.random.default_rng(0)
    which = rng.choice(len(MANY), count, p=rng.dirichlet(np.full(len(MANY), 0.5)))
    steps = np.cumsum(rng.integers(0, 4, count)) % (1 << 21)
    noise = rng.standard_normal(count)
    rough = rng.random(count) < 0.01
    for i in range(count):
        if rough[i]:
            buckets = block(
                1, block(1, b"weights") + block(5, histogram(rng.standard_normal(rng.integers(20, 180))))
            )
            yield event(1.7e9 + i * 0.01, int(steps[i]), buckets)
        yield event(1.7e9 + i * 0.01, int(steps[i]), simple(MANY[which[i]], noise[i]))


def write(path: Path, payloads: Iterator[bytes]) -> None:
    """Frame the payloads; checksums in batches."""
    version = b"\x09" + struct.pack("<d", 1.7e9) + block(3, b"brain.Event:2")
    batch: list[bytes] = [version]
    with open(path, "wb") as out:
        for payload in payloads:
            batch.append(payload)
            if len(batch) == 10_000:
                out.write(framed(batch))
                batch = []
        out.write(framed(batch))


def framed(payloads: list[bytes]) -> bytes:
    sizes = [struct.pack("<Q", len(p)) for p in payloads]
    heads, bodies = checksums(sizes), checksums(payloads)
    return b"".join(x for parts in zip(sizes, heads, payloads, bodies, strict=True) for x in parts)


def checksums(parts: list[bytes]) -> list[bytes]:
    lengths = np.array([len(p) for p in parts], np.int64)
    data = np.frombuffer(b"".join(parts), np.uint8)
    return [c.tobytes() for c in mask_crc(crc32c(data, np.cumsum(lengths) - lengths, lengths)).astype("<u4")]


def ours(path: Path) -> int:
    with open(path, "rb") as stream:
        head = stream.read(HEAD_BYTES)
    (log,) = tensorboard.read(Source(str(path), path, head=head))
    return sum(len(c.values) for c in log.columns.values())


def accumulator(path: Path) -> int:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    kinds = ("scalars", "tensors", "histograms", "images", "audio", "compressedHistograms")
    found = EventAccumulator(str(path), size_guidance=dict.fromkeys(kinds, 0))
    found.Reload()
    tags = found.Tags()
    return sum(len(found.Scalars(t)) for t in tags["scalars"]) + sum(
        len(found.Tensors(t)) for t in tags["tensors"]
    )


def tbparse(path: Path) -> int:
    from tbparse import SummaryReader

    found = SummaryReader(str(path), pivot=False, extra_columns={"wall_time"})
    return len(found.scalars) or len(found.tensors)


def seconds(read: Callable[[Path], int], path: Path, count: int) -> float:
    begin = time.perf_counter()
    got = read(path)
    spent = time.perf_counter() - begin
    if got != count:
        print(f"{read.__name__} found {got} values, not {count}", file=sys.stderr)
    return spent


def measure(cases: dict[str, Path], count: int, rounds: int, peers: list[Callable[[Path], int]]) -> None:
    """One row per file; readers take turns, ours before and after every peer."""
    print("| file | MB | traindx | " + " | ".join(p.__name__ for p in peers) + " |")
    print("|---" * (3 + len(peers)) + "|")
    for name, path in cases.items():
        spent: dict[str, list[float]] = {r.__name__: [] for r in (ours, *peers)}
        ours(path)  # the file is in the page cache, the code is warm
        for _ in range(rounds):
            for peer in peers:
                spent["ours"] += [seconds(ours, path, count) for _ in range(3)]
                spent[peer.__name__].append(seconds(peer, path, count))
            spent["ours"] += [seconds(ours, path, count) for _ in range(3)]
        middle = {reader: statistics.median(times) for reader, times in spent.items()}
        base = middle.get("accumulator")
        cells = [f"{count / t / 1e6:.3g}" + (f" ({base / t:.3g}x)" if base else "") for t in middle.values()]
        print(f"| {name} | {path.stat().st_size / 1e6:.0f} | " + " | ".join(cells) + " |", flush=True)


def peak_bytes() -> int:
    """Peak resident memory of this process so far (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def memory(cases: dict[str, Path], count: int) -> None:
    """Peak memory of a process that reads one file, over what it took before."""
    print(f"\nPeak memory over the numbers ({count * 32 / 2**20:.0f} MiB):")
    for name, path in cases.items():
        out = subprocess.run([sys.executable, "-m", "benchmarks.readers.tensorboard_events", "--peak", str(path)],
                             capture_output=True, text=True, check=True).stdout  # fmt: skip
        print(f"- {name}: {float(out) / (count * 32):.2f}x")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--events", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--memory", action="store_true")
    options.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.peak:
        before = peak_bytes()
        ours(given.peak)
        print(peak_bytes() - before)
        return
    count = given.events // 1000 * 1000
    peers = {"tensorboard": accumulator, "tbparse": tbparse}
    installed = [peer for module, peer in peers.items() if importlib.util.find_spec(module)]
    made = {
        "10 tags, simple values": regular(count, TAGS, simple),
        "10 tags, tensors": regular(count, TAGS, tensor),
        "200 tags, simple values": regular(count, MANY, simple),
        "irregular, 200 tags": irregular(count),
        "10 values per event": multi(count),
    }
    with tempfile.TemporaryDirectory() as folder:
        cases = {name: Path(folder) / f"events.out.tfevents.{i}" for i, name in enumerate(made)}
        for name, payloads in made.items():
            write(cases[name], payloads)
        measure(cases, count, given.rounds, installed)
        if given.memory:
            memory(cases, count)


if __name__ == "__main__":
    main()
