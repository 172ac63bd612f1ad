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
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.hostile.scripts import SCRIPTS, SECRETS, Script
from benchmarks.hostile.starts import (
    Ended,
    Place,
    Servers,
    command,
    nothing_stays,
    prepare,
    run_to_end,
    script_file,
)

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
SHOWN = ("run", "steps", "memory", "profile")  # pass the script's own output on
ADDRESS = re.compile(rb"0x[0-9a-f]+")
Entry = tuple[Any, ...]


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
            words = [sys.executable, "-m", "traindx", "diagnose", str(record), "-f", form]
            words += ["-o", f"{place.root}/report.{form}", *(["--full"] if form == "text" else [])]
            subprocess.run(words, capture_output=True, check=False)
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
        refused = done.status not in (0, 1) or b"--propagate" in done.err
        return [] if refused else [f"no document, status {done.status}"]
    try:
        json.loads(file.read_text(), parse_constant=lambda word: 1 / 0)
    except (ValueError, ZeroDivisionError) as error:
        return [f"not strict JSON: {error}"]
    return []


def try_verb(
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
        done = run_to_end([*words, "--", *command(script)], place, script, limit)
    found += wrong_words(verb, done, plain[0], script.loose)
    after = snapshot(*folders) if place.project.exists() else {}
    if verb == "run":
        marked = f"project/{script_file(script)}"
        changed = [] if script.loose else different(plain[1], after, depth=2)
        changed = [file for file in changed if file != marked]
        found += [f"files differ from plain: {changed[:8]}"] if changed else []
    else:
        changed = different(before, after)
        found += [f"changed: {changed[:8]}"] if changed else []
        found += [f"{servers.calls - calls} connections"] if servers.calls > calls else []
        if os.listdir(place.temporary):
            found.append(f"temporary: {os.listdir(place.temporary)}")
    found += wrong_document(place, done) + leaks(place, verb, script, done)
    last = done.err.decode("utf-8", "replace").strip().splitlines()[-2:]
    outcome = {"status": done.status, "seconds": round(done.seconds, 1), "found": found, "last": last}
    return {"script": name, "verb": verb, **outcome}


def leaks(place: Place, verb: str, script: Script, done: Ended) -> list[str]:
    """Secrets and terminal codes in what traindx wrote or printed."""
    terminal = ours(done.err) if verb in SHOWN else done.out + done.err
    secret = bool(script.words or script.variables)
    reports = b"".join(path.read_bytes() for path in place.root.glob("report.*"))
    codes = ["terminal codes in our output"] if b"\x1b" in terminal + reports else []
    return secrets_in({**documents(place, verb, secret), "the terminal": terminal}) + codes


def plainly(root: Path, name: str, servers: Servers) -> tuple[Ended, dict[str, Entry]]:
    """A script without traindx: how it ends, and what is in its folders then."""
    place = prepare(root, SCRIPTS[name], f"{root.name}-plain", servers)
    with nothing_stays(place.mark, [], ours=False):
        done = run_to_end(command(SCRIPTS[name]), place, SCRIPTS[name], PLAIN_SECONDS)
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
            line = try_verb(root, name, verb, plain, servers)
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
