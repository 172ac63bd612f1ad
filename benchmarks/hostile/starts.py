"""One start of an awkward script: its surroundings, and what it leaves outside of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.hostile.scripts import Script

BIG_BYTES = 300 << 20  # of a sparse file, more than is copied for an experiment


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


def run_to_end(words: list[str], place: Place, script: Script, seconds: float) -> Ended:
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
