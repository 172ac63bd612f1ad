"""Damage that knows what a log is made of: nesting, columns, numbers, encodings, archives, special files.

Random bytes mostly end in a parser's first check. These kinds leave a file that is still of its format, and
wrong in what it says: another type of value, a column too many, a number that no float holds.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import socket
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
ODD_NUMBERS = (b"nan", b"-inf", b"Infinity", b"1.8e308", b"-1.7e308", b"1e-320", b"0", b"-1", b"1" + b"0" * 400, b"",
               b"9223372036854775807", b"-9223372036854775808", b"1e22", b"1,234.5", b"0x1F", b"null", b"None", b"true",
               b"1e999", b"-0.0", b"1_000", b"\xd9\xa1\xd9\xa2", b"1.#INF", b"tensor(2.5)", b"1e300")  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (None, True, "nan", "", [], {}, [[]], [1, 2], {"a": 1}, {"a": {"b": [1]}}, 10**400, -1,
                               1e308, "1e5", "epoch", [None], [{}], "\u0000", 0)  # fmt: skip
NAMES = (
    b"epoch",
    b"step",
    b"loss",
    b"val_loss",
    b"time",
    b"lr",
    b"rank",
    b"r",
    b"",
    b"iter",
    b"split",
    b"grad_norm",
)


def odd_numbers(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Some numbers (or a stretch of them, or all of a place in the line) are what no one expects."""
    found = list(NUMBER.finditer(bytes(data)))[:20_000]
    if not found:
        return
    count = int(min(len(found), 2 ** rng.uniform(0, 8)))
    first = int(rng.integers(len(found)))
    chosen = (
        range(first, min(first + count, len(found)))
        if rng.integers(2)
        else rng.integers(0, len(found), count)
    )
    same = ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))] if rng.integers(2) else None
    for i in sorted({int(i) for i in chosen}, reverse=True):
        odd = ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))] if same is None else same
        data[found[i].start() : found[i].end()] = odd


def scaled_numbers(data: bytearray, rng: Rng, _other: bytes) -> None:
    """All numbers behind a place get another exponent."""
    place, text = int(rng.integers(0, len(data))), b"e%d" % rng.integers(-320, 310)
    tail = NUMBER.sub(
        lambda m: m[0] + text if b"e" not in m[0].lower() else m[0], bytes(data[place:]), count=5000
    )
    data[place:] = tail


def nesting(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Values of a JSON document, or of some of its lines, are of another kind, or one level deeper."""
    try:
        data[:] = json.dumps(bent(json.loads(data), rng)).encode()
        return
    except (ValueError, RecursionError):
        lines = bytes(data).split(b"\n")
    for _ in range(int(rng.integers(1, 30))):
        at = int(rng.integers(len(lines))) if rng.integers(4) else 0
        try:
            lines[at] = json.dumps(bent(json.loads(lines[at]), rng)).encode()
        except (ValueError, RecursionError):
            deep = b'{"a": ' * int(10 ** rng.uniform(1, 5))
            lines[at] = (b"{}", b"[]", b"null", b"[{}]", deep, deep + b"1" + b"}" * (len(deep) // 6))[
                int(rng.integers(6))
            ]
    data[:] = b"\n".join(lines)


def bent(value: Any, rng: Rng, depth: int = 0) -> Any:
    """A JSON value with one place changed."""
    inner = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    if not inner or depth > 6 or rng.random() < 0.15:
        choice = int(rng.integers(4))
        if choice == 0:
            return {"x": value, "loss": [value]}
        return (
            [value] * int(rng.integers(0, 4))
            if choice == 1
            else ODD_VALUES[int(rng.integers(len(ODD_VALUES)))]
        )
    key, old = inner[int(rng.integers(len(inner)))]
    if isinstance(value, dict) and rng.random() < 0.2:
        return {(k if k != key else "loss"): v for k, v in inner}
    value[key] = bent(old, rng, depth + 1)
    return value


def columns(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Columns are lost, doubled, renamed, swapped or added, in all lines or from one on."""
    lines = bytes(data).split(b"\n")
    mark = max((b",", b"\t", b";", b" ", b"|"), key=lambda m: lines[0].count(m))
    width = lines[0].count(mark) + 1
    first = int(rng.integers(len(lines))) if rng.integers(2) else 0
    a, b, kind = int(rng.integers(width)), int(rng.integers(width)), int(rng.integers(7))
    for i in range(first, min(len(lines), first + 50_000)):
        cells = lines[i].split(mark)
        if len(cells) <= max(a, b):
            continue
        if kind == 0:
            del cells[a]
        elif kind == 1:
            cells[a], cells[b] = cells[b], cells[a]
        elif kind == 2:
            cells.insert(a, cells[b])
        elif kind == 3:
            cells[a] = NAMES[int(rng.integers(len(NAMES)))]
        elif kind == 4:
            cells[a] = b""
        elif kind == 5:
            cells += cells * 3
        lines[i] = (b";" if kind == 6 else mark).join(cells)
        if kind == 3:
            break
    data[:] = b"\n".join(lines)


def encoding(data: bytearray, rng: Rng, _other: bytes) -> None:
    """The same text in another encoding, or with other line ends."""
    plain, kind = bytes(data), int(rng.integers(8))
    text = plain.decode("utf-8", "replace")
    coded = (
        text.encode("utf-16"), text.encode("utf-16-be"), b"\xef\xbb\xbf" + plain, plain.replace(b"\n", b"\r\n"),
        plain.replace(b"\n", b"\r"), plain + bytes(int(rng.integers(1, 5000))), text.encode("utf-32"),
        b"\x1b[32m" + plain.replace(b"\n", b"\x1b[0m\n\x1b[1;31m"),
    )[kind]  # fmt: skip
    data[:] = coded


def archive(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Compressed; perhaps cut, flipped, twice, with another member behind it, or a bomb."""
    kind = int(rng.integers(7))
    if kind == 0:
        data += bytes(data[-200:]) * int(rng.integers(1, (4 << 20) // 200))  # what repeats costs nothing
    packed = bytearray(gzip.compress(bytes(data), 6))
    if kind == 1:
        del packed[int(rng.integers(len(packed))) :]
    elif kind == 2:
        packed[int(rng.integers(len(packed)))] ^= int(rng.integers(1, 256))
    elif kind == 3:
        packed = bytearray(gzip.compress(bytes(packed)))
    elif kind == 4:
        packed += gzip.compress(bytes(int(rng.integers(1, 1 << 26))))
    elif kind == 5:
        packed += bytes(1000)
    data[:] = packed


def bomb(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Much in a small file: gigabytes of zeros, or the log itself over and over, compressed."""
    head = gzip.compress(bytes(data)) if rng.integers(2) else b""
    if rng.integers(2) or not data:
        data[:] = head + ZEROS * int(2 ** rng.uniform(0, 8))
    else:  # what says something takes time by its size: 16 MiB at most
        member = gzip.compress((bytes(data) * ((1 << 21) // len(data) + 1))[: 1 << 22], 5)
        data[:] = head + member * int(rng.integers(1, 5))


def lengths(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Places where a binary format may keep a length or a clock hold a number beyond all reason."""
    for _ in range(int(rng.integers(1, 6))):
        form = ("<I", "<Q", ">I", "<d", "<H")[int(rng.integers(5))]
        most = (1 << (8 * struct.calcsize(form))) - 1
        value = (most, most >> 1, (most >> 1) + 1, 0, 1 << 20)[int(rng.integers(5))]
        packed = struct.pack(
            form, (1.8e308, -float("inf"), 1e300, 5e-324)[value % 4] if form == "<d" else value & most
        )
        place = int(rng.integers(0, min(len(data), 400) if rng.integers(2) else len(data)))
        data[place : place + len(packed)] = packed


def extent(data: bytearray, rng: Rng, _other: bytes) -> None:
    """Lines longer, columns more, or names more than any log has."""
    lines, kind = bytes(data).split(b"\n"), int(rng.integers(4))
    many = int(10 ** rng.uniform(2, 4.2))
    at = int(rng.integers(len(lines)))
    if kind == 0:
        lines[at] = lines[at] * max(many // (len(lines[at]) + 1), 1) * 20
    elif kind == 1:
        lines = [
            b",".join(b"m%d" % i for i in range(many)),
            *(b",".join([b"1.5"] * many) for _ in range(3)),
            *lines,
        ]
    elif kind == 2:
        lines[at:at] = [b"step %d loss%d %.3f" % (i, i, 1 / (i + 1)) for i in range(many)]
    else:
        lines[at:at] = [b'{"step": %d, "m%d": 0.5}' % (i, i) for i in range(many)]
    data[:] = b"\n".join(lines)


def arrays(data: bytearray, rng: Rng, _other: bytes) -> None:
    """A NumPy archive whose arrays have other shapes and types; what is no such archive becomes one."""
    shapes = ((), (0,), (5,), (5, 3), (5, 0), (3, 2, 2), (5, 1))
    types = ("f8", "f4", "i8", "u1", "?", "c16", "U5", "M8[s]", "f2")
    made = {}
    for name in ("timesteps", "results", "ep_lengths", "successes"):
        shape = (
            shapes[int(rng.integers(len(shapes)))]
            if rng.integers(2)
            else ((5,) if name == "timesteps" else (5, 3))
        )
        kind = types[int(rng.integers(len(types)))] if rng.integers(3) == 0 else "f8"
        made[name] = (np.arange(np.prod(shape, dtype=int)).reshape(shape)).astype(kind)
        if rng.integers(6) == 0:
            del made[name]
    packed = io.BytesIO()
    (np.savez if rng.integers(2) else np.savez_compressed)(packed, **made)
    if rng.integers(4) == 0:
        promise(packed, rng)
    data[:] = packed.getvalue()


def promise(packed: io.BytesIO, rng: Rng) -> None:
    """A member that says it has more numbers than there are, or that are all zero and compressed a thousandfold."""
    count = int(2 ** rng.uniform(10, 40))
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (count, 3)})
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("timesteps", "results"):
            with archive.open(f"{name}.npy", "w") as member:
                member.write(head.getvalue())
                for _ in range(min(count // (1 << 19), 64) if rng.integers(2) else 0):
                    member.write(bytes(1 << 22))


def special(victim: Path, rng: Rng) -> str:
    """The file is a pipe, a loop of links, a folder, a device, or has a hole of gigabytes."""
    kind = int(rng.integers(11))
    if kind == 0:
        with open(victim, "r+b") as stream:
            stream.truncate(victim.stat().st_size + int(2 ** rng.uniform(20, 36)))
        return "hole"
    if kind == 1:
        hollow = victim.with_name(victim.name + "-hollow" + victim.suffix)
        with open(hollow, "wb") as stream:
            stream.seek(int(2 ** rng.uniform(20, 36)))
            stream.write(victim.read_bytes()[:1000])
        return "hollow neighbour"
    if kind in (2, 3):
        name = SIBLINGS[int(rng.integers(len(SIBLINGS)))]
        place = victim.with_name(name) if kind == 2 else victim
        if place.exists():
            place.unlink() if not place.is_dir() else shutil.rmtree(place)
        os.mkfifo(place)
        return f"pipe {place.name}"
    if kind == 8:
        strange = NAMED[int(rng.integers(len(NAMED)))]
        victim.rename(victim.with_name(os.fsdecode(strange) + victim.suffix))
        return f"named {strange!r}"
    return beside(victim.with_name(SIBLINGS[int(rng.integers(len(SIBLINGS)))]), kind)


def beside(place: Path, kind: int) -> str:
    """A neighbour that a reader may take for a file of the log."""
    if place.exists():
        return "nothing"
    if kind == 4:
        place.symlink_to(place)
    elif kind == 5:
        place.mkdir()
    elif kind == 6:
        place.symlink_to("/dev/zero")
    elif kind == 7:
        place.write_bytes(b"")
    elif kind == 9:
        place.symlink_to("..", target_is_directory=True)
    else:
        with socket.socket(socket.AF_UNIX) as end, suppress(OSError):  # where the path is too long for one
            end.bind(str(place))
    named = {4: "loop", 5: "folder", 6: "device", 7: "empty", 9: "way up", 10: "socket"}
    return f"{named[kind]} {place.name}"


SIBLINGS = ("hparams.yaml", "args.yaml", "setup.json", "steps-0-1.arrows", "events-0-1.jsonl", "config.json",
            "trainer_state.json", "meta.yaml", "progress.csv", "x.monitor.csv", "evaluations.npz", "run-x.wandb",
            "events.out.tfevents.1.x", "metrics.csv", "metrics.json", "run.json", "stdout.log")  # fmt: skip
ZEROS = gzip.compress(bytes(1 << 24), 9)
NAMED = (b"\xff\xfe", b"two\nlines", b"\x1b[31mred", b"<script>alert(1)</script>".replace(b"/", b""), b"n" * 240, b"-",
         b"--full", b"*", b"[x]", b"|pipe|", "\u202ekcab".encode(), b"loss_nan")  # fmt: skip
KINDS: tuple[Callable[[bytearray, Rng, bytes], None], ...] = (
    odd_numbers, odd_numbers, scaled_numbers, nesting, nesting, columns, columns, encoding, archive, arrays,
    bomb, lengths, extent,
)  # fmt: skip
