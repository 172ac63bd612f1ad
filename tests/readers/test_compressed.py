"""What is believed of a file: damaged and boundless ones, pipes, holes."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.readers.sources import memory
from traindx.errors import ReadError
from traindx.readers import read_file, read_path
from traindx.readers.compressed import PLENTY, RATIO, Cut, Inflated
from traindx.readers.files.text_blocks import chunks, size_of
from traindx.readers.raw import Source, source_of
from traindx.vocabulary.run import Event

LINES = b"".join(b"step %d loss %.4f\n" % (i, 3 / (i + 1)) for i in range(200))


def drained(data: bytes, size: int = 1000) -> tuple[bytes, str]:
    """All that a gzip stream gives, and why it ended early."""
    stream, found = Inflated(io.BytesIO(data), PLENTY), b""
    try:
        while piece := stream.read(size):
            found += piece
    except Cut as error:
        return found, str(error)
    return found, ""


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.99])
def test_a_cut_stream_gives_what_zlib_can_decode(kept: float) -> None:
    packed = gzip.compress(LINES)
    cut = packed[: int(len(packed) * kept)]
    expected = zlib.decompressobj(31).decompress(cut)
    assert drained(cut) == (expected, "the compressed file is damaged or cut: it ends before its last block")


def test_a_small_cut_log_is_still_read(tmp_path: Path) -> None:
    packed = gzip.compress(LINES)
    (tmp_path / "train.log.gz").write_bytes(packed[:-40])
    (run,) = read_path(str(tmp_path / "train.log.gz"))
    assert len(run.series["train/loss"]) > 150
    assert any("cut" in event.message for event in run.events)


def test_bytes_before_a_flipped_one_are_given() -> None:
    noise = np.random.default_rng(0).bytes(40_000)
    packed = bytearray(gzip.compress(noise))
    packed[30_000] ^= 0xFF
    found, why = drained(bytes(packed))
    assert noise.startswith(found[:29_000])
    assert len(found) >= 29_000
    assert "damaged" in why


def test_a_wrong_checksum_loses_nothing() -> None:
    packed = bytearray(gzip.compress(LINES))
    packed[-6] ^= 1
    found, why = drained(bytes(packed))
    assert found == LINES
    assert "incorrect data check" in why


def test_several_members_and_padding() -> None:
    assert drained(gzip.compress(LINES) + gzip.compress(b"step 200 loss 1\n") + bytes(512)) == (
        LINES + b"step 200 loss 1\n",
        "",
    )


def test_a_bomb_gives_no_more_than_is_believed(tmp_path: Path) -> None:
    file = tmp_path / "bomb.log.gz"
    file.write_bytes(gzip.compress(b"step 1 loss 2.5\n" * (1 << 22)))  # 64 MiB in 64 KiB
    events: list[Event] = []
    total = sum(len(chunk) for chunk in chunks(source_of(file), events))
    assert total == max(PLENTY, RATIO * file.stat().st_size)
    assert "more than" in events[0].message
    assert size_of(source_of(file)) == 1 << 26


def test_a_hole_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "train.log"
    with open(file, "wb") as stream:
        stream.write(LINES)
        stream.truncate(1 << 36)
    (run,) = read_path(str(file))
    assert len(run.series["train/loss"]) == 200


def test_a_compressed_pipe_is_a_log_too() -> None:
    assert Source("pipe", data=gzip.compress(LINES)).read_bytes() == LINES
    assert memory(LINES).read_bytes() == LINES


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
@pytest.mark.parametrize(
    "name",
    ["train.log", "metrics.csv", "setup.json", "steps-0-1.arrows", "events-0-1.jsonl", "a.monitor.csv", "run-1.wandb",
     "trainer_state.json", "hparams.yaml", "args.yaml", "metrics.json", "progress.csv", "meta.yaml", "config.json",
     "catboost_training.json", "learn_error.tsv", "events.out.tfevents.1.host", "evaluations.npz"],
)  # fmt: skip
def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / "real.log").write_bytes(LINES)
    (tmp_path / "other.csv").write_text("epoch,loss\n0,2.0\n1,1.0\n2,0.5\n")
    os.mkfifo(tmp_path / name)
    runs = read_path(str(tmp_path))
    assert {200, 3} == {len(run.series["train/loss"]) for run in runs}


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_what_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="not a regular file"):
        source_of(tmp_path)
    with pytest.raises(ReadError, match="empty"):
        read_file(Path("/dev/null"))
