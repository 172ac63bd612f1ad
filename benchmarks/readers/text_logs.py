"""How fast the text reader goes through a log it has never met, beside a pattern written for it.

    python benchmarks/readers/text_logs.py [--megabytes 100]

Four lines of five fields out of five are records, the fifth is prose. The floor is reading the
bytes and counting lines; the known pattern is one regular expression, line by line, three fields.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from traindx.readers.formats import text
from traindx.readers.raw import HEAD_BYTES, Source

KNOWN = re.compile(r"iter (\d+) \| loss ([\d.]+) .* lr ([\d.e-]+)")


def write_log(path: Path, size: int) -> int:
    """Write about `size` bytes of log; returns the number of records."""
    rng = random.Random(0)
    step = written = 0
    with open(path, "w", encoding="utf-8") as out:
        while written < size:
            lines = []
            for _ in range(5000):
                step += 1
                loss = 2.0 + 8.0 / (1 + step / 2000) + 0.05 * rng.random()
                lines.append(
                    f"[2026-01-05 {step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d}] iter {step} |"
                    f" loss {loss:.4f}"
                    f" | grad_norm {rng.random() * 2:.3f} | lr {3e-4 / (1 + step / 1e5):.3e} | tok/s "
                    f"{100000 + rng.random() * 5000:.0f}\n"
                )
                if step % 4 == 0:
                    lines.append(
                        f"saving shard {rng.choice(('alpha', 'beta', 'gamma'))} of the model in the background\n"
                    )
            text_block = "".join(lines)
            out.write(text_block)
            written += len(text_block)
    return step


def floor(path: Path) -> int:
    with open(path, "rb") as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def known(path: Path) -> int:
    steps, losses, rates = array("d"), array("d"), array("d")
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            found = KNOWN.search(line)
            if found:
                steps.append(float(found[1]))
                losses.append(float(found[2]))
                rates.append(float(found[3]))
    return len(steps)


def ours(path: Path) -> int:
    with open(path, "rb") as stream:
        head = stream.read(HEAD_BYTES)
    (log,) = text.read(Source(str(path), path, head=head))
    return len(log.columns["loss"].values)


def timed(work: Callable[[Path], int], path: Path, repeats: int) -> tuple[float, int]:
    """Median CPU seconds of `repeats` runs, and what the last returned."""
    seconds, answer = [], 0
    for _ in range(repeats):
        begin = time.process_time()
        answer = work(path)
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds), answer


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        records = write_log(path, options.megabytes * 1_000_000)
        size = path.stat().st_size / 1e6
        print(f"{size:.0f} MB, {records} records")
        for name, work in (
            ("read and count lines", floor),
            ("known pattern, 3 fields", known),
            ("traindx, all fields", ours),
        ):
            seconds, answer = timed(work, path, options.repeats)
            print(
                f"{name:26s} {size / seconds:8.1f} MB/s  {records / seconds / 1000:8.0f} k records/s  ({answer})"
            )


if __name__ == "__main__":
    main()
