"""Whether a growing log is judged as `diagnose` would: `python -m benchmarks.streams.prefixes FOLDER… [--runs N]`.

The texts below each FOLDER are written piece by piece, cut in the middle of a line, and followed by the code of
`traindx watch`. At each place its diagnosis must be the one of a file that ends with the last whole line. Where that
file holds no log yet, there is nothing to compare.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from traindx import pipeline
from traindx.config import Config
from traindx.errors import ReadError
from traindx.live.follow import Follower
from traindx.live.sources import is_lines
from traindx.readers.raw import HEAD_BYTES
from traindx.reports.json import render
from traindx.version import VERSION
from traindx.vocabulary.diagnosis import Document

LEAST = 20  # lines of a log that is followed
LARGEST = 8 << 20  # bytes of it
APART = 3600.0  # seconds between two pieces: a look is always due


def is_followed(path: Path) -> bool:
    """Whether a file is a text of lines that is long enough, and a log."""
    if not path.is_file() or path.suffix == ".py" or path.stat().st_size > LARGEST:
        return False
    data = path.read_bytes()
    if not is_lines(data[:HEAD_BYTES]) or data.count(b"\n") < LEAST:
        return False
    try:
        return any(run.points for run in pipeline.read_all(path))
    except ReadError:
        return False


def ends(data: bytes, places: int) -> Iterator[int]:
    """Where a log is cut: spread over it, so that more is known each time, and wherever that is in a line."""
    first = data.index(b"\n") + 1
    yield from np.linspace(first, len(data), places + 1).astype(int)[1:]


def differences(path: Path, places: int, folder: Path) -> Iterator[str]:
    """The places at which a log that grows is judged otherwise than its beginning. `folder` is for the two copies."""
    data, growing, beginning = path.read_bytes(), folder / "grows" / path.name, folder / "begins" / path.name
    for copy in (growing, beginning):
        copy.parent.mkdir(parents=True)
    growing.touch()
    follower = Follower([str(growing)], Config(), lambda event, _key, _state: event)
    last = 0
    for n, end in enumerate(ends(data, places)):
        with growing.open("ab") as stream:
            stream.write(data[last:end])
        beginning.write_bytes(data[: data.rfind(b"\n", 0, end) + 1])
        last = end
        for _ in follower.poll(APART * n):
            pass
        wanted = expected(beginning)
        if wanted and said(follower, growing) != wanted:
            yield f"{path}: differs after {end} of {len(data)} bytes"


def said(follower: Follower, path: Path) -> str:
    """What the follower knows, as the JSON of `diagnose`."""
    followed = follower.followed[path]
    return render(Document(traindx_version=VERSION, runs=followed.diagnoses)).replace(str(path.parent), "")


def expected(path: Path) -> str:
    """The JSON of `diagnose`; "" where nothing can be read."""
    try:
        return pipeline.diagnose(pipeline.read_all(path)).to_json().replace(str(path.parent), "")
    except ReadError:
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams.prefixes", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=100, help="at most so many logs, spread over all")
    parser.add_argument("--places", type=int, default=20, help="at which each is compared")
    options = parser.parse_args()
    logs = [path for folder in options.folders for path in sorted(folder.rglob("*")) if is_followed(path)]
    places = np.linspace(0, len(logs) - 1, min(options.runs, len(logs))).astype(int)
    chosen = [logs[at] for at in places]
    found = []
    for path in chosen:
        with tempfile.TemporaryDirectory() as place:
            found += list(differences(path, options.places, Path(place)))
    print("\n".join(found))
    print(f"{len(chosen)} logs, {len(chosen) * options.places} places, {len(found)} differences")


if __name__ == "__main__":
    main()
