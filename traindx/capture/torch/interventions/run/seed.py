"""Random numbers from another seed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from traindx.capture.torch.experiment.kinds import Apply, intervention
from traindx.capture.torch.experiment.site import Site
from traindx.capture.torch.experiment.values import whole

LIBRARIES = ("random", "numpy.random", "torch")
WITHIN = 1 << 32  # numpy's seeds


@intervention("seed", stage="start", values=("0",), order=1)
def seed(value: str) -> Apply:
    """Seeds the generators of Python, NumPy and PyTorch when torch is imported, and puts the seed in the place of
    the script's own: the first that it sets becomes this one, others keep their distance to it (1 and 3
    become 0 and 2). Generators of their own (`torch.Generator`, `numpy.random.default_rng`), the seeds of
    loaders' workers and the order of sets (PYTHONHASHSEED) stay what they are."""
    wanted = whole(value, "seed", low=0)

    def apply(site: Site) -> None:
        seeds = Seeds(site, wanted)
        import torch

        homes = [(importlib.import_module(name), name) for name in LIBRARIES if there(name)]
        with site.unseen():  # the script has not set these
            for home, name in homes:
                (home.manual_seed if name == "torch" else home.seed)(wanted % WITHIN)
        for home, name in homes:
            if name != "torch":
                site.wrap(home, "seed", partial(seeds.hook, name))
        for other in (torch, torch.random):
            site.wrap(other, "manual_seed", partial(seeds.hook, "torch"))
        for name in ("manual_seed", "manual_seed_all"):
            site.wrap(torch.cuda, name, partial(seeds.hook, "torch.cuda"))
        site.fact("seed", wanted)
        site.at_end(lambda: seeds.end([name for _, name in homes]))
        site.unused = "the script sets this seed itself"

    return apply


def there(name: str) -> bool:
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
        if self.inside or os.getpid() != self.process:  # a worker of a loader has a seed of its own
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
