"""Reading the text of an intervention's value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from traindx.errors import ConfigError


class Change(NamedTuple):
    """A new value of a setting: `number` itself, or that many times the script's own."""

    number: float
    relative: bool


def number(text: str, name: str, *, low: float = 0.0, high: float = math.inf, strict: bool = False) -> float:
    """A finite number in [low, high], above `low` when `strict`. Raises ConfigError."""
    try:
        found = float(text)
    except ValueError:
        raise ConfigError(f"--with {name}={text}: {text!r} is not a number") from None
    if not math.isfinite(found) or not (low < found if strict else low <= found) or found > high:
        least = f"above {low:g}" if strict else f"at least {low:g}"
        raise ConfigError(
            f"--with {name}={text}: must be {least}" + ("" if high == math.inf else f", at most {high:g}")
        )
    return found


def positive(text: str, name: str) -> float:
    """A finite number above 0. Raises ConfigError."""
    return number(text, name, strict=True)


def whole(text: str, name: str, *, low: int = 1) -> int:
    """A whole number of at least `low`. Raises ConfigError."""
    try:
        found = int(text)
    except ValueError:
        raise ConfigError(f"--with {name}={text}: {text!r} is not a whole number") from None
    if found < low:
        raise ConfigError(f"--with {name}={text}: must be at least {low}")
    return found


def change(text: str, name: str, *, high: float = math.inf, strict: bool = False) -> Change:
    """A number, or a factor as `*0.1`. Raises ConfigError."""
    if text.startswith("*"):
        return Change(number(text[1:], f"{name}=*", strict=strict), True)
    return Change(number(text, name, high=high, strict=strict), False)


def one_of(text: str, name: str, allowed: Sequence[str]) -> str:
    """One of some words. Raises ConfigError."""
    if text not in allowed:
        raise ConfigError(f"--with {name}={text}: must be {' or '.join(allowed)}")
    return text
