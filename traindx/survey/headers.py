"""Image and sound files checked by their bytes alone: which format they begin with, and whether they end
where that format says. Sources: the specifications of PNG, JFIF, GIF, BMP, RIFF (WebP, WAV), TIFF, FLAC,
Ogg and MP3."""

import struct
from collections.abc import Callable
from typing import Literal

Medium = Literal["image", "sound"]
HEAD, TAIL = 64, 1 << 16  # bytes that are needed of a file's beginning and end

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")
SOUNDS = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3")


def medium_of(suffix: str) -> Medium | None:
    """What a file holds according to its name."""
    return "image" if suffix.lower() in IMAGES else "sound" if suffix.lower() in SOUNDS else None


def why_unreadable(head: bytes, tail: bytes, size: int) -> str:
    """Why a file cannot be read, or "". `head` are its first HEAD bytes, `tail` its last TAIL."""
    if not size:
        return "is empty"
    if not head.strip(b"\x00"):
        return "holds zeros"
    if head.lstrip()[:1] == b"<":
        return "is a web page or other text"
    check = next((check for begins, check in FORMATS if begins(head)), None)
    return "is of no known format" if check is None else check(head, tail, size)


def png(head: bytes, tail: bytes, size: int) -> str:
    return "" if b"IEND\xaeB`\x82" in tail else "ends early"


def jpeg(head: bytes, tail: bytes, size: int) -> str:
    return "" if b"\xff\xd9" in tail else "ends early"


def gif(head: bytes, tail: bytes, size: int) -> str:
    return "" if tail.rstrip(b"\x00")[-1:] == b";" else "ends early"


def bmp(head: bytes, tail: bytes, size: int) -> str:
    return "ends early" if struct.unpack("<I", head[2:6])[0] > size else ""


def riff(head: bytes, tail: bytes, size: int) -> str:
    """WebP and WAV. A length of 0 or of all ones comes from a stream, and says nothing."""
    length = struct.unpack("<I", head[4:8])[0]
    return "ends early" if length not in (0, 0xFFFFFFFF) and length + 8 > size + 1 else ""


def tiff(head: bytes, tail: bytes, size: int) -> str:
    order = "<" if head[:1] == b"I" else ">"
    return "ends early" if struct.unpack(order + "I", head[4:8])[0] >= size else ""


def ogg(head: bytes, tail: bytes, size: int) -> str:
    """The last page must be whole."""
    at = tail.rfind(b"OggS")
    if at < 0 or len(tail) < at + 27 + tail[at + 26]:
        return "ends early"
    segments = tail[at + 27 : at + 27 + tail[at + 26]]
    return "ends early" if len(tail) < at + 27 + len(segments) + sum(segments) else ""


def flac(head: bytes, tail: bytes, size: int) -> str:
    return "ends early" if size < 4 + 38 else ""


def mp3(head: bytes, tail: bytes, size: int) -> str:
    return "ends early" if size < 128 else ""


FORMATS: tuple[tuple[Callable[[bytes], bool], Callable[[bytes, bytes, int], str]], ...] = (
    (lambda h: h.startswith(b"\x89PNG\r\n\x1a\n"), png),
    (lambda h: h.startswith(b"\xff\xd8\xff"), jpeg),
    (lambda h: h.startswith((b"GIF87a", b"GIF89a")), gif),
    (lambda h: h.startswith(b"BM") and len(h) >= 26, bmp),
    (lambda h: h.startswith(b"RIFF") and h[8:12] in (b"WEBP", b"WAVE"), riff),
    (lambda h: h.startswith((b"II*\x00", b"MM\x00*")) and len(h) >= 8, tiff),
    (lambda h: h.startswith(b"OggS"), ogg),
    (lambda h: h.startswith(b"fLaC"), flac),
    (lambda h: h.startswith(b"ID3") or (len(h) > 1 and h[0] == 0xFF and h[1] & 0xE0 == 0xE0), mp3),
)
