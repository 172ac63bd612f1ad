"""Decode a stream of TensorBoard events: every checksum checked, scalars split by name."""

from typing import BinaryIO, NamedTuple

import msgspec
import numpy as np

from traindx.readers.files.protobuf import Malformed
from traindx.readers.raw import RawColumn
from traindx.readers.tfevents.crc import Bytes, crc32c, mask_crc
from traindx.readers.tfevents.event import Layout, clock, is_other, layout, number
from traindx.readers.tfevents.frames import FRAME, HEAD, Damage, FrameReader, Frames
from traindx.readers.tfevents.template import CHUNK, LONGEST, Columns, Template, gather
from traindx.vocabulary import Ints

FEW = 4  # records of one length that are not worth a template
MOST_TEMPLATES = 12  # layouts kept per length
MOST_IN_ALL = 4000  # layouts kept
MOST_FAILURES = 4  # records per chunk that are tried as a new layout in vain
MOST_TEXTS = 200  # texts kept for facts
TEXT_BYTES = 1 << 20
PLAIN = frozenset("fdihbBHIQqe?")  # codes that are one fixed-size number


class Text(NamedTuple):
    tag: str
    body: bytes


class Decoded(msgspec.Struct):
    """`columns` by tag; `damage` in the order of the file; `tail` is where a last, unfinished
    record begins; `broken` why a compressed stream ended early;
    `records` counts whole records, `others` the summaries that are no scalars."""

    columns: dict[str, RawColumn] = msgspec.field(default_factory=dict)
    damage: list[Damage] = msgspec.field(default_factory=list)
    tail: int | None = None
    broken: str = ""
    records: int = 0
    others: int = 0
    unnamed: int = 0
    texts: list[Text] = msgspec.field(default_factory=list)
    hparams: list[bytes] = msgspec.field(default_factory=list)


def _width(length: int) -> int:
    """Bytes of a record with this payload, in whole 64-bit words."""
    return (length + FRAME + 7) // 8 * 8


def decode(stream: BinaryIO) -> Decoded:
    """Read all events of a (decompressed) stream. Memory: 16 MiB of bytes and the numbers."""
    reader, work = FrameReader(stream), _Decoder()
    work.all(reader)
    out = work.out
    out.unnamed = work.columns.unnamed
    out.columns = work.columns.split()
    out.damage = sorted(out.damage + reader.damage)
    out.tail, out.broken = reader.tail, reader.broken
    return out


class _Decoder:
    def __init__(self) -> None:
        self.out = Decoded()
        self.columns = Columns()
        self.templates: dict[int, list[Template]] = {}
        self.made = 0

    def all(self, reader: FrameReader) -> None:
        for frames in reader:
            self.stretch(frames)

    def stretch(self, frames: Frames) -> None:
        """Decode the records of one stretch."""
        lengths = frames.lengths
        order = np.argsort(
            lengths.astype(np.uint16) if lengths.max(initial=0) < 65536 else lengths, kind="stable"
        )
        cuts = np.flatnonzero(np.diff(lengths[order])) + 1
        left = [self._same_length(frames, group) for group in np.split(order, cuts) if len(group)]
        if left:
            self._one_by_one(frames, np.sort(np.concatenate(left)))
        self.out.records += len(lengths)

    def _same_length(self, frames: Frames, group: Ints) -> Ints:
        """Decode records of one length by templates; returns those that need the general parser."""
        length = int(frames.lengths[group[0]])
        known = self.templates.setdefault(length, [])
        if length > LONGEST or (len(group) < FEW and not known):
            return group
        start = int(frames.starts[group[0]]) + HEAD
        if not known and is_other(frames.buffer[start : start + length].tobytes()):
            return group  # histograms of one size; what else has their length is rare
        return np.concatenate(
            [self._chunk(frames, group[i : i + CHUNK], known) for i in range(0, len(group), CHUNK)]
        )

    def _chunk(self, frames: Frames, part: Ints, known: list[Template]) -> Ints:
        """Try the templates of a length, then new ones made from what is left."""
        octets = gather(frames.buffer, frames.starts[part], _width(int(frames.lengths[part[0]])))
        left, turn, failures = [part[:0]], 0, 0
        while len(part):
            template = known[turn] if turn < len(known) else None
            new = template is None
            if new and (
                len(part) < FEW
                or failures == MOST_FAILURES
                or len(known) == MOST_TEMPLATES
                or self.made == MOST_IN_ALL
            ):
                return np.concatenate([*left, part])
            template = template or self._learn(octets[0], int(frames.lengths[part[0]]))
            fits = template.matches(octets.view(np.uint64)) if template else np.zeros(1, bool)
            turn += not new
            if template and fits.any():
                self.made += new
                if new or turn > 1:  # the layout of this stretch is likely that of the next
                    known[:] = [template, *(t for t in known if t is not template)]
                    turn += new
                every = bool(fits.all())
                mine, rows = (part, octets) if every else (part[fits], octets[fits])
                left.append(mine[template.decode(rows, mine + self.out.records, self.columns)])
                part, octets = (part[:0], octets) if every else (part[~fits], octets[~fits])
            elif new:  # no scalars in it, or damaged: others may be better
                failures += 1
                left.append(part[:1])
                part, octets = part[1:], octets[1:]
        return np.concatenate(left)

    def _learn(self, row: Bytes, length: int) -> Template | None:
        octets = row[: FRAME + length].tobytes()
        try:
            found = layout(octets[HEAD : HEAD + length])
        except Malformed:
            return None
        plain = all(s.code in PLAIN for s in found.scalars)
        if (
            found.wall is None
            or not found.scalars
            or not plain
            or found.texts
            or found.hparams
            or found.others
        ):
            return None
        return Template(octets, found)

    def _one_by_one(self, frames: Frames, group: Ints) -> None:
        """The general parser, after both checksums."""
        if not len(group):
            return
        starts, lengths = frames.starts[group], frames.lengths[group]
        heads = mask_crc(crc32c(frames.buffer, starts, np.full(len(group), 8)))
        bodies = mask_crc(crc32c(frames.buffer, starts + HEAD, lengths))
        good_head = gather(frames.buffer, starts + 8, 4).view("<u4")[:, 0] == heads
        good_body = gather(frames.buffer, starts + HEAD + lengths, 4).view("<u4")[:, 0] == bodies
        for record, start, length, head, body in zip(
            group.tolist(),
            starts.tolist(),
            lengths.tolist(),
            good_head.tolist(),
            good_body.tolist(),
            strict=True,
        ):
            at = frames.base + start
            if not (head and body):
                self._damaged(
                    at, length, "of a record's length is wrong" if not head else "of a record is wrong"
                )
                continue
            octets = frames.buffer[start + HEAD : start + HEAD + length].tobytes()
            if is_other(octets):
                self.out.others += 1
                continue
            try:
                self._event(octets, record + self.out.records)
            except Malformed as error:
                self._damaged(at, length, f"of a record is right, but its content is malformed: {error}")

    def _damaged(self, at: int, length: int, what: str) -> None:
        self.out.damage.append(Damage(at, at + FRAME + length, f"the checksum {what}"))

    def _event(self, octets: bytes, record: int) -> None:
        found = layout(octets)
        wall, step = clock(octets, found)
        values = [number(octets, s) for s in found.scalars]
        for scalar, value in zip(found.scalars, values, strict=True):
            known = self.columns.identify(octets[slice(*scalar.tag)])
            if known < 0:
                self.columns.unnamed += 1
                continue
            one = (
                np.array([known], np.uint16),
                np.array([record]),
                np.array([wall]),
                np.array([step]),
                np.array([value]),
            )
            self.columns.add(*one)
        self.out.others += found.others
        self._texts(octets, found)

    def _texts(self, octets: bytes, found: Layout) -> None:
        for tag, body in found.texts:
            if len(self.out.texts) < MOST_TEXTS and body[1] - body[0] <= TEXT_BYTES:
                self.out.texts.append(
                    Text(octets[slice(*tag)].decode("utf-8", "replace"), octets[slice(*body)])
                )
        if len(self.out.hparams) < MOST_TEXTS:
            self.out.hparams += [octets[slice(*span)] for span in found.hparams]
