"""Labels that belong to other samples."""

import zlib
from typing import Any

import torch
from torch.utils.data import Subset, TensorDataset

from traindx.capture.torch.alter.calls import LossCall
from traindx.capture.torch.alter.loaders import force_attributes, is_stream
from traindx.capture.torch.alter.random_state import generator, preserve_random_state
from traindx.capture.torch.alter.script import Script
from traindx.capture.torch.experiment.site import Site

KEYS = ("label", "labels", "target", "targets", "y")
KEPT = 64  # values of a label up to which it is kept in memory


def known_labels(dataset: Any) -> torch.Tensor | None:
    """The labels of a data set that holds them as a tensor, in its order."""
    if isinstance(dataset, PermutedLabels):  # in another order, which nobody who counts them minds
        return known_labels(dataset.dataset)
    if isinstance(dataset, Subset):
        inner = known_labels(dataset.dataset)
        return None if inner is None else inner[torch.as_tensor(list(dataset.indices))]
    if isinstance(dataset, TensorDataset) and len(dataset.tensors) > 1:
        return dataset.tensors[-1].detach().cpu()
    return None


def place_of_label(item: Any) -> Any:
    """Where the label is in a sample: the last of several parts, or the key of a label; None if unknown."""
    if isinstance(item, tuple | list) and len(item) > 1:
        return len(item) - 1
    if isinstance(item, dict):
        return next((key for key in KEYS if key in item), None)
    return None


class PermutedLabels:
    """A data set whose sample i has the label of sample `order[i]`. The label of another sample is looked
    up without moving any random numbers."""

    def __init__(self, dataset: Any, order: list[int], place: Any) -> None:
        self.dataset, self.order, self.place = dataset, order, place
        self.labels: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.order)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "dataset" not in vars(self):
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def __getitem__(self, index: int) -> Any:
        item, label = self.dataset[index], self.label(self.order[int(index)])
        if isinstance(item, dict):
            return {**item, self.place: label}
        parts = [*item[: self.place], label]
        return type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)

    def label(self, index: int) -> Any:
        if index in self.labels:
            return self.labels[index]
        with preserve_random_state():
            found = self.dataset[index][self.place]
        if not isinstance(found, torch.Tensor) or found.numel() <= KEPT:
            self.labels[index] = found
        return found


class Permute:
    """In the data set of the loader that is trained from; where there is none, in the targets of the loss."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.in_data = False
        self.random = generator("labels")
        self.seed = self.random.initial_seed()
        script.on_loader(site, self.wrap)
        script.on_loss(site, 0, self.within_batch)
        script.needs_targets(site, lambda: self.in_data)

    def wrap(self, loader: Any) -> None:
        if is_stream(loader) or not len(loader.dataset):
            return
        with preserve_random_state():
            place = place_of_label(loader.dataset[0])
        if place is None:
            return
        order = torch.randperm(len(loader.dataset), generator=self.random).tolist()
        force_attributes(loader, dataset=PermutedLabels(loader.dataset, order, place))
        self.in_data = True
        self.site.touched("samples", len(order))
        self.site.fact("labels_permuted", "over the data set")

    def within_batch(self, call: LossCall) -> None:
        """Equal targets are permuted equally: that of a full batch is one and the same in every step."""
        target = call.target
        if self.in_data or not call.training or target.dim() == 0 or len(target) < 2:
            return
        values = target.detach().reshape(-1)[:4096].cpu()
        mark = zlib.crc32(
            values.numpy().tobytes() if values.dtype != torch.bfloat16 else values.float().numpy()
        )
        order = torch.randperm(len(target), generator=self.random.manual_seed((self.seed + mark) % 2**63))
        call.target = target[order.to(target.device)]
        self.site.touched("batches")
        self.site.fact("labels_permuted", "within batches")
