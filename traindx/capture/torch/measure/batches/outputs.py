"""What outputs show without targets: whether they depend on the input, and whether all samples get the same
class. Works on any device without waiting for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

READ = 1 << 16  # values of the outputs that are read
FEWEST = 16  # rows that are read even where that exceeds READ
MOST = 1 << 20  # values beyond which nothing is read


def rows_of(output: torch.Tensor) -> torch.Tensor | None:
    """`[n, width]`: some rows, evenly spaced; classes are the second dimension of images, else the
    last one. None where there is nothing to read."""
    output = output.detach()
    if not output.is_floating_point() or not output.dim() or output.layout is not torch.strided:
        return None
    if output.dim() > 3:
        output = output.movedim(1, -1)
    rows = output.reshape(-1, output.shape[-1]) if output.dim() > 1 else output.reshape(-1, 1)
    count = max(FEWEST, READ // max(rows.shape[1], 1))
    rows = rows[:: max(1, len(rows) // count)][:count]
    return rows.float() if len(rows) > 1 and 0 < rows.numel() <= MOST else None


def sample_spread(rows: torch.Tensor) -> Any:
    """Root mean square distance of outputs from their mean over samples, over their root mean square: 0
    when all samples get the same output, 1 when the mean is zero."""
    if rows.is_cpu:
        values = rows.numpy()
        centred, flat = (values - values.mean(0)).reshape(-1), values.reshape(-1)
        return float(np.dot(centred, centred) / max(float(np.dot(flat, flat)), 1e-30)) ** 0.5
    centred = rows - rows.mean(0)
    return torch.linalg.vector_norm(centred) / torch.linalg.vector_norm(rows).clamp(min=1e-30)


def class_counts(rows: torch.Tensor, probabilities: bool = False) -> torch.Tensor:
    """`counts[classes]` of the predictions: the largest output of each row; of one column, whether it is
    above 0 (or 0.5, of `probabilities`)."""
    if rows.is_cpu and rows.shape[1] > 1:
        return torch.from_numpy(
            np.bincount(rows.numpy().argmax(1), minlength=rows.shape[1]).astype(np.float32)
        )
    if rows.shape[1] == 1:
        positive = (rows > (0.5 if probabilities else 0.0)).float().sum()
        return torch.stack([len(rows) - positive, positive])
    counts = rows.new_zeros(rows.shape[1])
    return counts.scatter_add_(0, rows.argmax(1), rows.new_ones(len(rows)))
