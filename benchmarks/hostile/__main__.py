"""Start awkward scripts under every verb, and look for what traindx promises (docs/safety.md) and does not keep.

`python -m benchmarks.hostile --out FOLDER [--verbs run,check] [--scripts "saves at exit,raises"]`: one JSON line for
each script and verb in FOLDER/results.jsonl, those that are there are not made again; a table at the end.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.hostile.scripts import SCRIPTS, SECRETS, Script

VERBS: dict[str, tuple[tuple[str, ...], float]] = {  # its options, and the seconds that it may take at most
    "run": (("run", "--propagate-exit"), 120),
    "steps": (("run", "--steps", "3"), 60),
    "memory": (("memory",), 60),
    "profile": (("profile",), 60),
    "check": (("check", "--budget", "25"), 90),
    "find-lr": (("find-lr", "--steps", "60", "--seeds", "0", "--seconds", "20"), 60),
    "investigate": (("investigate", "--budget", "20s", "--jobs", "1"), 60),
    "fix": (("fix", "--budget", "30s", "--jobs", "1"), 75),
}
PLAIN_SECONDS = 60.0
RECORDS = ("traindx-runs", "record", ".traindx")
WHOLE_BYTES = 1 << 20  # files up to this size are compared by content
BIG_BYTES = 300 << 20  # of a sparse file, more than is copied for an experiment
SHOWN = ("run", "steps", "memory", "profile")  # pass the script's own output on
ADDRESS = re.compile(rb"0x[0-9a-f]+")
Entry = tuple[Any, ...]


class Place(NamedTuple):
    """The surroundings of one start."""

    root: Path
    project: Path
    home: Path
    other: Path
    temporary: Path
    mark: str


class Ended(NamedTuple):
    status: int | None  # None: it did not end in time
    out: bytes
    err: bytes
    seconds: float


class Servers:
    """A web server and a Unix socket that count who connects."""

    def __init__(self, folder: Path) -> None:
        self.calls = 0
        self.web = socket.create_server(("127.0.0.1", 0))
        self.port = self.web.getsockname()[1]
        self.path = folder / "service"
        self.path.unlink(missing_ok=True)
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(str(self.path))
        self.unix.listen()
        for server in (self.web, self.unix):
            threading.Thread(target=self.serve, args=(server,), daemon=True).start()

    def serve(self, server: socket.socket) -> None:
        while True:
            client, _ = server.accept()
            self.calls += 1
            with client, suppress(OSError):
                client.settimeout(2)
                client.recv(4096)
                client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")


def prepare(root: Path, script: Script, mark: str, servers: Servers) -> Place:
    """A fresh project, home, neighbour folder and folder for temporary files, always at the same paths."""
    shutil.rmtree(root, ignore_errors=True)
    place = Place(root, *(root / name for name in ("project", "home", "other", "tmp")), mark)
    for folder in (
        place.project / "results",
        place.project / ".git",
        place.home / ".cache",
        place.home / ".config",
    ):
        folder.mkdir(parents=True)
    place.other.mkdir()
    place.temporary.mkdir()
    for name, text in {
        "project/final.pt": "the model of a week", "project/data.csv": "1,2\n3,4\n", "project/config.yaml": "lr: 0.1\n",
        "project/results/best.pt": "best",
        "project/.git/HEAD": "ref: refs/heads/main\n", "project/.git/config": "[core]\n",
        "other/linked.bin": "linked", "other/hard.bin": "hard", "home/.bashrc": "true\n", "home/.cache/old": "old",
        "project/bomb.yaml": "a0: &a0 [1,1,1,1,1,1,1,1,1]\n" + "".join(
            f"a{i + 1}: &a{i + 1} [{','.join([f'*a{i}'] * 9)}]\n" for i in range(9)),
    }.items():  # fmt: skip
        (root / name).write_text(text)
    with (place.project / "big.bin").open("wb") as file:
        file.truncate(BIG_BYTES)
    (place.project / "latest").symlink_to("../other/linked.bin")
    os.link(place.other / "hard.bin", place.project / "hard.bin")
    words = {"PROJECT": place.project, "HOME": place.home, "OTHER": place.other, "MARK": mark, "PORT": servers.port,
             "SOCKET": servers.path, "RECORD": place.project / "record"}  # fmt: skip
    text = re.sub("@([A-Z]+)@", lambda found: str(words.get(found[1], found[0])), script.text)
    file = place.project / script_file(script)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode(script.encoding))
    return place


def script_file(script: Script) -> str:
    module = script.file.removeprefix("-m ")
    return script.file if module == script.file else f"{module.replace('.', '/')}.py"


def command(script: Script) -> list[str]:
    words = script.file.split(" ") if script.file.startswith("-m ") else [script.file]
    return [sys.executable, *words, *script.words]


def snapshot(*folders: Path) -> dict[str, Entry]:
    """What is in folders: of each entry its mode, owner, times, attributes and content."""
    found: dict[str, Entry] = {}
    for folder in folders:
        paths = [
            folder,
            *(Path(at, name) for at, below, files in os.walk(folder) for name in (*below, *files)),
        ]
        for path in paths:
            parts = path.relative_to(folder.parent).parts
            if (
                any(part in RECORDS or part.startswith("traindx-") for part in parts)
                or "__pycache__" in parts
            ):
                continue
            seen = path.lstat()
            times = () if path == folder or path.is_dir() else (seen.st_mtime_ns, seen.st_nlink)
            marks = (
                [] if path.is_symlink() else [(one, os.getxattr(path, one)) for one in os.listxattr(path)]
            )
            content: object = os.readlink(path) if path.is_symlink() else ""
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes() if seen.st_size <= WHOLE_BYTES else path.open("rb").read(4096)
                content = (seen.st_size, hashlib.sha256(data).hexdigest()[:12])
            found["/".join(parts)] = (content, seen.st_mode, (seen.st_uid, seen.st_gid), marks, times)
    return found


def different(before: Mapping[str, Entry], after: Mapping[str, Entry], depth: int = 5) -> list[str]:
    """The names of what is not as it was, in the first `depth` of its facts."""
    names = sorted({*before, *after})
    return [name for name in names if before.get(name, ())[:depth] != after.get(name, ())[:depth]]


def started(words: list[str], place: Place, script: Script, seconds: float) -> Ended:
    """Run a command to its end, or end it and all of its group."""
    variables = {
        "HOME": str(place.home),
        "TMPDIR": str(place.temporary),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
    }
    own = {"OMP_NUM_THREADS": "1", "HOSTILE_MARK": place.mark, "TRAINDX_KB": str(place.root / "kb.sqlite")}
    begun = time.monotonic()
    with (place.root / "out").open("wb") as out, (place.root / "err").open("wb") as err:
        process = subprocess.Popen(
            words, cwd=place.project, stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True,
            env={**variables, **own, **script.variables},
        )  # fmt: skip
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(script.typed.encode())
            process.stdin.close()
        status: int | None = None
        with suppress(subprocess.TimeoutExpired):
            status = process.wait(seconds)
        took = time.monotonic() - begun
        if status is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Ended(status, (place.root / "out").read_bytes(), (place.root / "err").read_bytes(), took)


def left_over(mark: str) -> list[int]:
    """Processes that were started with a mark among their variables."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if (
                entry.name.isdecimal()
                and f"HOSTILE_MARK={mark}\0".encode() in (entry / "environ").read_bytes()
            ):
                found.append(int(entry.name))
    return found


@contextmanager
def nothing_stays(mark: str, gone: list[str], ours: bool) -> Iterator[None]:
    """Note what is left of a start outside of its folders, and clear it."""
    shared = set(os.listdir("/dev/shm"))
    yield
    left = left_over(mark)
    if left and ours:
        names = [
            Path(f"/proc/{pid}/cmdline").read_bytes()[:80] for pid in left if Path(f"/proc/{pid}").exists()
        ]
        gone.append(f"processes left: {names}")
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    places = [Path(folder, mark) for folder in ("/dev/shm", "/tmp", "/var/tmp")]
    gone += [f"left: {path}" for path in places if path.exists() and ours]
    new = set(os.listdir("/dev/shm")) - shared
    if new and ours:
        time.sleep(1)  # other programs have some there for a moment
        gone += [
            f"left in /dev/shm: {name}" for name in new & set(os.listdir("/dev/shm")) if mark not in name
        ]
    for path in places:
        path.unlink(missing_ok=True)


def secrets_in(texts: Mapping[str, bytes]) -> list[str]:
    return [
        f"secret {name!r} in {where}"
        for where, data in texts.items()
        for name, word in SECRETS.items()
        if word.encode() in data
    ]


def ours(err: bytes) -> bytes:
    """The lines on stderr that traindx wrote itself."""
    return b"\n".join(line for line in err.splitlines() if line.startswith(b"traindx:"))


def documents(place: Place, verb: str, secret: bool) -> dict[str, bytes]:
    """What was kept of a start: documents, records, knowledge; every form of the report where secrets are about."""
    record = place.project / "record"
    if secret and verb in ("run", "steps", "memory") and any(record.glob("*.arrows")):
        for form in ("text", "html", "markdown"):
            words = [
                sys.executable,
                "-m",
                "traindx",
                "diagnose",
                str(record),
                "--full",
                "-f",
                form,
                "-o",
                f"{place.root}/report.{form}",
            ]
            subprocess.run(
                [word for word in words if form == "text" or word != "--full"],
                capture_output=True,
                check=False,
            )
    below = [*place.root.glob("report.*"), *place.root.glob("kb*"), *place.root.glob("document*")]
    for folder in (*place.project.glob("traindx-*"), record):
        below += folder.rglob("*") if folder.exists() else ()
    patches = ("fix.patch", script_file(SCRIPTS["is given secrets"]))
    return {
        str(path.relative_to(place.root)): path.read_bytes()
        for path in below
        if path.is_file() and path.name not in patches
    }


def wrong_words(verb: str, done: Ended, plain: Ended, loose: bool) -> list[str]:
    """What is wrong with what a verb printed and how it ended."""
    found = []
    both = done.out + done.err
    if done.status is None:
        found.append(f"did not end in {done.seconds:.0f} s")
    if b"bug in traindx" in both:
        found.append("a bug: " + both[both.index(b"a bug in traindx") :][:300].decode("utf-8", "replace"))
    frames = [line for line in both.splitlines() if b'File "' in line and b"/traindx/" in line]
    if frames:
        found.append(f"a traceback through traindx: {frames[-1].decode('utf-8', 'replace').strip()}")
    if verb != "run" and done.status not in (0, 1, 2, None):
        found.append(f"status {done.status}: {done.err[-200:].decode('utf-8', 'replace')}")
    if verb == "run" and plain.status is not None:
        if done.status != plain.status:
            found.append(
                f"status {done.status}, plainly {plain.status}: {done.err[-300:].decode('utf-8', 'replace')}"
            )
        if done.out != plain.out and not loose:
            found.append(f"stdout differs: {done.out[-150:]!r}, plainly {plain.out[-150:]!r}")
        lines = iter(ADDRESS.sub(b"0x", done.err).splitlines())
        if not all(line in lines for line in ADDRESS.sub(b"0x", plain.err).splitlines()):
            found.append(
                f"stderr lacks lines of the script: {done.err[-200:]!r}, plainly {plain.err[-200:]!r}"
            )
    return found


def wrong_document(place: Place, done: Ended) -> list[str]:
    """What is wrong with the JSON document, where one was promised."""
    file = place.root / "document.json"
    if not file.exists():
        return (
            []
            if done.status not in (0, 1) or b"--propagate" in done.err
            else [f"no document, status {done.status}"]
        )
    try:
        json.loads(file.read_text(), parse_constant=lambda word: 1 / 0)
    except (ValueError, ZeroDivisionError) as error:
        return [f"not strict JSON: {error}"]
    return []


def tried(
    root: Path, name: str, verb: str, plain: tuple[Ended, dict[str, Entry]], servers: Servers
) -> dict[str, Any]:
    """One script under one verb; a line of the results."""
    script, (options, limit) = SCRIPTS[name], VERBS[verb]
    place = prepare(root, script, f"{root.name}-{verb}", servers)
    folders = (place.project, place.home, place.other)
    before, calls = snapshot(*folders), servers.calls
    words = [
        sys.executable,
        "-m",
        "traindx",
        *options,
        "-f",
        "json",
        "-o",
        str(place.root / "document.json"),
    ]
    if verb != "find-lr":
        words += ["--out", "record"]
    found: list[str] = []
    with nothing_stays(place.mark, found, verb != "run"):
        done = started([*words, "--", *command(script)], place, script, limit)
    found += wrong_words(verb, done, plain[0], script.loose)
    after = snapshot(*folders) if place.project.exists() else {}
    if verb == "run":
        own = f"project/{script_file(script)}"  # holds the mark
        changed = [] if script.loose else [one for one in different(plain[1], after, depth=2) if one != own]
        found += [f"files differ from plain: {changed[:8]}"] if changed else []
    else:
        changed = different(before, after)
        found += [f"changed: {changed[:8]}"] if changed else []
        found += [f"{servers.calls - calls} connections"] if servers.calls > calls else []
    found += (
        [f"temporary: {os.listdir(place.temporary)}"]
        if verb != "run" and os.listdir(place.temporary)
        else []
    )
    found += wrong_document(place, done)
    told = ours(done.err) if verb in SHOWN else done.out + done.err
    secret = bool(script.words or script.variables)
    found += secrets_in({**documents(place, verb, secret), "the terminal": told})
    reports = b"".join(path.read_bytes() for path in place.root.glob("report.*"))
    found += ["codes of terminals in what we say"] if b"\x1b" in told + reports else []
    last = done.err.decode("utf-8", "replace").strip().splitlines()[-2:]
    return {
        "script": name,
        "verb": verb,
        "status": done.status,
        "seconds": round(done.seconds, 1),
        "found": found,
        "last": last,
    }


def plainly(root: Path, name: str, servers: Servers) -> tuple[Ended, dict[str, Entry]]:
    """A script without traindx: how it ends, and what is in its folders then."""
    place = prepare(root, SCRIPTS[name], f"{root.name}-plain", servers)
    with nothing_stays(place.mark, [], ours=False):
        done = started(command(SCRIPTS[name]), place, SCRIPTS[name], PLAIN_SECONDS)
    return done, snapshot(*(path for path in (place.project, place.home, place.other) if path.exists()))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--verbs", default=",".join(VERBS))
    options.add_argument("--scripts", default=",".join(SCRIPTS))
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    results, servers = given.out / "results.jsonl", Servers(given.out)
    lines = results.read_text().splitlines() if results.exists() else []
    made = {(one["script"], one["verb"]) for one in map(json.loads, lines)}
    for number, name in enumerate(SCRIPTS):
        verbs = [
            verb
            for verb in given.verbs.split(",")
            if (name, verb) not in made and name in given.scripts.split(",")
        ]
        if not SCRIPTS[name].ends:
            verbs = [verb for verb in verbs if verb != "run"]
        if not verbs:
            continue
        root = (given.out / f"hostile-{os.getpid()}-{number}").resolve()
        plain = plainly(root, name, servers) if "run" in verbs else (Ended(None, b"", b"", 0.0), {})
        for verb in verbs:
            line = tried(root, name, verb, plain, servers)
            with results.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(
                f"{name}, {verb}: {'; '.join(line['found']) or 'as promised'} ({line['seconds']} s)",
                flush=True,
            )
        shutil.rmtree(root, ignore_errors=True)
    table(results)


def table(results: Path) -> None:
    """Of each verb: how many scripts were tried, and with how many a promise was broken."""
    tried: collections.Counter[str] = collections.Counter()
    broken: collections.Counter[str] = collections.Counter()
    for line in map(json.loads, results.read_text().splitlines()):
        tried[line["verb"]] += 1
        broken[line["verb"]] += bool(line["found"])
    print("| verb | scripts | with a promise broken |\n|---|---|---|")
    for verb in tried:
        print(f"| {verb} | {tried[verb]} | {broken[verb]} |")


if __name__ == "__main__":
    main()
