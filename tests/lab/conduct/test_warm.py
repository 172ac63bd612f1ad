"""Starts forked from a Python with the libraries in it: the same numbers and limits as fresh starts."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from tests.lab.conduct.processes import CLINGING, Pipe, unrecorded
from traindx.lab.conduct.attempts import LATE, Starter, attempt
from traindx.lab.conduct.experiment import Conducted, conduct
from traindx.lab.conduct.warm import Warm
from traindx.lab.repair.deliverables import busy_share

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux forks safely")

TRAINS = """
import random, sys
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from net import Net

torch.manual_seed(int(sys.argv[1]))
x = torch.randn(256, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
loader = DataLoader(TensorDataset(x, y), 32, shuffle=True, num_workers=int(sys.argv[2]))
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for epoch in range(4):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        optimizer.step()
    print(f"{epoch} {loss.item():.17g}")
print(random.random(), np.random.rand(), torch.rand(1).item())
"""
NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Dropout(0.1), nn.Linear(64, 3))

    def forward(self, x):
        return self.layers(x)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """A loaded Python for any script that imports torch alone."""
    folder = written(tmp_path_factory.mktemp("any"), train="import torch, numpy")
    made = Warm([sys.executable, "train.py"], folder, reserve="torch", late=LATE)
    yield made
    made.close()


def run(warm: Warm | None, folder: Path, *command: str, **given: object) -> Conducted:
    """A start, or a fork of `warm`, which it must have been."""
    done = conduct(
        [sys.executable, *command], record=unrecorded, out=folder.parent / f"out-{len(list(folder.parent.iterdir()))}",
        folder=folder, threads=1, warm=warm, **{"grace": 0.2, **given},
    )  # type: ignore[arg-type]  # fmt: skip
    assert done.warm == (warm is not None), "" if warm is None else warm.why
    return done


def both(warm: Warm, folder: Path, *command: str, **given: object) -> tuple[Conducted, Conducted]:
    return run(None, folder, *command, **given), run(warm, folder, *command, **given)


def test_a_fork_records_the_same_numbers_as_a_start(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(project, train=TRAINS, net=NET)
    monkeypatch.chdir(project)
    command = [sys.executable, "train.py", "5", "0"]
    starter = Starter(command, project, 1)
    found = {}
    for name, start in (("started", attempt), ("forked", starter), ("again", starter)):
        tried = start(command, project.parent / name, ("lr=*0.5", "seed=3"), None, threads=1)  # type: ignore[operator]
        assert tried.conducted.ok, tried.conducted.tail
        assert tried.conducted.warm == (name != "started"), starter.note()
        found[name] = tried.run
    starter.warm.close()
    assert starter.note() == ""
    for name in ("train/loss", "grad_norm", "lr"):
        one, other, third = (run.series[name] for run in found.values())
        assert len(one) > 10
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.values, third.values)


def test_the_script_as_it_is_is_forked_too_where_its_libraries_load_at_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(project, train=TRAINS, net=NET)
    monkeypatch.chdir(project)
    command = [sys.executable, "train.py", "5", "0"]
    starter = Starter(command, project, 1)
    found = []
    for name, start in (("started", attempt), ("first", starter)):
        tried = start(command, project.parent / name, (), None, threads=1)  # type: ignore[operator]
        assert tried.conducted.ok, tried.conducted.tail
        assert tried.conducted.warm == (name == "first"), starter.note()
        found.append(tried.run.series["train/loss"].values)
    starter.warm.close()
    assert np.array_equal(*found)


def test_a_script_that_fails_as_it_is_is_started_anew_before_that_is_believed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only a fork does is no finding: here the script fails where it finds itself forked."""
    fails = "import sys\nassert sys._getframe().f_back is None\n" + TRAINS  # nobody called it
    written(project, train=fails, net=NET)
    monkeypatch.chdir(project)
    command = [sys.executable, "train.py", "5", "0"]
    starter = Starter(command, project, 1)
    tried = starter(command, project.parent / "first", (), None, threads=1)
    again = starter(command, project.parent / "again", ("seed=3",), None, threads=1)
    starter.warm.close()
    for one in (tried, again):
        assert one.conducted.ok, one.conducted.tail
        assert not one.conducted.warm
    assert "anew" in starter.note()


def test_a_traced_start_leaves_a_trace_and_no_record(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(project, train=TRAINS, net=NET)
    monkeypatch.chdir(project)
    tried = attempt(
        [sys.executable, "train.py", "5", "0"],
        project.parent / "traced",
        (),
        None,
        threads=1,
        profile=(3, 6),
    )
    assert tried.run is not None, tried.why
    assert len(tried.run.series["time/step"]) == 6
    assert busy_share(tried) is None, "there is no accelerator"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_fork_prints_what_a_start_prints(project: Path, warm: Warm, workers: str) -> None:
    one, other = both(warm, written(project, train=TRAINS, net=NET), "train.py", "5", workers)
    assert one.ok
    assert other.ok
    losses = [done.tail.splitlines()[:-1] for done in (one, other)]
    assert losses[0] == losses[1]
    random, numpy, torch = zip(*(done.tail.split()[-3:] for done in (one, other)), strict=True)
    assert torch[0] == torch[1]  # the script's seed
    assert random[0] != random[1]
    assert numpy[0] != numpy[1]


ENDS = """
import atexit, sys, threading, torch
atexit.register(print, "at the exit")
left = open(sys.argv[2], "w")  # and never closed
left.write("written")
threading.Timer(0.2, print, ["a thread"]).start()
print("the end", end="")
sys.exit({"none": None, "three": 3, "words": "it is enough"}.get(sys.argv[1]))
"""


@pytest.mark.parametrize(("how", "status"), [("none", 0), ("three", 3), ("words", 1)])
def test_a_fork_ends_as_a_start_does(project: Path, warm: Warm, how: str, status: int) -> None:
    written(project, train=ENDS)
    files = [project.parent / name for name in ("one", "other")]
    done = [
        run(w, project, "train.py", how, str(file), writable=[str(project.parent)])
        for w, file in zip((None, warm), files, strict=True)
    ]
    assert [one.status for one in done] == [status, status]
    assert done[0].tail == done[1].tail
    assert [file.read_text() for file in files] == ["written", "written"]


def test_forks_do_not_share_chance(project: Path, warm: Warm) -> None:
    written(
        project,
        train="import torch, random, numpy; print(random.random(), numpy.random.rand(), torch.rand(1))",
    )
    one, other = (run(warm, project, "train.py") for _ in range(2))
    assert one.ok
    assert not set(one.tail.split()) & set(other.tail.split())


SEES = """
import os, sys, tempfile, multiprocessing.process
there = "torch" in sys.modules or "torch.nn" in sys.modules
import torch.nn
from torch.optim import SGD
import torch
import __main__
print(there, list(map(os.path.basename, sys.argv)))
print(sys.path[0] == os.getcwd(), os.path.basename(__file__), __name__, __spec__ and __spec__.name)
print(os.environ["GIVEN"], os.environ["OMP_NUM_THREADS"], os.environ["HOME"] != REAL, torch.get_num_threads())
print(tempfile.gettempdir().startswith(os.path.dirname(os.environ["HOME"])))
print(multiprocessing.process.ORIGINAL_DIR == os.getcwd(), torch.__spec__.name, torch.__loader__ is not None)
print(torch.nn is sys.modules["torch.nn"], sys.orig_argv[1:], sys.flags.optimize)
print(sorted(vars(__main__))[:6], sys.stdin.read() == "", sys.stdout.isatty(), sys.stdout.line_buffering)
print(os.getsid(0) == os.getpid(), sorted(int(n) for n in os.listdir("/proc/self/fd"))[:4])
""".replace("REAL", repr(str(Path.home())))


@pytest.mark.parametrize("command", [("train.py", "--a", "1"), ("-m", "train", "x")])
def test_a_fork_sees_what_a_start_sees(project: Path, warm: Warm, command: tuple[str, ...]) -> None:
    one, other = both(warm, written(project, train=SEES), *command, interventions=("clip=1",))
    assert one.ok, one.tail
    assert other.ok, other.tail
    assert one.tail == other.tail


@pytest.mark.parametrize("word", ["0", "3", "kill", "x"])
def test_ends_are_described_the_same_way(project: Path, warm: Warm, word: str) -> None:
    script = "import sys, os\nif sys.argv[1] == 'kill': os.kill(os.getpid(), 9)\nsys.exit(int(sys.argv[1]))"
    one, other = both(warm, written(project, train=script), "train.py", word)
    assert (one.ended, one.status, one.signal, one.fenced) == (
        other.ended,
        other.status,
        other.signal,
        other.fenced,
    )
    assert one.tail.splitlines()[-1:] == other.tail.splitlines()[-1:]


def test_a_fork_is_fenced_in(project: Path, warm: Warm) -> None:
    outside = project.parent / "outside.txt"
    script = f"open('inside.txt', 'w').write('x')\nopen({str(outside)!r}, 'w').write('x')"
    done = run(warm, written(project, train=script), "train.py")
    if not done.fenced:
        pytest.skip("this kernel has no fence")
    assert done.status == 1
    assert "Read-only file system" in done.tail or "Permission denied" in done.tail
    assert not outside.exists()
    assert not (project / "inside.txt").exists()


def test_a_fork_ends_at_its_limit_with_its_children(project: Path, warm: Warm) -> None:
    script = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {CLINGING!r}, sys.argv[1]], stdout=subprocess.PIPE).stdout.read()\n"
        "time.sleep(600)"
    )
    pipe = Pipe(project.parent / "pipe")
    done = run(
        warm,
        written(project, train=script),
        "train.py",
        str(pipe.path),
        seconds=20.0,
        writable=[str(pipe.path)],
    )
    assert done.ended == "out-of-time"
    assert pipe.read() == b"here"
    assert pipe.read() == b""  # nobody holds it
    pipe.close()


def test_a_fork_ends_when_it_is_stopped(project: Path, warm: Warm) -> None:
    pipe = Pipe(project.parent / "pipe")
    script = f"import os, time\np = os.open({str(pipe.path)!r}, os.O_WRONLY)\nos.write(p, b'here')\ntime.sleep(600)"
    written(project, train=script)
    stop = threading.Event()
    done: list[Conducted] = []
    given = {"stop": stop, "writable": [str(pipe.path)]}
    thread = threading.Thread(target=lambda: done.append(run(warm, project, "train.py", **given)))
    thread.start()
    assert pipe.read() == b"here"
    stop.set()
    thread.join(60)
    assert done[0].ended == "stopped"
    assert pipe.read() == b""
    pipe.close()


def test_where_the_loaded_python_is_gone_a_start_is_made(project: Path) -> None:
    written(project, train="import torch\nprint('here')")
    warm = Warm([sys.executable, "train.py"], project, reserve="torch")
    server = warm.prepare({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    assert server is not None
    server.process.kill()
    server.process.wait()
    done = conduct(
        [sys.executable, "train.py"],
        record=unrecorded,
        out=project.parent / "out",
        folder=project,
        threads=1,
        warm=warm,
    )
    warm.close()
    assert not done.warm
    assert done.tail == "here\n"
    assert "does not listen" in warm.why


def test_a_fork_that_fails_is_made_up_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = "import sys\nassert sys._getframe().f_back is None\n"  # nobody called it
    written(project, train=alone + TRAINS, net=NET)
    monkeypatch.chdir(project)
    command = [sys.executable, "train.py", "5", "0"]
    starter = Starter(command, project, 1)
    tried = starter(command, project.parent / "out", ("seed=3",), None, threads=1)
    starter.warm.close()
    assert tried.conducted.ok
    assert not tried.conducted.warm
    assert "loaded its libraries anew" in starter.note()


@pytest.mark.parametrize(
    ("script", "command", "why"),
    [
        ("import torch", ("torchrun", "train.py"), "not a plain start"),
        ("import torch", (sys.executable, "-c", "import torch"), "not a plain start"),
        ("import torch", (sys.executable, "-I", "train.py"), "not a plain start"),
        ("import numpy", (sys.executable, "train.py"), "that imports torch itself"),
        (
            "import os\nos.environ['OMP_NUM_THREADS'] = '3'\nimport torch",
            (sys.executable, "train.py"),
            "OMP_NUM_THREADS",
        ),
    ],
)
def test_what_is_not_forked(project: Path, script: str, command: tuple[str, ...], why: str) -> None:
    assert why in Warm(command, written(project, train=script), reserve="torch").why


def test_what_needs_the_reserve_is_left_to_the_script(project: Path, tmp_path: Path) -> None:
    """A library that imports torch would miss what is put around torch as the script imports it."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "needs_torch.py").write_text("import torch\n")
    (site / "needs_nothing.py").write_text("import sys\nearly = 'torch' not in sys.modules\n")
    written(project, train="import needs_nothing, torch\nprint(needs_nothing.early)\nimport needs_torch")
    command = [sys.executable, "train.py"]
    base = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
    warm = Warm(command, project, reserve="torch", base=base)
    done = conduct(command, record=unrecorded, out=tmp_path / "out", folder=project, base=base, warm=warm)
    warm.close()
    assert done.warm
    assert done.tail == "True\n"
    assert warm.early == ["needs_nothing"]


def test_nothing_is_left_when_the_asker_is_gone(project: Path) -> None:
    """The loaded Python hears that its socket is closed, however that came about."""
    written(project, train="import torch")
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom traindx.lab.conduct.warm import Warm\n"
        "warm = Warm([sys.executable, 'train.py'], Path('.'), reserve='torch')\n"
        "server = warm.prepare({})\nassert server, warm.why\n"
        "sink = os.open(sys.argv[1], os.O_WRONLY)\nos.write(sink, b'%d' % server.process.pid)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    pipe = Pipe(project.parent / "pipe")
    with subprocess.Popen([sys.executable, "-c", script, str(pipe.path)], cwd=project) as asker:
        watched = os.pidfd_open(int(os.read(blocking(pipe.end), 20)))
        assert asker.wait() == -9
    assert select.select([watched], [], [], 60)[0]
    os.close(watched)
    pipe.close()


def blocking(descriptor: int) -> int:
    """The descriptor, once there is something to read."""
    assert select.select([descriptor], [], [], 120)[0]
    return descriptor
