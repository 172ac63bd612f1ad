"""How far quantization changes a weight, measured on its device. Levels are counted on the host
(`arrays/levels`). Of quantized inputs of layers: the share of their values that the range has clipped.

Activations are rounded and clipped to a range that a scale and a zero point define. Values beyond it end up
on the first or the last level, whoever wrote the quantizer. So the share of values on these two is measured,
for inputs that were computed (the data themselves are not) and are on an even grid."""

from typing import Any

import torch

from traindx.capture.arrays.levels import FEWEST_STEPS, STRAY, TOLERANCE, grid_length, steps
from traindx.capture.torch.measure.tensors.views import local_part

MOVED_READ = 1 << 12  # values of a weight that are compared with those of a step before


def rows_of(tensor: torch.Tensor, size: int) -> torch.Tensor:
    """`[rows, values]` of a weight: one row for each output, evenly spaced ones where it has more than
    `size` values."""
    tensor = local_part(tensor)
    stride = max(1, -(-tensor.numel() // size))
    return tensor[::stride].reshape(len(tensor[::stride]), -1)


def level_statistics(used: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """FIELDS, but for those that take two passes, of a quantized weight and its parameter, both `[rows,
    values]`: the share of zeros, of the most frequent of zero and each row's lowest and highest level, |used
    - own| / |own|, (used * own) / (own * own), and the share beyond the grid (see `clipped_share`)."""
    used, own = used.float(), own.float()
    zero = (used == 0).float().mean()
    shares = [zero]
    for end in (used.amax(1, keepdim=True), used.amin(1, keepdim=True)):
        there = ((used - end).abs() <= TOLERANCE * end.abs()) & (end != 0)
        shares.append(there.float().mean())
    size = own.square().sum().clamp_min(torch.finfo(own.dtype).tiny)
    error = ((used - own).square().sum() / size).sqrt()
    kept = (used * own).sum() / size
    return torch.stack([zero, torch.stack(shares).amax(), error, kept, clipped_share(used, own)])


def level_spacing(rows: torch.Tensor) -> torch.Tensor:
    """`[rows, 1]`: the smallest distance between two levels of each row; infinite in rows of one level."""
    gaps = rows.sort(1).values.diff(dim=1)
    gaps = torch.where(gaps > TOLERANCE * rows.abs().amax(1, keepdim=True), gaps, torch.inf)
    return gaps.amin(1, keepdim=True) if gaps.shape[1] else torch.full_like(rows[:, :1], torch.inf)


def clipped_share(used: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Share of the weights more than half a level beyond the last one: rounding to the nearest level alone
    would not have put them there. NaN where the rows have few levels, or levels of another size than the
    weights."""
    few = max(1, -(-used.numel() // MOVED_READ))
    used, own = used[::few], own[::few]
    step = level_spacing(used)
    high, low = used.amax(1, keepdim=True), used.amin(1, keepdim=True)
    fine = (high - low) >= (FEWEST_STEPS - STRAY) * step
    beyond = (own > high + (0.5 + STRAY) * step) | (own < low - (0.5 + STRAY) * step)
    share = (beyond & fine).float().sum() / (fine.expand_as(own).float().sum())  # 0 / 0 is NaN
    return share


def moved_share(now: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Share of the values `[rows, values]` on another level than before, regardless of a change of scale."""
    now, before = now.float(), before.float()
    ratio = torch.where(before != 0, now / before, torch.nan).nanmedian(1, keepdim=True).values
    # Without a value that is not zero, or where most signs have changed, no scale can be estimated.
    ratio = torch.where(ratio > 0, ratio, torch.ones_like(ratio))
    step = level_spacing(before)
    size = torch.maximum(before.abs().amax(1, keepdim=True), now.abs().amax(1, keepdim=True))
    step = torch.where(step.isinf(), size, step)
    return ((now / ratio - before).abs() > 0.5 * step).float().mean()


READ = 1 << 12  # values of an input
LEAST, MOST = 5, 512  # levels: with fewer, many values are meant to lie on the ends
FEWEST = (
    256  # values from which levels can be recognized: on a few hundred levels, some of so many are equal
)
DISTINCT = 0.9  # share of distinct values among them, above which they are on no levels


class QuantizedInputs:
    """The share of each input's values at an end of its range, by layer."""

    def __init__(self) -> None:
        self._readings: dict[str, torch.Tensor] = {}
        self._judged: dict[str, int] = {}
        self._found: dict[str, bool] = {}

    @property
    def any_quantized(self) -> bool:
        """Whether any input is quantized."""
        return any(self._found.values())

    def read(self, name: str, given: Any) -> None:
        """An input of the layer `name`, in training."""
        if not isinstance(given, torch.Tensor) or not given.requires_grad or name in self._readings:
            return
        flat = local_part(given).reshape(-1)
        if len(flat) < FEWEST or not flat.is_floating_point():
            return
        judged = self._judged[name] = self._judged.get(name, 0) + 1
        if judged & (judged - 1) and not self._found.get(name):
            return
        values = flat[:: max(1, len(flat) // READ)].float()
        if not judged & (judged - 1):
            self._found[name] = is_on_grid(values)
        if self._found[name]:
            self._readings[name] = share_at_ends(values)

    def take(self) -> dict[str, torch.Tensor]:
        """The readings since the last call, by layer."""
        found, self._readings = self._readings, {}
        return found


def is_on_grid(values: torch.Tensor) -> bool:
    """Whether values are on an even grid of a few hundred levels at most."""
    few = values[:: max(1, len(values) // FEWEST)]
    few = few[few != 0]
    if len(few) < LEAST or len(few.unique()) > DISTINCT * len(few):
        return False
    places = steps(values.cpu().numpy())
    return LEAST <= len(places) <= MOST and grid_length(places) > 0


def share_at_ends(values: torch.Tensor) -> torch.Tensor:
    """The share on the highest or the lowest level. Zeros do not count as clipped: rectifiers make them."""
    share = torch.zeros((), device=values.device)
    for end in (values.amax(), values.amin()):
        there = (values - end).abs() <= TOLERANCE * values.abs().amax()
        share = share + torch.where(end != 0, there.float().mean(), 0.0)
    return share
