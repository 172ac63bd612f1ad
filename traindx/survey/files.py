"""A folder of image or sound files: which can be read, how many of each class, which are copies.

The classes are the folders directly below, if every file is in one. Files are read with Pillow and
soundfile, where these are installed."""

import hashlib
import importlib.util
import os
import time
import warnings
from collections import Counter
from pathlib import Path

import msgspec

from traindx.survey import hashes, headers
from traindx.survey.api import (
    Fact,
    Iterator,
    Measured,
    Progress,
    ReadError,
    list_names,
    np,
    similar_labels,
    spellings,
)
from traindx.survey.headers import HEAD, TAIL, Medium, medium_of

MOST_FILES = 1_000_000
DECODE_SECONDS = 60.0
WHOLE = 1 << 26  # bytes; of a larger file only the ends are hashed
REPORTS = 1000  # files from which progress is reported


class Inspected(msgspec.Struct):
    """What is in a folder: `paths` below it, `why_unreadable` (place, why), `labels` by path or none."""

    paths: list[str]
    broken: list[tuple[int, str]]
    seen: hashes.Seen
    labels: list[str]
    decoded: int = 0
    other: int = 0

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(self.labels))


def inspect_folder(folder: Path, codes: dict[str, int], progress: Progress | None = None) -> Inspected:
    """Every file of a folder. Raises ReadError where it holds neither images nor sounds."""
    found = list(files(folder))
    paths = sorted(path for path in found if medium_of(Path(path).suffix))
    if not paths:
        raise ReadError(
            str(folder), "holds no image or sound files", hint="a single table is given as a file"
        )
    parts = [Path(p).parts for p in paths]
    sorted_in = all(len(p) > 1 for p in parts) and len({p[0] for p in parts}) > 1
    looked = Inspected(
        paths, [], hashes.Seen(), [p[0] for p in parts] if sorted_in else [], other=len(found) - len(paths)
    )
    known, end = decoders(), time.monotonic() + DECODE_SECONDS
    for place, path in enumerate(paths):
        if progress is not None and len(paths) >= REPORTS and place % 100 == 0:
            progress(place, len(paths))
        mark, why = examine_file(folder / path)
        medium = medium_of(Path(path).suffix)
        if not why and medium in known and time.monotonic() < end:
            why = undecodable(folder / path, medium)
            looked.decoded += 1
        if why:
            looked.broken.append((place, why))
            continue
        label = codes.setdefault(looked.labels[place], len(codes)) if looked.labels else np.nan
        looked.seen.add(np.array([mark], np.uint64), place, np.array([label], np.float64))
    return looked


def files(folder: Path) -> Iterator[str]:
    """Paths below a folder, hidden ones left out. Raises ReadError where it cannot be read."""
    count = 0
    for here, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__MACOSX")))
        for name in sorted(names):
            count += 1
            if count <= MOST_FILES and not name.startswith("."):
                yield os.path.relpath(os.path.join(here, name), folder)


def unreadable(error: OSError) -> None:
    raise ReadError(str(error.filename), f"cannot be read: {error.strerror}") from error


def examine_file(path: Path) -> tuple[int, str]:
    """A hash of a file's bytes, and why it cannot be read ("" where its header and length are in order)."""
    digest = hashlib.blake2b(digest_size=8)
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(HEAD)
            stream.seek(max(0, size - TAIL))
            tail = stream.read(TAIL)
            stream.seek(0)
            while size <= WHOLE and (block := stream.read(1 << 20)):
                digest.update(block)
    except OSError as error:
        return 0, f"cannot be opened: {error.strerror}"
    digest.update(head + tail + str(size).encode())
    return int.from_bytes(digest.digest(), "little"), headers.why_unreadable(head, tail, size)


def survey_folder(
    folder: Path, held_out: Path | None, progress: Progress | None = None
) -> tuple[Measured, list[str]]:
    """Facts about a folder and its validation data, and notes."""
    codes: dict[str, int] = {}
    looked = inspect_folder(folder, codes, progress)
    other = None if held_out is None else inspect_folder(held_out, codes, progress)
    made = Measured(facts=file_facts(looked), reasons=dict(REASONS))
    made.rows["files-unreadable"] = np.array([place for place, _ in looked.broken], np.int64)
    repeats, conflicting = hashes.copies(looked.seen)
    made.facts |= {
        "samples_duplicates": len(repeats),
        "samples_duplicate_share": len(repeats) / len(looked.paths),
    }
    made.rows["samples-duplicated"] = repeats
    if looked.labels:
        made.facts |= class_facts(looked, other)
        made.facts |= {
            "samples_conflicting": len(conflicting),
            "samples_conflicting_share": len(conflicting) / len(looked.paths),
        }
        made.rows["labels-contradict"] = conflicting
    if other is not None:
        both, share = hashes.shared_hashes(looked.seen, other.seen)
        made.facts |= {"train_val_overlap_share": share, "train_val_overlap": len(both),
                       "val_samples_hashed": len(other.paths), "train_samples_hashed": len(looked.paths)}  # fmt: skip
        made.rows["train-and-validation-overlap"] = both
    return made, notes(looked)


def file_facts(looked: Inspected) -> dict[str, Fact]:
    shown = [f"{looked.paths[place]} ({why})" for place, why in looked.broken]
    return {
        "dataset_size": len(looked.paths),
        "samples_read": len(looked.paths),
        "inputs_samples_read": len(looked.paths),
        "files_checked": len(looked.paths),
        "files_decoded": looked.decoded,
        "files_unreadable": len(looked.broken),
        "files_unreadable_where": list_names(shown, 10, limit=100, quotes=False),
        "data_origin": "folder",
    }


def class_facts(looked: Inspected, other: Inspected | None) -> dict[str, Fact]:
    counts = looked.counts
    variants = similar_labels(list(counts))
    facts: dict[str, Fact] = {
        "classes": len(counts),
        "classes_seen": len(counts),
        "target_task": "classes",
        "class_counts_max_min_ratio": max(counts.values()) / min(counts.values()),
        "label_single_samples": sum(c == 1 for c in counts.values()),
        "label_twins": len(variants),
        "label_twins_where": spellings(variants),
    }
    if other is not None and other.labels:
        new = sorted(set(other.counts) - set(counts))
        facts |= {"label_unseen_classes": len(new), "label_unseen_where": list_names(new)}
    return facts


def notes(looked: Inspected) -> list[str]:
    """What was left out, and what was checked by its header only."""
    messages = []
    if looked.other:
        messages.append(f"files of other kinds were left out: {looked.other:,}")
    if looked.decoded < len(looked.paths) - len(looked.broken):
        missing = {"image": "Pillow", "sound": "soundfile"}
        media = {medium_of(Path(p).suffix) for p in looked.paths}
        lacking = [missing[m] for m in media if m is not None and m not in decoders()]
        why = f"without {' and '.join(sorted(lacking))}" if lacking else f"after {DECODE_SECONDS:.0f} s"
        messages.append(
            f"decoded: {looked.decoded:,} files; the others were checked by header and length ({why})"
        )
    return messages


NOT_SORTED = "the files are not in a folder for each class"
REASONS = {
    "classes_seen": NOT_SORTED, "targets": NOT_SORTED, "class_counts_max_min_ratio": NOT_SORTED,
    "samples_conflicting": NOT_SORTED,
    "train_val_overlap_share": "no validation data were given (--validation)",
}  # fmt: skip


BLOCK = 1 << 16  # frames of sound that are decoded in one go


def decoders() -> dict[Medium, str]:
    """The library for each medium that there is."""
    wanted: tuple[tuple[Medium, str], ...] = (("image", "PIL"), ("sound", "soundfile"))
    return {medium: library for medium, library in wanted if importlib.util.find_spec(library)}


def undecodable(path: Path, medium: Medium) -> str:
    """Why a file cannot be decoded completely, or ""."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return image(path) if medium == "image" else sound(path)


def image(path: Path) -> str:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as opened:
            opened.load()
    except UnidentifiedImageError:
        return "is no image that Pillow knows"
    except Image.DecompressionBombError:
        return "has an absurd size"
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        return f"cannot be decoded ({type(error).__name__})"
    return ""


def sound(path: Path) -> str:
    import soundfile

    try:
        with soundfile.SoundFile(str(path)) as opened:
            read = sum(len(block) for block in opened.blocks(BLOCK, dtype="float32"))
            return "ends early" if 0 <= read < opened.frames else "holds no sound" if not read else ""
    except (soundfile.SoundFileError, RuntimeError, ValueError, OSError, MemoryError) as error:
        return f"cannot be decoded ({type(error).__name__})"
