"""The script's own seeds, moved so that the first of them is the one wanted."""

import importlib
import os
from collections.abc import Callable
from typing import Any

from traindx.capture.experiment.site import Site

WITHIN = 1 << 32  # numpy's seeds


def is_installed(name: str) -> bool:
    """Whether a library is installed."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


class Seeds:
    """The script's seeds, moved so that the first of them is the one wanted."""

    def __init__(self, site: Site, wanted: int) -> None:
        self.site, self.wanted, self.process = site, wanted, os.getpid()
        self.first: int | None = None
        self.seeded: set[str] = set()
        self.inside = False

    def hook(self, library: str, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if self.inside or os.getpid() != self.process:  # each worker of a loader has its own seed
            return original(*args, **named)
        self.inside = True
        try:
            own = args[0] if args else next(iter(named.values()), None)
            ours = self.moved(own)
            self.seeded.add(library)
            if ours != own:
                self.site.touched("calls")
            return original(ours, *args[1:]) if args else original(**{next(iter(named), "seed"): ours})
        finally:
            self.inside = False

    def moved(self, own: Any) -> Any:
        if not isinstance(own, int):
            return self.wanted
        if self.first is None:
            self.first = own
        return own if own - self.first + self.wanted == own else (own - self.first + self.wanted) % WITHIN

    def end(self, libraries: list[str]) -> None:
        left = [name for name in libraries if name not in self.seeded]
        if left:
            self.site.touched("generators", len(left))
