"""Two starts never write into one folder, however close together they come."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import LIMIT, line, started
from traindx.capture.launch.folder import run_folder, start_folder
from traindx.errors import ConfigError

# Waits for the word, then claims its folder, or makes one; holds it until stdin ends.
CLAIMS = """
import sys
from pathlib import Path
from traindx.capture.launch.folder import Claim, run_folder
from traindx.errors import ConfigError
print("ready", flush=True)
sys.stdin.readline()
try:
    folder = Path(sys.argv[1])
    if sys.argv[2] == "make":
        folder = run_folder(["train.py"], folder, now=0.0)
    with Claim(folder):
        print(folder.name, flush=True)
        sys.stdin.readline()
except ConfigError as error:
    print(error, flush=True)
"""
WAITS = "import sys; print('ready', flush=True); sys.stdin.readline()"


def together(folder: Path, how: str, count: int) -> list[str]:
    """What `count` processes say that begin at the same moment."""
    command = [sys.executable, "-c", CLAIMS, str(folder), how]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)
    ]
    try:
        for process in processes:
            assert line(process.stdout) == "ready"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        return [line(process.stdout) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_one_of_many_gets_the_folder(tmp_path: Path) -> None:
    said = together(tmp_path / "run", "claim", 5)
    assert said.count("run") == 1
    assert sum("another start is recorded there" in words for words in said) == 4


def test_without_a_name_each_gets_its_own(tmp_path: Path) -> None:
    said = together(tmp_path, "make", 5)
    assert len(set(said)) == 5
    assert all(words.startswith("train-1970") for words in said)


def test_the_second_start_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """While the first one is at work. When it was killed, the folder is free."""
    command = [sys.executable, "-m", "traindx.cli.main", "run", "--out", "run", "--"]
    first = [*command, sys.executable, "-c", WAITS]
    with started(first, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert line(process.stdout) == "ready"
        second = subprocess.run(
            [*command, sys.executable, "-c", "print('ran')"],
            cwd=tmp_path,
            capture_output=True,
            timeout=LIMIT,
        )
        assert (second.returncode, second.stdout) == (2, b"")
        assert second.stderr.decode().strip() == (
            "traindx: error: --out run: another start is recorded there; give another folder"
        )
        process.kill()
        assert process.wait(LIMIT)
        start_folder(tmp_path / "run")


def test_what_a_start_without_numbers_left_is_no_hindrance(tmp_path: Path) -> None:
    """Its claim of the rank would keep the next one from being recorded; what is not ours is not touched."""
    start_folder(tmp_path / "run")
    (tmp_path / "run" / ".launch").write_text('{"stage": "torch"}\n')
    for name in (".claim-0", "events-0-17.jsonl", "setup.json", "notes.txt"):
        (tmp_path / "run" / name).write_text("")
    start_folder(tmp_path / "run")
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [".launch", "notes.txt"]
    (tmp_path / "setup.json").write_text("the user's")
    start_folder(tmp_path)
    assert (tmp_path / "setup.json").read_text() == "the user's"


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        start_folder(tmp_path / "file" / "run")
    with pytest.raises(ConfigError, match="cannot be made"):
        run_folder(["train.py"], tmp_path / "file")
