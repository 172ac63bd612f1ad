"""Small files that expand to much, damaged ones in a record, and too little memory."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readers.writers.store import rows, write_setup, write_stream
from traindx.errors import ReadError
from traindx.readers import read_all

MEASURE = """import sys
from pathlib import Path
import traindx
try:
    traindx.diagnose(traindx.read_all(sys.argv[1])).to_text()
except traindx.ReadError as error:
    print(error)
status = Path('/proc/self/status').read_text()
print(int(status.partition('VmHWM:')[2].split()[0]) >> 10)
"""
MOST_MIB = 512
BYTES = 48_000_000  # what 1 MB may give, 50 times as much
BOMBS = {  # head, piece that is repeated, end
    "lists.json": (b'{"loss": [1.0, 0.5, 0.3], "x": [[]', b",[]", b"]}"),
    "objects.json": (b'{"log_history": [{}', b',{"step":1,"loss":0.5}', b"]}"),
    "numbers.json": (b'{"loss": [1', b",1", b"]}"),
    "line.jsonl": (b'{"step": 1, "loss": 0.5}\n{"loss": [[]', b",[]", b"]}\n"),
    "rows.csv": (b"step,loss\n", b"1,2\n", b""),
}


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="its peak cannot be read here"
)


def packed(path: Path, name: str) -> Path:
    """Compressed, with bytes after it that bring the file to 1 MB."""
    head, piece, end = BOMBS[name]
    content = head + piece * (BYTES // len(piece)) + end
    path.write_bytes(gzip.compress(content, 5) + bytes(800_000))
    return path


@needs_proc
@pytest.mark.parametrize("name", BOMBS)
def test_a_megabyte_of_gzip_stays_below_512_mib(name: str, tmp_path: Path) -> None:
    path = packed(tmp_path / f"{name}.gz", name)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout.splitlines()[-1]) < MOST_MIB


def test_a_long_honest_document_is_read_whole(tmp_path: Path) -> None:
    count = 300_000
    path = tmp_path / "history.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"loss": [1 / (i + 1) for i in range(count)]}).encode()))
    (run,) = read_all([path])
    assert len(run.series["train/loss"]) == count


def test_a_document_of_too_many_values_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = packed(tmp_path / "lists.json.gz", "lists.json")
    with pytest.raises(ReadError, match=r"more than 6 million values.*decompress it first"):
        read_all([path])


@pytest.mark.parametrize("name", ["setup.json", "steps-0-100.arrows", "events-0-100.jsonl"])
@pytest.mark.parametrize("size", [11, 60])
def test_a_truncated_gzip_in_a_record_is_damage(name: str, size: int, tmp_path: Path) -> None:
    write_setup(tmp_path, facts={"lr": 0.1})
    write_stream(tmp_path, [rows(0, 40)], pid=99)
    write_stream(tmp_path, [rows(40, 60)], pid=100)
    (tmp_path / "events-0-100.jsonl").write_text('{"kind": "note", "message": "a"}\n' * 5)
    file = tmp_path / name
    file.write_bytes(gzip.compress(file.read_bytes())[:size])
    (run,) = read_all([tmp_path])
    assert len(run.series["train/loss"]) >= 40
    if size == 11:
        assert any(event.code == "damaged" and name in event.place for event in run.events)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("EOFError('no last block')", "a file ends too early: no last block"),
        ("MemoryError()", "not enough memory; free some, or raise the limit (ulimit -v)"),
        (
            "ImportError('x.so: failed to map segment from shared object')",
            "not enough memory;",
        ),
    ],
)
def test_the_command_says_what_ended_it(raised: str, said: str) -> None:
    """A real command whose reading ends so: click takes an EOFError for Ctrl-D, and says "interrupted"."""
    code = (
        f"import traindx\nfrom traindx.cli import main\ndef read(*_, **__): raise {raised}\n"
        "import traindx.pipeline\ntraindx.pipeline.read_all = read\nmain.main(['diagnose', __file__])\n"
    )
    script = "import sys; exec(compile(sys.argv[1], 'x', 'exec'), {'__file__': sys.executable})"
    done = subprocess.run(
        [sys.executable, "-c", script, code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip().startswith(f"traindx: error: {said}")


LITTLE = """import resource, sys
from pathlib import Path
import pyarrow.csv
import traindx
Path("small.jsonl").write_text('{"step": 1, "loss": 1.0}\\n' * 3)
traindx.read_all("small.jsonl")
held = int(Path("/proc/self/status").read_text().partition("VmSize:")[2].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_AS, (held + (8 << 20),) * 2)
try:
    traindx.read_all("long.json")
except traindx.ReadError as error:
    print(error)
"""


@needs_proc
def test_too_little_memory_to_read_a_log_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "long.json").write_text(json.dumps({"loss": [1 / (i + 1) for i in range(500_000)]}))
    done = subprocess.run(
        [sys.executable, "-c", LITTLE], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.stderr == ""
    assert "long.json: not enough memory to read it (11.7 MB)" in done.stdout
