"""Running mean and spread of batches."""

from __future__ import annotations

import torch


class Moments:
    """Mean and variance of each column of all rows given so far, in double precision (Chan et al. 1983)."""

    def __init__(self) -> None:
        self.rows = 0
        self.mean = self.squares = torch.zeros(0, dtype=torch.float64)

    def add(self, values: torch.Tensor) -> None:
        """`values[n, columns]`; rows with values that are not finite do not count."""
        values = values.detach().double()
        values = values[torch.isfinite(values).all(1)]
        if not len(values):
            return
        mean = values.mean(0)
        squares = (values - mean).square().sum(0)
        if not self.rows or mean.shape != self.mean.shape:
            self.rows, self.mean, self.squares = len(values), mean, squares
            return
        both = self.rows + len(values)
        apart = mean - self.mean
        self.squares = self.squares + squares + apart.square() * (self.rows * len(values) / both)
        self.mean = self.mean + apart * (len(values) / both)
        self.rows = both

    @property
    def std(self) -> torch.Tensor:
        """1 for columns that do not vary."""
        std = (self.squares / max(self.rows, 1)).sqrt()
        return torch.where(std > 1e-7 * self.mean.abs().clamp_min(1e-30), std, torch.ones_like(std))
