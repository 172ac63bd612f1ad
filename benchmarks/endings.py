"""End every verb at many places of its life, and see how it goes and what it leaves behind.

    python -m benchmarks.endings --out endings.jsonl
    python -m benchmarks.endings --out endings.jsonl --verbs run,fix --places 20

Each verb works on a small PyTorch script (or on a log, or on outcomes of trials) in a project, a home and a folder for
temporary files of its own. First it runs as it is, which gives its duration; then it is started anew and ended by
SIGINT (sent to the whole group, as a terminal does), SIGTERM and SIGKILL (sent to it alone) at evenly spaced fractions
of that. Expected: status 130 or 143 within 5 s, or a diagnosis of what was recorded until then (`DIAGNOSED`); no
process, no temporary folder, nothing in /dev/shm (the machine should be quiet otherwise), no file of the project or
the home changed, no traceback of ours, and in --output the old content or the whole new one. A Python that still loads
traindx ends by the signal itself. After SIGKILL, folders may be left: a following start of the same verb has to clear
them. Verbs in `SLOW` are killed at every third place only.

Results are appended to --out, one JSON line a case: what was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.ended import Place

SCRIPT = ("--", sys.executable, "train.py")
REPORT = ("-f", "json", "-o", "../report.json")
PROOF = ("--budget", "40s", "--jobs", "1", *REPORT, *SCRIPT)
VERBS: dict[str, tuple[str, ...]] = {
    "run": ("run", *REPORT, *SCRIPT),
    "run-steps": ("run", "--steps", "200", *REPORT, *SCRIPT),
    "memory": ("memory", *REPORT, *SCRIPT),
    "profile": ("profile", *REPORT, *SCRIPT),
    "check": ("check", "--budget", "20", *REPORT, *SCRIPT),
    "find-lr": ("find-lr", "--steps", "60", *REPORT, *SCRIPT),
    "investigate": ("investigate", *PROOF),
    "fix": ("fix", *PROOF),
    "diagnose": ("diagnose", *REPORT, "big.log"),
    "compare": ("compare", *REPORT, "a.csv", "b.csv"),
    "knowledge-import": ("knowledge", "import", "tried.jsonl"),
    "knowledge-export": ("knowledge", "export", "-o", "../report.json"),
    "demo": ("demo", *REPORT),
}
DIAGNOSED = ("run", "run-steps", "memory", "profile")  # what was recorded until then is reported
SLOW = ("check", "investigate", "fix")
QUICK = (
    "diagnose",
    "compare",
    "knowledge-import",
    "knowledge-export",
    "demo",
)  # started again, they run to their end
OWN = ("run", "p/model.pt")  # the script's own file, where it runs in its own folder
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LIMIT = 300.0  # seconds after which a case that does not end is killed
LATE = 5.0  # seconds until the end
OVER = 0.05  # seconds: who ends as it would have done within so long was about to end


def ended(verb: str, number: signal.Signals | None, after: float) -> dict[str, Any]:
    """One case: start, wait, send the signal (None: none), and look."""
    with tempfile.TemporaryDirectory(prefix="endings-") as folder:
        place = Place(Path(folder))
        if verb == "knowledge-export":
            place.start(*VERBS["knowledge-import"]).wait(LIMIT)
        begun = time.monotonic()
        process = place.start(*VERBS[verb])
        over = waited(process, after if number is not None else LIMIT)
        sent = time.monotonic()
        if number is not None and not over:
            os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        hangs = not waited(process, LIMIT)
        if hangs:
            process.kill()
        end = time.monotonic()
        status = process.wait()
        over = over or (status in (0, 1, 2) and end - sent < OVER)
        case = {"status": status, "over": over, "hangs": hangs, "seconds": round(end - sent, 2)}
        case |= {"took": round(end - begun, 2), "left": place.left(), **place.seen()}
        if number == signal.SIGKILL and not over:
            case["after"] = following(place, verb, case["temporary"])
        return case


def following(place: Place, verb: str, folders: list[str]) -> dict[str, Any]:
    """Start it again, until what was left is cleared (a quick verb to its end): its status, and what is left then."""
    process = place.start(*VERBS[verb])
    until = time.monotonic() + LIMIT
    while not waited(process, 0.05) and time.monotonic() < until:
        if verb not in QUICK and not set(folders) & set(place.folders()):
            process.terminate()
            break
    return {"status": process.wait(LIMIT), "left": place.left(), "temporary": place.folders()}


def waited(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it has ended within so long."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def faults(case: dict[str, Any]) -> list[str]:
    """What was not as expected, by kind."""
    found = [name for name in ("hangs", "left", "shared", "torn", "traceback") if case[name]]
    found += ["changed"] * any((case["verb"], name) != OWN for name in case["changed"])
    if "after" in case:
        again = case["after"]
        found += ["left-again"] * bool(again["left"]) + ["temporary"] * bool(again["temporary"])
        return found + ["following"] * (case["verb"] in QUICK and again["status"] not in (0, 1))
    found += ["temporary"] * bool(case["temporary"])
    if case["over"] or not case["signal"]:
        return found + ["status"] * (case["status"] not in (0, 1))
    number = signal.Signals[case["signal"]]
    reported = case["verb"] in DIAGNOSED and case["status"] in (0, 1) and case["records"]
    wrong = not reported and case["status"] not in (
        128 + number,
        -number,
    )  # a shell makes the first of the second
    return found + ["status"] * wrong + ["late"] * (case["seconds"] > LATE)


def table(cases: list[dict[str, Any]]) -> int:
    """Print a line for each verb, and one for each bad case; the number of those."""
    print(f"{'verb':<18}{'cases':>6}{'bad':>5}{'slowest end':>13}  kinds")
    for verb in dict.fromkeys(case["verb"] for case in cases):
        own = [case for case in cases if case["verb"] == verb]
        kinds = collections.Counter(kind for case in own for kind in faults(case))
        bad = sum(bool(faults(case)) for case in own)
        slowest = max((case["seconds"] for case in own if case["signal"]), default=0.0)
        print(
            f"{verb:<18}{len(own):>6}{bad:>5}{slowest:>11.1f} s  "
            + ", ".join(f"{n} {k}" for k, n in kinds.items())
        )
    for case in cases:
        if faults(case):
            print(f"\n{', '.join(faults(case))}: {json.dumps(case, indent=1)}")
    return sum(bool(faults(case)) for case in cases)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--verbs", default=",".join(VERBS), help="comma-separated; none: only the table of --out"
    )
    parser.add_argument("--places", type=int, default=10)
    given = parser.parse_args()
    cases = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    known = {(case["verb"], case["signal"], case["place"]): case for case in cases}
    for verb in filter(None, given.verbs.split(",")):
        asked: list[tuple[signal.Signals | None, float]] = [(None, 1.0)]
        for i in range(given.places):
            numbers = SIGNALS if verb not in SLOW or i % 3 == 1 else SIGNALS[:2]
            asked += [(number, round((i + 0.5) / given.places, 4)) for number in numbers]
        for number, place in asked:
            key = (verb, number.name if number else "", place)
            if key not in known:
                plain = known[verb, "", 1.0]["took"] if number else 0.0
                case = {
                    **dict(zip(("verb", "signal", "place"), key, strict=True)),
                    **ended(verb, number, place * plain),
                }
                known[key] = case
                with given.out.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(case) + "\n")
                print(*key, case["status"], f"{case['seconds']} s", *faults(case), file=sys.stderr)
    return 1 if table(list(known.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
