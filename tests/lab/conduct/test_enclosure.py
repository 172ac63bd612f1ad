"""What an experiment cannot reach, tried by real scripts. Where this machine has no namespaces, the same scripts show
what is stated instead."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.conduct.processes import POST, run, server
from traindx.lab.conduct import enclosure, fence, scratch
from traindx.lab.conduct.experiment import Conducted
from traindx.lab.conduct.warm import Warm

HELD = enclosure.possible()
METADATA = "changing permissions and times of your files"
WRITING = "writing to ~/.cache and /dev/shm" if fence.version() else "writing outside of its copy"
ATTEMPT = """
import os, sys
def attempt(act, *args):
    try:
        act(*args)
        print("did", act.__name__)
    except OSError as error:
        print(act.__name__, error.strerror)
"""
META = f"""{ATTEMPT}
for path in ("../project".replace("..", sys.argv[1]), "big.bin"):
    attempt(os.chmod, path, 0o700)
    attempt(os.chown, path, os.getuid(), os.getgid())
    attempt(os.utime, path, (1, 1))
    attempt(os.setxattr, path, "user.traindx", b"1")
os.chmod("small.txt", 0o600)  # its own copy
os.utime("small.txt", (1, 1))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "big.bin").write_bytes(b"b" * 5000)
    (made / "small.txt").write_text("small")
    (made / "train.py").write_text("")
    return made


def status(path: Path) -> tuple[object, ...]:
    stat = path.stat()
    return (
        stat.st_mode,
        stat.st_uid,
        stat.st_gid,
        stat.st_mtime_ns,
        stat.st_ctime_ns,
        os.listxattr(path),
    )


def stated(done: Conducted, *what: str) -> bool:
    """Whether the machine held the experiment; where it did not, it said what it could not keep it from."""
    assert done.unfenced == (() if HELD else done.unfenced)
    assert HELD or set(what) <= set(done.unfenced)
    return HELD


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="stat of files, as Linux has them")
def test_metadata_of_linked_files_and_of_the_project_stay(project: Path) -> None:
    run("", project)  # `run` writes the script
    (project / "train.py").write_text(META)
    before = [status(path) for path in (project / "big.bin", project)]
    done = run(META, project, str(project.parent), copied_bytes=3000)
    assert done.ok, done.tail
    assert done.linked == ("big.bin",)
    if stated(done, METADATA):
        assert [status(path) for path in (project / "big.bin", project)] == before
        assert done.tail.count("Read-only file system") == 8
        assert done.changed == ()
    else:
        assert {".", "big.bin"} <= set(done.changed)


def test_a_change_of_permissions_alone_is_reported(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure, "possible", lambda: False)
    done = run(META, project, str(project.parent), copied_bytes=3000)
    assert done.ok, done.tail
    assert done.tail.count("did") == 8
    assert set(done.changed) == {".", "big.bin"}
    assert done.unfenced == (WRITING, METADATA, "using the network")
    assert run("", project, network=True).unfenced == (WRITING, METADATA)


CACHE = """
import os
cache = os.path.expanduser("~/.cache")
print(open(f"{cache}/known/weights").read(), open(f"{cache}/linked").read())
for path in (f"{cache}/new", f"{cache}/known/weights", f"{os.environ['HF_HOME']}/token"):
    with open(path, "w") as file:
        file.write("changed")
    print(open(path).read())
os.rename(f"{cache}/known/weights", f"{cache}/known/moved")
os.remove(f"{cache}/gone")
os.makedirs(f"{cache}/a/b")
print(sorted(os.listdir(cache)))
"""


def test_a_cache_is_read_and_what_is_written_there_is_gone_afterwards(project: Path, tmp_path: Path) -> None:
    home, models = tmp_path / "home", tmp_path / "models"
    (home / ".cache" / "known").mkdir(parents=True)
    models.mkdir()
    (home / ".cache" / "known" / "weights").write_text("kept")
    (home / ".cache" / "gone").write_text("")
    (models / "token").write_text("kept")
    (home / ".cache" / "linked").symlink_to(models / "token")
    base = {**os.environ, "HOME": str(home), "HF_HOME": str(models)}
    done = run(CACHE, project, base=base)
    assert done.ok, done.tail
    assert done.tail.startswith("kept kept\nchanged\nchanged\nchanged\n")
    assert "['a', 'known', 'linked', 'new']" in done.tail
    if stated(done, WRITING):
        assert sorted(path.name for path in (home / ".cache").rglob("*")) == [
            "gone",
            "known",
            "linked",
            "weights",
        ]
        assert (home / ".cache" / "known" / "weights").read_text() == "kept"
        assert (models / "token").read_text() == "kept"
        allowed = run(
            f"open({str(models / 'token')!r}, 'w').write('allowed')",
            project,
            base=base,
            writable=[str(models)],
        )
        assert allowed.ok, allowed.tail
        assert (models / "token").read_text() == "allowed"


def test_a_cache_that_is_not_there_yet_can_be_made(project: Path, tmp_path: Path) -> None:
    absent = tmp_path / "inductor"
    made = "import os; os.makedirs(os.environ['TORCHINDUCTOR_CACHE_DIR'])"
    done = run(made, project, base={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(absent)})
    assert done.ok, done.tail
    assert not absent.exists()


SHARED = """
import os, sys
from multiprocessing import get_context, shared_memory
if __name__ == "__main__":
    print(open(sys.argv[1]).read())
    left = shared_memory.SharedMemory("traindx-left-behind", create=True, size=1 << 20)
    queue = get_context("spawn").Queue()  # its locks are files there
    size = os.statvfs("/dev/shm")
    process = get_context("spawn").Process(target=queue.put, args=(size.f_blocks * size.f_frsize,))
    process.start()
    print(queue.get())
    os._exit(0)  # without clearing up
"""


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no shared memory as files")
def test_nothing_is_left_in_shared_memory(project: Path) -> None:
    given = Path("/dev/shm") / f"traindx-test-{os.getpid()}"
    given.write_text("data that lies there")
    try:
        done = run(SHARED, project, str(given))
        assert done.ok, done.tail
        size = os.statvfs("/dev/shm")
        assert done.tail.startswith(f"data that lies there\n{size.f_blocks * size.f_frsize}\n")
        if stated(done, WRITING):
            assert not Path("/dev/shm/traindx-left-behind").exists()
    finally:
        given.unlink()
        Path("/dev/shm/traindx-left-behind").unlink(missing_ok=True)


def test_a_scratch_folder_in_shared_memory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/dev/shm")
    done = run("open('own.txt', 'w').write('x'); open('/dev/shm/new', 'w')", project)
    assert done.ok or not HELD, done.tail
    left = [name for name in os.listdir("/dev/shm") if name.startswith(scratch.PREFIX) or name == "new"]
    Path("/dev/shm/new").unlink(missing_ok=True)
    assert left == ([] if HELD else ["new"])


@pytest.mark.parametrize("network", [False, True])
def test_results_are_posted_only_with_the_network(project: Path, network: bool) -> None:
    with server() as (address, posts):
        done = run(POST, project, address, network=network)
    if network or not stated(done, "using the network"):
        assert (done.tail, posts, done.wish()) == ("200\n", [b"loss=0.1"], "")
    else:
        assert posts == []
        assert done.status == 1
        assert done.wish() == (
            "The script tried to reach the network; experiments run without it. Allow it with --network."
        )
        assert done.describe_end().endswith(done.wish())


SILENT = """
import socket
for family, address in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80))):
    try:
        with socket.socket(family, {kind}) as made:
            made.settimeout(1)
            made.connect(address)
    except OSError:
        pass
"""


@pytest.mark.skipif(not HELD, reason="the network of this machine is not to be sent anything")
@pytest.mark.parametrize("kind", ["socket.SOCK_STREAM", "socket.SOCK_DGRAM"])
def test_a_script_that_hides_that_it_was_refused_is_noticed(project: Path, kind: str) -> None:
    done = run(SILENT.replace("{kind}", kind), project)
    assert done.ok
    assert done.wanted_network
    assert not run("print('Connection refused is a word')", project, network=True).wanted_network


LOOPBACK = """
import socket, sys
for address in ("127.0.0.1", "localhost", *sys.argv[1:]):
    with socket.create_server((address, 0)) as server, socket.create_connection(server.getsockname()) as made:
        server.accept()[0].sendall(b"here")
        assert made.recv(4) == b"here"
"""


def test_processes_of_a_script_reach_each_other(project: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only picks the address of this machine
            own = [probe.getsockname()[0]]
        except OSError:
            own = []
    done = run(LOOPBACK, project, *own)
    assert done.ok, done.tail
    assert not done.wanted_network


UNIX = f"""{ATTEMPT}
import socket
def connect(address):
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(address)
        made.sendall(b"loss=0.1")
attempt(connect, sys.argv[1])
attempt(connect, chr(0) + sys.argv[2])
with socket.socket(socket.AF_UNIX) as own:
    own.bind("own.sock")
    own.listen()
    attempt(connect, "own.sock")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sockets without a file, as Linux has them")
@pytest.mark.parametrize("network", [False, True])
def test_sockets_of_other_programs(project: Path, tmp_path: Path, network: bool) -> None:
    hidden = f"traindx-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as unnamed:
        named.bind(str(tmp_path / "s"))
        unnamed.bind("\0" + hidden)
        for one in (named, unnamed):
            one.listen()
            one.setblocking(False)
        done = run(UNIX, project, str(tmp_path / "s"), hidden, network=network)
        reached = network or not stated(done, "using the network")
        lines = ["did connect"] * 3 if reached else ["connect Connection refused"] * 2 + ["did connect"]
        assert done.tail.splitlines() == lines
        for one in (named, unnamed):
            if reached:
                assert one.accept()[0].recv(99) == b"loss=0.1"
            else:
                with pytest.raises(BlockingIOError):
                    one.accept()


SIGNAL = f"""{ATTEMPT}
import signal, subprocess
attempt(os.kill, int(sys.argv[1]), signal.SIGTERM)
own = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
own.terminate()
print(own.wait())
"""


@pytest.mark.skipif(fence.version() < 6, reason="this kernel does not hold signals")
def test_processes_of_others_are_not_signalled(project: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        done = run(SIGNAL, project, str(other.pid))
        assert done.tail == "kill Operation not permitted\n-15\n"
        assert other.communicate(b"\n") == (None, None)
    assert other.returncode == 0


SAME = """
import os
from pathlib import Path
status = Path("/proc/self/status").read_text().splitlines()
print(os.getuid(), os.getgid(), os.getcwd() == os.environ["PWD"], [line for line in status if "CapEff" in line])
print(os.openpty()[0] > 0, open("/dev/null", "w").write("x"), len(open("/dev/urandom", "rb").read(3)))
open("own.txt", "w").write("x")
"""


@pytest.mark.parametrize("forked", [False, True])
def test_the_script_is_who_it_was(project: Path, forked: bool) -> None:
    plain = subprocess.run([sys.executable, "-c", SAME], env={**os.environ, "PWD": os.getcwd()}, cwd=project,
                           capture_output=True, text=True, check=True).stdout.replace("False", "True")  # fmt: skip
    (project / "own.txt").unlink()
    script = f"import json\n{SAME}"
    (project / "train.py").write_text(script)
    warm = Warm([sys.executable, "train.py"], project, reserve="json") if forked else None
    done = run(script, project, warm=warm)
    if warm is not None:
        warm.close()
        assert done.warm, warm.why
    assert done.tail == plain
    assert not (project / "own.txt").exists()


def test_a_failure_of_the_view_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure, "possible", lambda: True)
    monkeypatch.setattr(scratch, "caches", lambda _base: [None])  # nothing that can be entered
    done = run("print('ran')", project)
    assert done.ended == "not-started"
    assert "ran" not in done.tail


def seconds_of_work(project: Path) -> float:
    """What the processor spends on a start: what else runs on this machine counts as little as possible."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run("", project).ok
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.skipif(not HELD, reason="no namespaces on this machine")
def test_it_costs_less_than_20_milliseconds_a_start(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least of each kind, in turn: a busy machine makes single starts slower by more than the limit."""
    held, free = [], []
    for _ in range(30):
        with monkeypatch.context() as patched:
            held.append(seconds_of_work(project))
            patched.setattr(enclosure, "possible", lambda: False)
            free.append(seconds_of_work(project))
        if len(held) >= 3 and min(held) - min(free) < 0.020:
            return
    pytest.fail(f"{min(held):.3f} s in a view of its own, {min(free):.3f} s without")
