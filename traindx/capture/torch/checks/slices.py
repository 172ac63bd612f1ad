"""How well a model does on subgroups of its held-out data: by a column of the inputs, or by the target.

Read from losses that are computed without gradients, in the last evaluation of a run: the accuracy where
targets are classes, else the mean squared error."""

from typing import Any, NamedTuple

import torch

from traindx.capture.session import Stream
from traindx.capture.session.events import BatchSeen, LossComputed, ModelFed

TARGET = "target"
MOST_GROUPS = 12  # values of a column that are a group each; of more, quarters of the first batch
QUARTERS = (0.25, 0.5, 0.75)


class Tally(NamedTuple):
    """Samples of a group, and the sum of what is measured of each."""

    n: int
    total: float


class Slices:
    """The groups of each requested column: a key of the batch, the number of a column, or `target`."""

    def __init__(self, stream: Stream, columns: list[str]) -> None:
        self.stream, self.columns = stream, columns
        self.inputs: Any = None
        self.edges: dict[str, list[float]] = {}  # of columns with too many values to be a group each
        self.found: dict[tuple[str, str], Tally] = {}
        self.measure, self.over = "", False
        stream.attentive = True
        stream.hear(BatchSeen, self.batch_seen)
        stream.hear(ModelFed, self.training_goes_on)
        stream.hear(LossComputed, self.loss_computed)

    def batch_seen(self, event: BatchSeen) -> None:
        """Held-out inputs."""
        if event.training is False and event.inputs is not None:
            self.inputs = event.inputs

    def training_goes_on(self, _event: ModelFed) -> None:
        """The evaluation is over; the next one replaces its result."""
        self.over = True

    def loss_computed(self, event: LossComputed) -> None:
        """Held-out outputs are compared with their targets."""
        target = event.args[0] if event.args else event.named.get("target")
        if not (isinstance(event.given, torch.Tensor) and isinstance(target, torch.Tensor) and target.dim()):
            return
        if event.given.requires_grad:
            return
        if self.over:
            self.found, self.over = {}, False
        values = self.measured(event.given.detach(), target.detach())
        for column in self.columns:
            keys = self.column(column, target)
            if keys is not None and values is not None and len(keys) == len(values):
                self.add(column, keys, values)

    def measured(self, given: torch.Tensor, target: torch.Tensor) -> torch.Tensor | None:
        """Accuracy or error of each sample; None where the shapes fit neither."""
        if target.dtype in (torch.int64, torch.int32) and given.dim() == target.dim() + 1 == 2:
            self.measure = "accuracy"
            return (given.argmax(1) == target).double().cpu()
        if target.is_floating_point() and given.shape == target.shape:
            self.measure = "error"
            return (given - target).double().square().reshape(len(target), -1).mean(1).cpu()
        return None

    def column(self, column: str, target: torch.Tensor) -> torch.Tensor | None:
        """A column of the current batch: one number for each sample."""
        if column == TARGET:
            return target.double().cpu() if target.dim() == 1 else None
        batch = self.inputs
        if isinstance(batch, dict):
            batch = batch.get(column)
        elif isinstance(batch, list | tuple):
            batch = batch[0] if batch else None
        table = isinstance(batch, torch.Tensor) and batch.dim() == 2
        if table and column.isdigit() and int(column) < batch.shape[1]:
            batch = batch[:, int(column)]
        one_column = isinstance(batch, torch.Tensor) and batch.dim() == 1
        return batch.detach().double().cpu() if one_column else None

    def add(self, column: str, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Count a batch."""
        if column not in self.edges:
            many = len(torch.unique(keys)) > MOST_GROUPS
            self.edges[column] = (
                torch.quantile(keys, torch.tensor(QUARTERS, dtype=keys.dtype)).tolist() if many else []
            )
        edges = self.edges[column]
        groups = torch.bucketize(keys, torch.tensor(edges, dtype=keys.dtype)) if edges else keys
        for group in torch.unique(groups).tolist():
            mine = values[groups == group]
            name = describe_bin(edges, int(group)) if edges else f"{group:g}"
            before = self.found.get((column, name), Tally(0, 0.0))
            self.found[column, name] = Tally(before.n + len(mine), before.total + float(mine.sum()))

    def report(self) -> None:
        """The groups of the last evaluation, as facts."""
        for (column, group), tally in self.found.items():
            self.stream.fact(f"slice/{column}/{group}", tally.total / tally.n)
            self.stream.fact(f"slice_samples/{column}/{group}", tally.n)
        self.stream.fact("slice_measure", self.measure or None)


def describe_bin(edges: list[float], place: int) -> str:
    """ "up to 0.5", "0.5 to 2", "above 2"."""
    if not place:
        return f"up to {edges[0]:.3g}"
    return (
        f"above {edges[-1]:.3g}" if place == len(edges) else f"{edges[place - 1]:.3g} to {edges[place]:.3g}"
    )
