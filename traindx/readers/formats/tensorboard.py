"""TensorBoard event files (`events.out.tfevents.*`) and folders of them.

Every scalar becomes a column under its tag, with its own steps and wall times: `simple_value` and the
tensors that TensorFlow 2 and Keras write, of any number type. Histograms, images, texts and graphs are
passed over (texts and hyperparameters for facts). Checksums of all records are checked; a broken record is
left out and named, a record cut short at the end is what a live file looks like. `readers/tfevents` has the
details.

Trainers leave setup facts: Hugging Face writes `args/text_summary` (JSON), CleanRL
`hyperparameters/text_summary` (a Markdown table), Lightning and `add_hparams` an event of the hparams plugin
(tensorboard/plugins/hparams/plugin_data.proto)."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import msgspec

from traindx.readers.api import Event, NotALog, RawColumn, RawLog, ReadError, Source, source_of
from traindx.readers.assembly.joined_files import join_files
from traindx.readers.files.protobuf import FIXED64, LENGTH, VARINT, Malformed, fields, varint
from traindx.readers.setup_facts import facts_from, facts_from_files
from traindx.readers.tfevents.crc import of_bytes
from traindx.readers.tfevents.files import Decoded, Text, decode
from traindx.readers.tfevents.frames import HEAD, WALL_KEY, has_record

NAME = "tensorboard"
FILES = ("*tfevents*", "*.v2")
ZEROS = True
VERSION = b"brain.Event:"  # in the first record of every event file
REPORTED = 20  # damaged places that are reported one by one
MOST_FILES = 2000
SPLITS = frozenset(
    {
        "train",
        "training",
        "learn",
        "val",
        "valid",
        "validation",
        "eval",
        "evaluation",
        "test",
        "testing",
        "dev",
    }
)


def sniff(source: Source) -> float:
    """By the checksum of the first record's length and the first field of an event."""
    head = source.head
    if len(head) <= HEAD:
        return 0.0
    crc = of_bytes(head[:8])
    stored = int.from_bytes(head[8:HEAD], "little")
    if stored == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF:
        return 1.0 if head[HEAD] == WALL_KEY else 0.2  # another TFRecord: data, most likely
    if VERSION in head[:256]:
        return 0.9
    return 0.8 if has_record(head) else 0.0  # its beginning is lost


def read(source: Source) -> list[RawLog]:
    """The scalars of one event file."""
    folder = source.path.resolve().parent.name if source.path else ""
    return [_log(source.name, [Part(Path("."), source.name, _decode(source))], folder)]


def sniff_folder(path: Path) -> float:
    """Whether event files are in the folder itself or in the sub-folders of its splits."""
    splits = [p for p in _children(path) if p.is_dir() and p.name.lower() in SPLITS]
    places = [path, *splits]
    return 0.8 if any(_is_events(f) for place in places for f in _children(place)) else 0.0


def read_folder(path: Path) -> list[RawLog]:
    """One log per run in a folder tree: files of one folder (restarts, several writers), its
    splits and charts are joined; other sub-folders are runs of their own."""
    files = [f for f in sorted(path.rglob("*tfevents*")) if _is_events(f)][:MOST_FILES]
    folders: dict[Path, list[Part]] = {}
    failure: ReadError | None = None
    for file in files:
        try:
            part = Part(file.parent.relative_to(path), file.name, _decode(source_of(file)))
        except ReadError as error:
            failure = failure or error
            continue
        folders.setdefault(part.folder, []).append(part)
    runs: dict[Path, list[Part]] = {}
    for folder, parts in folders.items():
        runs.setdefault(run_folder(folder, folders), []).extend(parts)
    logs = []
    for folder, parts in runs.items():
        try:
            logs.append(
                _log(
                    str(path / folder),
                    parts,
                    path.name,
                    facts_from_files(path / folder / "hparams.yaml", "hparams.yaml"),
                )
            )
        except NotALog as error:
            failure = failure or error
    if not logs:
        raise failure or NotALog(str(path), "holds no event files")
    return logs


def _log(name: str, parts: list[Part], root: str, facts: dict[str, object] | None = None) -> RawLog:
    columns = join_files([prefix_columns(part, root) for part in parts])
    if not columns:
        damage = next((d for part in parts for d in part.decoded.damage), None)
        if damage:
            raise ReadError(
                name,
                damage.why,
                where=f"byte {damage.at}",
                hint="no scalar could be saved from this event file",
            )
        others = sum(part.decoded.others for part in parts)
        what = (
            f"{others} summaries, but none is a scalar"
            if others
            else "an event file in which nothing was logged yet"
        )
        raise NotALog(name, f"holds {what}", hint="log at least a loss with add_scalar")
    log = RawLog(name, NAME, columns=columns, facts=facts or {})
    for part in parts:
        log.facts |= facts_of(part.decoded)
        log.events += _events(part.decoded, f"{part.file}, " if len(parts) > 1 else "")
    log.framework, log.axis_kind = _habit(columns)
    return log


def _decode(source: Source) -> Decoded:
    try:
        with source.open() as stream:
            return decode(stream)
    except OSError as error:
        raise ReadError(source.name, f"cannot be read: {error.strerror or error}") from error


def _events(decoded: Decoded, file: str) -> list[Event]:
    """What was lost, as events of the run."""
    events = [
        Event(
            "parse-warning",
            f"{d.why}; {d.until - d.at} bytes are left out",
            place=f"{file}byte {d.at}",
            code="damaged",
        )
        for d in decoded.damage[:REPORTED]
    ]
    if len(decoded.damage) > REPORTED:
        more = decoded.damage[REPORTED:]
        lost = sum(d.until - d.at for d in more)
        message = f"{len(more)} more damaged places, {lost} bytes in all, are left out"
        events.append(
            Event("parse-warning", message, place=f"{file}byte {more[0].at} and later", code="damaged")
        )
    if decoded.tail is not None:
        message = "ends inside a record: still being written, or cut off; all whole records are kept"
        events.append(Event("note", message, place=f"{file}byte {decoded.tail}", code="partial-tail"))
    if decoded.broken:
        events.append(Event("parse-warning", decoded.broken, place=f"{file}end", code="damaged"))
    if decoded.unnamed:
        message = f"more names than are kept; {decoded.unnamed} values under further names are left out"
        events.append(Event("parse-warning", message, place=file.rstrip(", "), code="too-many-names"))
    return events


def _habit(columns: dict[str, RawColumn]) -> tuple[str | None, str | None]:
    """Framework and kind of axis, where the tags give them away."""
    tails = {name.rsplit("/", 1)[-1] for name in columns}
    if all(tail.startswith(("epoch_", "evaluation_")) for tail in tails) and "epoch_loss" in tails:
        return "keras", "epoch"
    if {"x/lr0", "lr/pg0"} & columns.keys() and any("box_loss" in name for name in columns):
        return "yolo", "epoch"
    if any(name.startswith(("rollout/ep_", "time/total_timesteps")) for name in columns):
        return "stable-baselines3", None
    return None, None


def _children(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())[:MOST_FILES]
    except OSError:
        return []  # a folder that cannot be listed is claimed by nobody here; the walk reports it


def _is_events(file: Path) -> bool:
    """By name first, as a tree may hold many files; then by content."""
    if "tfevents" not in file.name or not file.is_file():
        return False
    try:
        return sniff(source_of(file)) > 0.5
    except ReadError:
        return False  # not readable: the walk over single files says why


class Part(msgspec.Struct, frozen=True):
    """One event file: its folder, relative to the folder that was asked for, and what is in it."""

    folder: Path
    file: str
    decoded: Decoded


def run_folder(folder: Path, parts: Mapping[Path, list[Part]]) -> Path:
    """The folder of the run that `folder` belongs to, of the folders with event files. Writers open
    sub-folders of a run for a split (Keras, Estimator), for one line of a chart (`add_scalars`)
    and for hyperparameters (`add_hparams`)."""
    if folder == Path("."):
        return folder
    if folder.name.lower() in SPLITS or all(_charts(part) for part in parts[folder]):
        return folder.parent
    columns = [column for part in parts[folder] for column in part.decoded.columns.values()]
    single = all(len(column.values) == 1 for column in columns) and any(
        part.decoded.hparams for part in parts[folder]
    )
    return folder.parent if single and folder.parent in parts else folder


def prefix_columns(part: Part, root: str) -> dict[str, RawColumn]:
    """Columns of a file under names that hold what its folder says: `validation/epoch_loss`."""
    name = part.folder.name or root
    if part.folder.name and _charts(part):
        return {tag + "/" + name[len(tag) + 1 :]: column for tag, column in part.decoded.columns.items()}
    if name.lower() not in SPLITS:
        return part.decoded.columns
    return {
        t if t.lower().startswith(name.lower() + "/") else f"{name}/{t}": c
        for t, c in part.decoded.columns.items()
    }


def _charts(part: Part) -> bool:
    """Whether the folder is a line of a chart: `loss_train` for the tag `loss` of add_scalars."""
    tags = part.decoded.columns
    return bool(tags) and all(
        part.folder.name.startswith(tag.replace("/", "_").replace(" ", "_") + "_") for tag in tags
    )


SETTINGS = ("arg", "config", "param", "setting", "option", "flag", "cfg", "opt")


def facts_of(decoded: Decoded) -> dict[str, object]:
    """Facts under `Setup`'s field names; unknown ones under their own."""
    facts: dict[str, object] = {}
    for text in decoded.texts:
        if any(word in text.tag.lower() for word in SETTINGS):
            facts |= facts_from(_settings(text))
    for body in decoded.hparams:
        try:
            facts |= facts_from(_hparams(body))
        except Malformed:
            continue  # a plugin's content that no schema fits says nothing about the setup
    return facts


def _settings(text: Text) -> dict[object, object]:
    body = text.body.decode("utf-8", "replace").strip()
    if body.startswith("{"):
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    cells = [
        [c.strip() for c in line.strip().strip("|").split("|")]
        for line in body.splitlines()
        if line.count("|") > 1
    ]
    return {row[0]: row[1] for row in cells if len(row) == 2 and row[0].strip("-: ")}


def _hparams(body: bytes) -> dict[object, object]:
    """HParamsPluginData.session_start_info (3).hparams (1): a map of protobuf Values."""
    out: dict[object, object] = {}
    for number, kind, start, stop in fields(body):
        if number == 3 and kind == LENGTH:
            for inner, inner_kind, low, high in fields(body, start, stop):
                if inner == 1 and inner_kind == LENGTH:
                    key, value = _entry(body, low, high)
                    out |= {} if value is None else {key: value}
    return out


def _entry(body: bytes, at: int, end: int) -> tuple[str, object]:
    """One entry: key 1, value 2 {number 2, string 3, bool 4}."""
    key: str = ""
    value: object = None
    for number, kind, start, stop in fields(body, at, end):
        if number == 1 and kind == LENGTH:
            key = body[start:stop].decode("utf-8", "replace")
        elif number == 2 and kind == LENGTH:
            for inner, inner_kind, low, high in fields(body, start, stop):
                if inner == 2 and inner_kind == FIXED64:
                    value = struct.unpack("<d", body[low:high])[0]
                elif inner == 3 and inner_kind == LENGTH:
                    value = body[low:high].decode("utf-8", "replace")
                elif inner == 4 and inner_kind == VARINT:
                    value = bool(varint(body, low, high)[0])
    return key, value
