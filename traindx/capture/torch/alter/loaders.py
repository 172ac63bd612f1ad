"""The script's DataLoaders, which interventions may set up differently and whose batches they may change.

A loader is one for training when it is iterated while gradients are on and a model is in training mode.
Its set-up (sampler, batch size, workers, data set) is changed before its first iterator is made; what its
length depends on already when that is asked for, if it is shuffled or the first that was made.
"""

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, SequentialSampler, dataloader

from traindx.capture.process.patches import Patches


class Loaders:
    """Calls each of `sizes` and `setups` once for each training loader, and each of `streams` with every
    training iterator's way of drawing a batch, which it may replace."""

    def __init__(self, patches: Patches, trains_now: Callable[[], bool]) -> None:
        self.setups: list[Callable[[Any], None]] = []
        self.sizes: list[Callable[[Any], None]] = []
        self.streams: list[Callable[[Any, Callable[[], Any]], Callable[[], Any]]] = []
        self.trains_now = trains_now
        self.seen = self.iterated = 0  # loaders that were trained from; iterators made
        self.done: weakref.WeakSet[Any] = weakref.WeakSet()
        self.sized: weakref.WeakSet[Any] = weakref.WeakSet()
        self.first: weakref.ref[Any] | None = None
        self.draws: weakref.WeakKeyDictionary[Any, Callable[[], Any]] = weakref.WeakKeyDictionary()
        self.quiet = False
        patches.around(dataloader.DataLoader, "__init__", self.made)
        patches.around(dataloader.DataLoader, "__iter__", self.iter)
        patches.around(dataloader.DataLoader, "__len__", self.length)
        patches.replace(dataloader._BaseDataLoaderIter, "__next__", self.next)

    def made(self, original: Callable[..., None], loader: Any, *args: Any, **named: Any) -> None:
        original(loader, *args, **named)
        if self.first is None:
            self.first = weakref.ref(loader)

    def iter(self, original: Callable[..., Any], loader: Any) -> Any:
        known = loader in self.done and torch.is_grad_enabled()  # also where the script forgot train()
        training = known or self.trains_now()
        self.iterated += 1
        if training:
            self.set_up(loader)
        iterator = original(loader)
        self.draws.pop(iterator, None)
        if training and self.streams:
            self.stream(loader, iterator)
        return iterator

    def length(self, original: Callable[..., int], loader: Any) -> int:
        if not self.quiet and loader not in self.sized:
            first = self.first is not None and self.first() is loader
            if (first or is_shuffled(loader)) and self.trains_now():
                self.size(loader)
        return original(loader)

    def next(self, original: Callable[..., Any]) -> Callable[..., Any]:
        loaders = self

        def __next__(self: Any) -> Any:
            draw = loaders.draws.get(self)
            return original(self) if draw is None else draw()

        self.draw_plainly = original
        return __next__

    def set_up(self, loader: Any) -> None:
        if loader in self.done:
            return
        self.done.add(loader)
        self.seen += 1
        self.size(loader)
        self.change(loader, self.setups)

    def size(self, loader: Any) -> None:
        if loader not in self.sized:
            self.sized.add(loader)
            self.change(loader, self.sizes)

    def change(self, loader: Any, hooks: list[Callable[[Any], None]]) -> None:
        self.quiet = True
        try:
            for hook in hooks:
                hook(loader)
        finally:
            self.quiet = False

    def stream(self, loader: Any, iterator: Any) -> None:
        itself = weakref.ref(iterator)

        def draw() -> Any:
            return self.draw_plainly(itself())

        changed: Callable[[], Any] = draw
        for change in self.streams:
            changed = change(loader, changed)
        self.draws[iterator] = changed


def is_shuffled(loader: Any) -> bool:
    return not is_stream(loader) and not isinstance(getattr(loader, "sampler", None), SequentialSampler)


def is_stream(loader: Any) -> bool:
    """Whether the data set can only be iterated."""
    return bool(loader._dataset_kind == dataloader._DatasetKind.Iterable)


def force_attributes(loader: Any, **changes: Any) -> None:
    """Set what a DataLoader does not let one set after it was made."""
    vars(loader).update(changes)


def why_not_rebuilt(loader: Any, *, batches: bool = True) -> str:
    """Why the order (and with `batches`, the size) of a loader's batches cannot be changed; "" if it can."""
    if is_stream(loader):
        return "its data set is a stream"
    if loader.batch_sampler is None:
        return "it does not make batches itself"
    if type(loader.batch_sampler) is not BatchSampler:
        return f"its batches are made by {type(loader.batch_sampler).__name__}"
    return "" if batches or loader.sampler is not None else "it has no sampler"


def tensors_of(batch: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every tensor in nested tuples, lists and dicts, with the keys that lead to it."""
    if isinstance(batch, torch.Tensor):
        yield place, batch
    elif isinstance(batch, dict):
        for key, value in batch.items():
            yield from tensors_of(value, (*place, key))
    elif isinstance(batch, list | tuple):
        for number, value in enumerate(batch):
            yield from tensors_of(value, (*place, number))


def rebuilt(batch: Any, change: Callable[[tuple[Any, ...], Any], Any], place: tuple[Any, ...] = ()) -> Any:
    """The same nesting with `change(place, tensor)` for each tensor; everything else as it is."""
    if isinstance(batch, torch.Tensor):
        return change(place, batch)
    if isinstance(batch, dict):
        made = {key: rebuilt(value, change, (*place, key)) for key, value in batch.items()}
        return made if type(batch) is dict else type(batch)(made)
    if isinstance(batch, list | tuple):
        parts = [rebuilt(value, change, (*place, number)) for number, value in enumerate(batch)]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return batch
