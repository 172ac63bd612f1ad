"""`traindx fix` where arms fail: one hangs, one has no memory, the disk is full."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import traindx
from tests.cli.verbs.test_fix import TRAIN, diary, project
from tests.lab.conduct.processes import CLINGING, Pipe

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

# At a tenth of its rate there is no memory, at a hundredth it hangs, with a child that does not want to go.
FAILS = """
import os, subprocess, time
step = torch.optim.SGD.step
def hard(self, *args, **named):
    rate = self.param_groups[0]["lr"]
    if 1 < rate < 20:
        torch.empty(1 << 50)
    if rate <= 1:
        subprocess.Popen([sys.executable, "-c", CLINGING, sys.argv[2]], stdout=subprocess.PIPE).stdout.read()
        time.sleep(600)
    return step(self, *args, **named)
torch.optim.SGD.step = hard
""".replace("CLINGING", repr(CLINGING))


def test_arms_that_hang_or_have_no_memory_are_results(tmp_path: Path) -> None:
    here, out = project(tmp_path / "p"), tmp_path / "proof"
    script = TRAIN.replace("torch.manual_seed(3)\n", FAILS + "torch.manual_seed(3)\n")
    (here / "train.py").write_text(script)
    pipe = Pipe(tmp_path / "pipe")
    command = (sys.executable, "train.py", "40", str(pipe.path))
    arguments = ("--budget", "10m", "--out", str(out), "--writable", str(pipe.path), "-f", "json")
    done = traindx("fix", *arguments, "--", *command, cwd=here, limit=900)
    assert done.status in (0, 1), done.err
    report = json.loads(done.out)
    assert "lower-learning-rate" not in report["applied"]
    ways = {entry["interventions"][0]: entry for entry in diary(out) if len(entry["interventions"]) == 1}
    assert not ways["lr=*0.1"]["ok"]
    assert "memory" in ways["lr=*0.1"]["why"]
    assert not ways["lr=*0.01"]["ok"]
    assert "time limit" in ways["lr=*0.01"]["why"]
    hung = sum("time limit" in entry["why"] for entry in diary(out))  # again on top of a change that helped
    assert [pipe.read() for _ in range(hung)] == [b"here"] * hung
    assert pipe.read() == b"", "a child of an arm that hung is left"
    pipe.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 MB."""
    place = tmp_path / "small"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_ends_it_with_one_sentence_and_it_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: Path
) -> None:
    here, out = project(tmp_path / "p"), tmp_path / "proof"
    fills = (
        "import os, time\nif os.path.exists(sys.argv[2]):\n"
        "    torch.randn(50_000_000).numpy().tofile('dump.bin')\n    time.sleep(60)\n"
    )
    (here / "train.py").write_text(TRAIN.replace("torch.manual_seed(3)\n", fills + "torch.manual_seed(3)\n"))
    full = tmp_path / "full"
    arguments = ("fix", "--out", str(out), "-f", "json", "--", sys.executable, "train.py", "40", str(full))
    full.touch()
    ended = traindx(*arguments, cwd=here, env={"TMPDIR": str(small_disk)})
    assert ended.status == 2
    assert "disk" in ended.err.splitlines()[-1]
    assert os.listdir(small_disk) == []
    full.unlink()
    done = traindx(*arguments, cwd=here, env={"TMPDIR": str(small_disk)}, limit=900)
    assert done.status == 0, done.err
    assert json.loads(done.out)["verdict"] == "fixed"


def test_a_full_disk_is_named_by_the_folder_that_is_written_to(tmp_path: Path, small_disk: Path) -> None:
    here = project(tmp_path / "p")
    (small_disk / "fill").write_bytes(bytes(shutil.disk_usage(small_disk).free - 60_000))
    done = traindx(
        "fix", "--out", str(small_disk / "proof"), "--", sys.executable, "train.py", "40", cwd=here
    )
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith(f"traindx: error: {small_disk / 'proof'}")
    assert done.err.endswith("No space left on device\n")


def test_a_disk_without_any_room_is_left_as_it_was(tmp_path: Path, small_disk: Path) -> None:
    here = project(small_disk / "p")
    (small_disk / "fill").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    (here / "mine").mkdir()
    before = sorted(os.listdir(here))
    for folder in ((), ("--out", "mine")):
        done = traindx("fix", *folder, "--", sys.executable, "train.py", "40", cwd=here)
        assert done.status == 2
        assert done.err.count("\n") == 1
        assert sorted(os.listdir(here)) == before
