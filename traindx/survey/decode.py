"""Image and sound files read with Pillow and soundfile, where these are installed."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

from traindx.survey.headers import Medium

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
