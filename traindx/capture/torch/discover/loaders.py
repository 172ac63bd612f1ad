"""Data loaders: how long the loop waits for them, and how they are set up. No batch is drawn here."""

import contextlib
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch.utils.data import BatchSampler, dataloader

from traindx.capture.session import Stream
from traindx.capture.session.events import BackwardBegins, DataWaited, ModelFed
from traindx.capture.torch.discover.wrappers import call_after

SHUFFLED = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler", "DistributedSampler")


class Loaders:
    """Wraps the `__next__` of every DataLoader iterator."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.scene = stream, stream.scene
        self.holders: dict[int, Any] = {}  # by the id of data that was trained on: a weak reference
        self.waited = 0.0
        self.described = False
        self.facts: dict[str, Any] = {}  # of the loader that was drawn from last
        self.iterator: weakref.ref[Any] | None = None  # in use; its id may be reused once it is freed
        self.parts: list[weakref.ref[torch.Tensor]] = []  # the tensors of the last batch
        self.draws = self.passes = 0  # its batches, and the backward passes since its first

    def attach(self) -> None:
        self.stream.patches.around(dataloader._BaseDataLoaderIter, "__next__", self.next)
        self.stream.patches.replace(dataloader.DataLoader, "__iter__", call_after(self.stream, self.begin))
        self.stream.hear(BackwardBegins, self.backward_begins)
        self.stream.hear(ModelFed, self.fed)

    def begin(self, _iterator: Any, loader: Any) -> None:
        self.scene.loader = weakref.ref(loader)

    def next(self, original: Callable[..., Any], iterator: Any) -> Any:
        begun = time.perf_counter()
        try:
            batch = original(iterator)
        except StopIteration:
            self.stream.safely(self.end)
            raise
        self.stream.safely(self.hand_out, iterator, batch, time.perf_counter() - begun)
        return batch

    def hand_out(self, iterator: Any, batch: Any, seconds: float) -> None:
        """A batch was handed out. The next backward pass shows whether it is trained on."""
        if self.iterator is None or self.iterator() is not iterator:
            self.iterator, self.draws, self.passes = weakref.ref(iterator), 0, 0
            if not self.described:
                self.facts = loader_facts(iterator, self.scene.loader and self.scene.loader())
        if not self.described:
            parts = batch if isinstance(batch, list | tuple) else (batch,)
            self.parts = [weakref.ref(p) for p in parts if isinstance(p, torch.Tensor)]
        self.draws += 1
        scene = self.scene
        scene.most, scene.pair = most_values(batch), targets_place(batch)
        data = id(data_of(iterator))
        if data != scene.data:
            scene.data, self.waited = data, 0.0
        self.waited += seconds

    def end(self) -> None:
        """No batches are left. Unless one that was drawn ahead is still to be trained on, the next
        evaluation is not of this loader's data."""
        if self.draws and self.passes >= self.draws:
            self.scene.data = None
        self.iterator = None

    def backward_begins(self, _event: BackwardBegins) -> None:
        """The current data set is trained on."""
        scene = self.scene
        if scene.data is None:
            return
        self.passes += 1
        if self.waited:
            self.stream.tell(DataWaited(self.waited))
            self.waited = 0.0
        iterator = self.iterator() if self.iterator is not None else None
        if scene.data not in scene.trained_data and iterator is not None:
            self.trained_on(scene.data, iterator)
            self.describe()

    def fed(self, event: ModelFed) -> None:
        """A batch that outlives its iterator, as in `next(iter(loader))`, is trained on."""
        if self.described or self.iterator is None or self.iterator() is not None:
            return
        places = {address(part) for ref in self.parts if (part := ref()) is not None} - {0}
        if any(isinstance(i, torch.Tensor) and address(i) in places for i in event.inputs):
            self.describe()

    def describe(self) -> None:
        """Report once how the loader of the training data is set up."""
        if not self.described:
            self.described = True
            for name, value in self.facts.items():
                self.stream.fact(name, value)

    def trained_on(self, data: int, iterator: Any) -> None:
        """Remember the id of data until it is freed. A list cannot be referred to weakly: its sampler is
        used instead."""
        self.scene.trained_data.add(data)
        gone = partial(self.forget_data, data)
        try:
            self.holders[data] = weakref.ref(data_of(iterator), gone)
        except TypeError:
            self.holders[data] = weakref.ref(iterator._index_sampler, gone)

    def forget_data(self, data: int, _reference: Any) -> None:
        self.scene.trained_data.discard(data)
        self.holders.pop(data, None)


def loader_facts(iterator: Any, loader: Any) -> dict[str, Any]:
    """How a loader is set up, read from its iterator: the loader itself may be freed by now."""
    batches = iterator._index_sampler
    sampler = sampler_of(batches)
    kinds = {kind.__name__ for kind in type(sampler).__mro__}
    facts = {
        "batch_size": getattr(batches, "batch_size", None),
        "workers": iterator._num_workers,
        "drop_last": bool(getattr(batches, "drop_last", iterator._drop_last)),
        "sampler": type(sampler).__name__,
        "dataset": type(iterator._dataset).__name__,
        "pinned": bool(iterator._pin_memory) and torch.cuda.is_available(),
    }
    if kinds & {*SHUFFLED, "SequentialSampler"}:
        facts["shuffle"] = bool(kinds & {*SHUFFLED}) and bool(getattr(sampler, "shuffle", True))
    for name, counted in (("dataset_size", iterator._dataset), ("steps_per_epoch", loader or iterator)):
        with contextlib.suppress(TypeError, NotImplementedError):  # a stream has no length
            facts[name] = len(counted)
    return facts


def data_of(iterator: Any) -> Any:
    """The object that identifies a data set, or the part of it that is drawn from."""
    part = part_of(iterator)
    return iterator._dataset if part is None else part


def part_of(iterator: Any) -> Any:
    """The indices to which a sampler is restricted; None where it draws from all data."""
    sampler = iterator._index_sampler
    while sampler is not None and not hasattr(sampler, "indices"):
        sampler = getattr(sampler, "sampler", getattr(sampler, "batch_sampler", None))
    return getattr(sampler, "indices", None)


def sampler_of(batches: Any) -> Any:
    """The sampler of single samples, inside batch samplers of any depth (those of libraries wrap others)."""
    while getattr(batches, "batch_sampler", None) is not None:
        batches = batches.batch_sampler
    found = getattr(batches, "sampler", batches)
    return found.sampler if isinstance(found, BatchSampler) else found


def partner(pair: Any, inputs: tuple[Any, ...]) -> torch.Tensor | None:
    """What the loader returned together with a model's only input: the targets, where no loss function shows
    them."""
    if pair is None or len(inputs) != 1 or not isinstance(inputs[0], torch.Tensor):
        return None
    found: torch.Tensor | None = pair[1]() if address(inputs[0]) == pair[0] else None
    return found


def targets_place(batch: Any) -> tuple[int, weakref.ref[torch.Tensor]] | None:
    """The address of the first of two tensors with as many samples, and the second tensor."""
    if not isinstance(batch, list | tuple) or len(batch) != 2:
        return None
    one, two = batch
    fits = isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor) and one.dim() and two.dim()
    place = address(one) if fits and len(one) == len(two) else 0
    return (place, weakref.ref(two)) if place else None


def address(tensor: torch.Tensor) -> int:
    """The memory address of a tensor, which its views share; 0 for tensors without plain memory."""
    plain = tensor.layout is torch.strided and type(tensor) is torch.Tensor
    return tensor.untyped_storage().data_ptr() if plain else 0


def most_values(batch: Any) -> int:
    """How many values the largest tensor of a batch has; 0 where none is found."""
    if isinstance(batch, torch.Tensor):
        return int(batch.numel())
    parts = (
        batch.values() if isinstance(batch, Mapping) else batch if isinstance(batch, list | tuple) else ()
    )
    return max((p.numel() for p in parts if isinstance(p, torch.Tensor)), default=0)
