"""Reading the text of an intervention's value. All readers take the text and the name, and raise ConfigError."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from traindx.errors import ConfigError


class Change(NamedTuple):
    """A new value of a setting: `number` itself, or that many times the script's own."""

    number: float
    relative: bool

    def apply_to(self, own: float) -> float:
        """What the script's own value becomes."""
        return own * self.number if self.relative else self.number

    def __str__(self) -> str:
        return f"{'*' if self.relative else ''}{self.number:g}"


class Span(NamedTuple):
    """The first part of a run: so many `steps`, or (None) a `share` of all steps."""

    steps: int | None
    share: float


def number(text: str, name: str, *, low: float = 0.0, high: float = math.inf, strict: bool = False) -> float:
    """A finite number in [low, high], above `low` when `strict`."""
    try:
        value = float(text)
    except ValueError:
        raise ConfigError(f"--with {name}={text}: {text!r} is not a number") from None
    if not math.isfinite(value) or not (low < value if strict else low <= value) or value > high:
        least = f"above {low:g}" if strict else f"at least {low:g}"
        most = "" if high == math.inf else f", at most {high:g}"
        raise ConfigError(f"--with {name}={text}: must be {least}{most}")
    return value


def positive(text: str, name: str) -> float:
    """A finite number above 0."""
    return number(text, name, strict=True)


def whole_number(text: str, name: str, *, low: int = 1) -> int:
    """A whole number of at least `low`."""
    try:
        value = int(text)
    except ValueError:
        raise ConfigError(f"--with {name}={text}: {text!r} is not a whole number") from None
    if value < low:
        raise ConfigError(f"--with {name}={text}: must be at least {low}")
    return value


def change(text: str, name: str, *, high: float = math.inf, strict: bool = False) -> Change:
    """A number, or a factor such as `*0.1`."""
    if text.startswith("*"):
        return Change(number(text[1:], f"{name}=*", strict=strict), True)
    return Change(number(text, name, high=high, strict=strict), False)


def one_of(text: str, name: str, allowed: Sequence[str]) -> str:
    """One of some words."""
    if text not in allowed:
        raise ConfigError(f"--with {name}={text}: must be {' or '.join(allowed)}")
    return text


def span(text: str, name: str) -> Span:
    """A number of steps, or a share of all steps between 0 and 1."""
    share = number(text, name)
    return Span(None, share) if 0 < share < 1 else Span(whole_number(text, name, low=0), 1.0)
