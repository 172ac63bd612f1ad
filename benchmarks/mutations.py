"""Read damaged copies of all that traindx reads: nothing may crash, hang or eat the memory.

    python -m benchmarks.mutations --seed 1 --count 20000 --out mutations.jsonl
    python -m benchmarks.mutations --kind sources --seed 1 --case 17 --keep FOLDER    # the input of one case

Kinds are logs (`readers`), `records`, `traces`, `knowledge`, `configs`, `sources` and `notebooks` (see `mutated`), in
turn unless --kind is given. --logs is a folder of logs; a folder in it is one log (a TensorBoard directory, a run
folder ...). Case number i of a seed is always the same damage to the same input: every second
round to its bytes, the others to what it says (see `structures`). Each case is read, and a log diagnosed and written in
one of the four forms, by a worker process with a time limit and a memory limit (one log in `SPOKEN` by the command line
itself, whose answer has to be a document or a sentence and never a traceback); a warning (a division
by zero in numpy, say) counts as a failure too, and so do more than `--beyond` MiB over the numbers that
were read. Results are appended to --out, one JSON line a case:
a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import multiprocessing.connection
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mutated import DIAGNOSED, KINDS, LOGS, TASKS, logs_of
from benchmarks.structures import KINDS as STRUCTURES, special

GOOD = ("diagnosed", "refused")
MOST_BYTES = 1 << 26  # of a damaged file
HANGS = 60  # times the limit that a case may take by the clock on the wall
FORMS = ("text", "json", "markdown", "html")  # case by case in turn
SPOKEN = 99  # one case in so many is asked on the command line


def flip(data: bytearray, rng: np.random.Generator, _other: bytes) -> None:
    """One to a few hundred bytes get another value."""
    count = int(min(len(data), 2 ** rng.uniform(0, 9)))
    for place in rng.integers(0, len(data), count):
        data[place] ^= int(rng.integers(1, 256))


def cut(data: bytearray, rng: np.random.Generator, _other: bytes) -> None:
    """The tail, the head, or a piece of the middle is missing."""
    first, last = sorted(int(x) for x in rng.integers(0, len(data) + 1, 2))
    kind = rng.integers(3)
    if kind == 0:
        del data[last:]
    elif kind == 1:
        del data[:first]
    else:
        del data[first:last]


def splice(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    """A piece of another log, perhaps of another format, stands in the middle."""
    first, last = sorted(int(x) for x in rng.integers(0, len(other) + 1, 2))
    place = int(rng.integers(0, len(data) + 1))
    data[place:place] = other[first : min(last, first + 100_000)]


def repeat(data: bytearray, rng: np.random.Generator, _other: bytes) -> None:
    """A piece is there several times."""
    first, last = sorted(int(x) for x in rng.integers(0, len(data) + 1, 2))
    piece = bytes(data[first : min(last, first + 50_000)])
    data[last:last] = piece * int(rng.integers(1, 20))


def swap_lines(data: bytearray, rng: np.random.Generator, _other: bytes) -> None:
    """Some lines change places, as when two processes write to one file."""
    lines = bytes(data).split(b"\n")
    for _ in range(int(rng.integers(1, 20))):
        a, b = (int(x) for x in rng.integers(0, len(lines), 2))
        lines[a], lines[b] = lines[b], lines[a]
    data[:] = b"\n".join(lines)


def strange_tokens(data: bytearray, rng: np.random.Generator, _other: bytes) -> None:
    """Text that readers trip over stands where something else was."""
    tokens = (b"nan", b"1e999", b"-inf", b"9" * 400, b"\x00" * 40, b"\x1b[2J", b'"', b"{", b"[" * 3000, b",,,,", b"\r",
              b"\xff\xfe", b"<script>", b"1e-400", b"-0", "\u202e\u2028".encode(), b"9223372036854775808")  # fmt: skip
    for _ in range(int(rng.integers(1, 12))):
        place, length = int(rng.integers(0, len(data) + 1)), int(rng.integers(0, 12))
        data[place : place + length] = tokens[int(rng.integers(len(tokens)))]


MUTATIONS: tuple[Callable[[bytearray, np.random.Generator, bytes], None], ...] = (
    flip, cut, splice, repeat, swap_lines, strange_tokens,
)  # fmt: skip


def files_of(log: Path) -> list[Path]:
    return [log] if log.is_file() else sorted(p for p in log.rglob("*") if p.is_file())


def make_case(number: int, seed: int, logs: list[Path], folder: Path) -> tuple[Path, str]:
    """Write case `number` into `folder`; returns the damaged log and what was done to it."""
    rng = np.random.default_rng([seed, number])
    log, other = (logs[int(i)] for i in rng.integers(0, len(logs), 2))
    copy = folder / log.name
    if log.is_dir():
        shutil.copytree(log, copy)
    else:
        shutil.copyfile(log, copy)
    victims = files_of(copy)
    victim = victims[int(rng.integers(len(victims)))]
    other_files = files_of(other)
    stranger = other_files[int(rng.integers(len(other_files)))].read_bytes()
    data, done = bytearray(victim.read_bytes()), []
    kinds = STRUCTURES if number // len(KINDS) % 2 else MUTATIONS
    for index in rng.integers(0, len(kinds), int(rng.integers(1, 4))):
        if data and len(data) < MOST_BYTES:
            kinds[index](data, rng, stranger)
            done.append(kinds[index].__name__)
    victim.write_bytes(data)
    if kinds is STRUCTURES and rng.integers(8) == 0:
        done.append(special(victim, rng))
        copy = folder if rng.integers(2) or not copy.exists() else copy
    if copy.is_fifo():  # named on the command line it is waited for, as it should be
        copy = folder
    return copy, f"{log.name}: {'+'.join(done)}"


def work(pipe: multiprocessing.connection.Connection, memory: int) -> None:
    """A worker: takes paths, answers with (result, detail)."""
    import traindx

    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    pipe.send("ready")
    while True:
        kind, path, form = pipe.recv()
        began = time.process_time()
        Path("/proc/self/clear_refs").write_text("5")  # the peak is that of this case
        before, numbers = peak(), 0
        try:
            if kind in DIAGNOSED:
                runs = traindx.read_all(path)
                numbers = (
                    sum(s.steps.nbytes + s.values.nbytes for run in runs for s in run.series.values()) >> 20
                )
                diagnosis = traindx.diagnose(runs)
                getattr(diagnosis, f"to_{form}")().encode("utf-8")
            elif Path(path).is_file():
                TASKS[kind](Path(path))
            answer = ("diagnosed", "")
        except traindx.TraindxError as error:
            answer = ("refused", str(error)[:300])
        except MemoryError:
            answer = ("memory", traceback.format_exc(limit=-3))
        except Warning:
            answer = ("warning", traceback.format_exc(limit=-3))
        except Exception:
            answer = ("traceback", traceback.format_exc(limit=-6))
        pipe.send((*answer, peak() - before - numbers, time.process_time() - began))


def peak() -> int:
    """The most memory that this process held, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


class Worker:
    """A process that is replaced when it is too slow or dies."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.start()

    def start(self) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(
            target=work, args=(theirs, self.memory), daemon=True
        )
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def ask(self, kind: str, path: Path, form: str, limit: float) -> tuple[str, str, int, float]:
        """Result, detail, MiB beyond the numbers, and seconds of the processor."""
        self.pipe.send((kind, str(path), form))
        try:
            if self.pipe.poll(HANGS * limit):
                result, detail, extra, spent = self.pipe.recv()
                return (
                    ("timeout", f"{spent:.1f} s", extra, spent)
                    if spent > limit
                    else (result, detail, extra, spent)
                )
            answer = ("timeout", f"hangs for {HANGS * limit:g} s", 0, HANGS * limit)
        except EOFError:
            answer = ("died", f"exit code {self.process.exitcode}", 0, 0.0)
        self.stop()
        self.start()
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def spoken(path: Path, form: str, limit: float, memory: int) -> tuple[str, str, int, float]:
    """As `Worker.ask`, by `traindx diagnose`: exit status 0 or 1 with a document, or 2 with a sentence."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "traindx.cli.main",
        "diagnose",
        "--format",
        form,
        "--",
        str(path),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=HANGS * limit, preexec_fn=bounded, check=False
        )
    except subprocess.TimeoutExpired:
        return "timeout", f"hangs for {HANGS * limit:g} s", 0, HANGS * limit
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stderr.decode("utf-8", "replace")
    if spent > limit:
        return "timeout", f"{spent:.1f} s", 0, spent
    if "Traceback" in said or done.returncode not in (0, 1, 2):
        return "traceback", f"exit status {done.returncode}: {said[-600:]}", 0, spent
    if done.returncode == 2:
        sentence = bool(said.strip()) and not done.stdout
        return "refused" if sentence else "speechless", said[:300], 0, spent
    try:
        whole = json.loads(done.stdout)["runs"] if form == "json" else done.stdout.decode("utf-8").strip()
    except ValueError as error:
        return "undocumented", str(error), 0, spent
    return "diagnosed" if whole else "speechless", "", 0, spent


def cases_to_do(out: Path, count: int) -> Iterator[int]:
    done = {json.loads(line)["case"] for line in out.read_text().splitlines()} if out.exists() else set()
    return (number for number in range(count) if number not in done)


def report(out: Path) -> int:
    """Print the counts, every kind of failure once; the number of failed cases."""
    results = [json.loads(line) for line in out.read_text().splitlines()]
    counts = collections.Counter(r["result"] for r in results)
    slowest = max(results, key=lambda r: r["seconds"])
    print(f"{len(results)} cases: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    print(f"slowest {slowest['seconds']:.2f} s (case {slowest['case']}, {slowest['what']})")
    print(f"most memory beyond the numbers {max(r.get('beyond', 0) for r in results)} MiB")
    print(
        f"\n{'kind':<10} {'cases':>6} {'crashed':>8} {'slow':>5} {'large':>6} {'longest s':>10} {'most MiB':>9}"
    )
    for kind in dict.fromkeys(r["kind"] for r in results):
        own = [r for r in results if r["kind"] == kind]
        slow, large = (
            sum(r["result"] in names for r in own) for names in (("timeout",), ("greedy", "memory"))
        )
        bad = sum(r["result"] not in GOOD for r in own) - slow - large
        longest, most = max(r["seconds"] for r in own), max(r["beyond"] for r in own)
        print(f"{kind:<10} {len(own):>6} {bad:>8} {slow:>5} {large:>6} {longest:>10.2f} {most:>9}")
    failures = [r for r in results if r["result"] not in GOOD]
    kinds: dict[str, list[dict[str, Any]]] = {}
    for failure in failures:
        kinds.setdefault(
            failure["detail"].strip()[-400:] if failure["result"] != "timeout" else "timeout", []
        ).append(failure)
    for detail, same in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(
            f"\n{len(same)} x {same[0]['result']}, e.g. case {same[0]['case']} ({same[0]['what']})\n{detail}"
        )
    return len(failures)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=Path, default=LOGS)
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be repeated")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("mutations.jsonl"))
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of the processor a case may take")
    parser.add_argument("--memory", type=float, default=2.0, help="GiB of address space a worker may take")
    parser.add_argument(
        "--beyond", type=float, default=512.0, help="MiB beyond the numbers read that a case may take"
    )
    parser.add_argument("--keep", type=Path, help="write the damaged log of one case here, and stop")
    parser.add_argument("--case", type=int, default=0, help="the case for --keep")
    given = parser.parse_args()
    kinds = given.kind or KINDS
    with tempfile.TemporaryDirectory() as place:
        logs = {kind: logs_of(kind, Path(place) / kind, given.logs) for kind in kinds}
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            print(*make_case(given.case, given.seed, logs[kinds[given.case % len(kinds)]], given.keep))
            return 0
        return 1 if run_all(given, logs) else 0


def run_all(given: argparse.Namespace, logs: dict[str, list[Path]]) -> int:
    kinds = list(logs)
    worker = Worker(int(given.memory * 2**30))
    started, done = time.monotonic(), 0
    with given.out.open("a", encoding="utf-8") as out:
        for number in cases_to_do(given.out, given.count):
            with tempfile.TemporaryDirectory() as folder:
                kind = kinds[number % len(kinds)]
                path, what = make_case(number, given.seed, logs[kind], Path(folder))
                form = FORMS[number // 2 % len(FORMS)]
                if number % SPOKEN == SPOKEN - 1 and kind in DIAGNOSED:
                    form = FORMS[number // SPOKEN % len(FORMS)]
                    result, detail, extra, spent = spoken(path, form, given.limit, worker.memory)
                    what += " (spoken)"
                else:
                    result, detail, extra, spent = worker.ask(kind, path, form, given.limit)
            if extra > given.beyond and result in GOOD:
                result, detail = "greedy", f"{extra} MiB beyond the numbers"
            line = {
                "case": number,
                "kind": kind,
                "what": what,
                "result": result,
                "seconds": round(spent, 3),
                "beyond": extra,
            }
            line["detail"] = detail
            out.write(json.dumps(line) + "\n")
            out.flush()
            done += 1
            if done % 100 == 0:
                print(
                    f"{number + 1}/{given.count}, {done / (time.monotonic() - started):.1f}/s",
                    file=sys.stderr,
                )
    worker.stop()
    return report(given.out)


if __name__ == "__main__":
    sys.exit(main())
