from __future__ import annotations

import io
import struct
import wave
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.survey.made import rng
from traindx import survey
from traindx.errors import ConfigError, ReadError
from traindx.survey import files, headers
from traindx.survey.headers import HEAD, TAIL

EXAMPLES = ("png", "jpg", "gif", "bmp", "webp", "tiff")


def png(seed: int, side: int = 8) -> bytes:
    """A grey image, by the specification of PNG."""
    rows = b"".join(b"\x00" + bytes(row) for row in rng(seed).integers(0, 255, (side, side), dtype=np.uint8))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def wav(seed: int, frames: int = 4000) -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(rng(seed).integers(-999, 999, frames, dtype=np.int16).tobytes())
    return stream.getvalue()


def folder(path: Path, first: int = 0, each: int = 25) -> Path:
    """Two classes of images that are all different."""
    for number, name in enumerate(("cats", "dogs")):
        (path / name).mkdir(parents=True)
        for i in range(each):
            (path / name / f"{i:02}.png").write_bytes(png(first + 1000 * number + i))
    return path


def judged(data: bytes) -> str:
    return headers.why_unreadable(data[:HEAD], data[-TAIL:], len(data))


@pytest.mark.parametrize("data", [png(1), wav(1)], ids=["png", "wav"])
def test_whole_files_are_whole_and_every_cut_is_seen(data: bytes) -> None:
    assert judged(data) == ""
    for length in (len(data) - 20, len(data) // 2, 60):
        assert judged(data[:length]) == "ends early"


def test_what_is_no_image_at_all() -> None:
    assert judged(b"") == "is empty"
    assert judged(bytes(500)) == "holds zeros"
    assert "web page" in judged(b"<!doctype html><title>404</title>")
    assert judged(b"surely no image, and no sound") == "is of no known format"


@pytest.mark.parametrize("kind", EXAMPLES)
def test_images_that_pillow_wrote(kind: str, tmp_path: Path) -> None:
    images = pytest.importorskip("PIL.Image")
    path = tmp_path / f"x.{kind}"
    images.fromarray(rng().integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(path)
    data = path.read_bytes()
    assert judged(data) == ""
    assert files.undecodable(path, "image") == ""
    path.write_bytes(data[: len(data) // 2])
    assert judged(path.read_bytes()) == ("" if kind == "tiff" else "ends early")
    assert files.undecodable(path, "image")


@pytest.mark.parametrize("kind", ["wav", "flac", "ogg"])
def test_sounds_that_soundfile_wrote(kind: str, tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    path = tmp_path / f"x.{kind}"
    soundfile.write(path, 0.1 * rng().standard_normal(20_000), 16_000)
    data = path.read_bytes()
    assert judged(data) == files.undecodable(path, "sound") == ""
    path.write_bytes(data[: len(data) // 2])
    assert judged(path.read_bytes()) or files.undecodable(path, "sound")


def test_a_folder_of_images(tmp_path: Path) -> None:
    found = survey.examine(folder(tmp_path / "train"), validation=folder(tmp_path / "val", first=500))
    facts = found.measured.facts
    assert (facts["files_checked"], facts["files_unreadable"], facts["classes"]) == (50, 0, 2)
    assert facts["class_counts_max_min_ratio"] == 1
    assert (
        facts["train_val_overlap_share"] == facts["samples_duplicates"] == facts["label_unseen_classes"] == 0
    )
    assert found.format == "folder"


def test_a_folder_in_which_everything_is_wrong(tmp_path: Path) -> None:
    train, held_out = folder(tmp_path / "train"), folder(tmp_path / "val", first=500)
    (train / "cats" / "00.png").write_bytes(b"")
    (train / "cats" / "01.png").write_bytes(png(1)[:60])
    (train / "dogs" / "copy.png").write_bytes(png(3))
    (train / "notes.txt").write_text("x")
    (held_out / "dogs" / "seen.png").write_bytes(png(5))
    (held_out / "cows").mkdir()
    (held_out / "cows" / "1.png").write_bytes(png(77_777))
    found = survey.examine(train, validation=held_out)
    facts, rows = found.measured.facts, found.measured.rows
    assert facts["files_unreadable"] == 2
    assert facts["files_unreadable_where"] == "cats/00.png (is empty), cats/01.png (ends early)"
    assert rows["files-unreadable"].tolist() == [0, 1]
    assert (facts["samples_duplicates"], facts["samples_conflicting"]) == (1, 2)
    assert facts["train_val_overlap"] == 1
    assert facts["label_unseen_where"] == "cows"
    assert "files of other kinds were left out: 1" in found.notes


def test_hostile_file_names_are_escaped(tmp_path: Path) -> None:
    train = folder(tmp_path / "train")
    (train / "cats" / "\x1b[31mred\n.png").write_bytes(b"")
    where = str(survey.examine(train).measured.facts["files_unreadable_where"])
    assert "\x1b" not in where
    assert "\n" not in where


def test_folders_that_hold_nothing_to_look_at(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(ReadError, match="no image or sound files"):
        survey.examine(tmp_path)
    with pytest.raises(ConfigError, match="must be a folder"):
        survey.examine(folder(tmp_path / "train"), validation=tmp_path / "a.csv")
