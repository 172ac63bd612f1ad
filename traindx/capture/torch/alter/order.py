"""The order in which a loader goes through its data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.utils.data import RandomSampler, SequentialSampler

from traindx.capture.torch.alter.chance import generator
from traindx.capture.torch.alter.loaders import put, why_not_rebuilt
from traindx.capture.torch.experiment.site import Site


class FirstOrder:
    """A sampler that repeats the order of the first epoch. The one it stands for is still asked, so that
    it draws the random numbers it would have drawn."""

    def __init__(self, sampler: Any, site: Site) -> None:
        self.sampler, self.site = sampler, site
        self.order: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.sampler)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "sampler" not in vars(self):
            raise AttributeError(name)
        return getattr(self.sampler, name)

    def __iter__(self) -> Iterator[Any]:
        if self.order is None:
            self.order = list(self.sampler)
        else:
            next(iter(self.sampler), None)
            self.site.touched("epochs")
        yield from self.order


def shuffle(site: Site, loader: Any) -> None:
    """A random order instead of that of the data set, from a generator of our own."""
    why = why_not_rebuilt(loader, batches=False)
    if why:
        site.refuse(f"the loader's order cannot be changed: {why}")
    sampler = loader.sampler
    if type(sampler) is SequentialSampler:
        replace(loader, RandomSampler(sampler.data_source, generator=generator("order")))
        site.touched("loaders")
    elif type(sampler).__name__ == "DistributedSampler":
        if not sampler.shuffle:
            sampler.shuffle = True
            site.touched("loaders")
    elif type(sampler).__module__ != SequentialSampler.__module__:
        site.refuse(f"the loader's order is made by {type(sampler).__name__}")


def fix(site: Site, loader: Any) -> None:
    why = why_not_rebuilt(loader, batches=False)
    if why:
        site.refuse(f"the loader's order cannot be changed: {why}")
    if type(loader.sampler) is not SequentialSampler:
        replace(loader, FirstOrder(loader.sampler, site))


def replace(loader: Any, sampler: Any) -> None:
    put(loader, sampler=sampler)
    if loader.batch_sampler is not None:
        loader.batch_sampler.sampler = sampler
