"""False alarms and delay while runs are written: `python -m benchmarks.streams FOLDER… [--records] [--rows FILE]
[--figure FILE]`.

A FOLDER holds labelled public logs (`labels.json` and `logs/`, see `benchmarks.readings`), public programs that were
started (`python -m benchmarks.world FOLDER`), or runs of the gym (`python -m benchmarks.gym run FOLDER`). Each run is
cut after each of its rows (after 4 % of growth in long ones), every beginning is diagnosed, and the events that
`traindx watch` would print are counted. The alarm rules of other tools are asked about the same beginnings.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.streams.cases import Case, cases, read
from benchmarks.streams.replay import Replayed, replayed
from benchmarks.streams.table import table


def replay(case: Case) -> Replayed | None:
    run = read(case)
    return None if run is None else replayed(run, case.name, case.half, case.kind)


def replay_all(wanted: list[Case], workers: int) -> tuple[list[Replayed], int]:
    """What was replayed, and how many cases could not be read or were too short."""
    with ProcessPoolExecutor(workers) as pool:
        answers = list(pool.map(replay, wanted))
    found = [one for one in answers if one is not None]
    return found, len(answers) - len(found)


def save(found: list[Replayed], path: Path) -> None:
    """Every event, one JSON line each after the name of its run."""
    from traindx.reports.json import line

    path.write_text("".join(f"{one.name} {line(event)}\n" for one in found for event in one.events))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--records", action="store_true", help="of the gym: what was recorded, not printed")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time")
    parser.add_argument("--rows", type=Path, help="keep every event, one JSON line each")
    parser.add_argument("--figure", type=Path, help="draw how many runs were alarmed as they grew")
    options = parser.parse_args()
    wanted = {case.name: case for folder in options.folders for case in cases(folder, options.records)}
    found, unread = replay_all(list(wanted.values()), options.workers)  # a run in two folders counts once
    print(
        f"{len(found)} runs, {sum(one.looks for one in found)} beginnings; {unread} not read or too short\n"
    )
    print(table(found))
    if options.rows:
        save(found, options.rows)
    if options.figure:
        from benchmarks.streams.figure import draw

        draw(found, options.figure)


if __name__ == "__main__":
    main()
