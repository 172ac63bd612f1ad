"""Weights that are used quantized, used as they are kept instead."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch import nn

from traindx.capture.arrays.levels import JUDGED, quantized_levels
from traindx.capture.process.patches import WRAPPER
from traindx.capture.torch.measure.quantized.levels import rows_of
from traindx.capture.torch.measure.quantized.weights import FUNCTIONS, parameter_behind


class Kept:
    """Which parameters are used quantized: known once it was seen."""

    def __init__(self) -> None:
        self._quantized: dict[int, nn.Parameter] = {}
        self._looks: dict[int, int] = {}

    @property
    def parameters(self) -> list[nn.Parameter]:
        """Those that were seen quantized so far."""
        return list(self._quantized.values())

    def parameter_behind(self, weight: Any) -> torch.Tensor | None:
        """The parameter behind a weight that is quantized, else None."""
        if not isinstance(weight, torch.Tensor) or isinstance(weight, nn.Parameter) or weight.dim() < 2:
            return None
        with torch.no_grad():
            parameter = parameter_behind(weight, caller())
            if parameter is None:
                return None
            looks = self._looks[id(parameter)] = self._looks.get(id(parameter), 0) + 1
            if id(parameter) not in self._quantized and not looks & (looks - 1):
                used, kept = (rows_of(t, JUDGED).float().cpu().numpy() for t in (weight, parameter))
                if quantized_levels(used, kept):
                    self._quantized[id(parameter)] = parameter  # kept: its number is not given again
        return parameter if id(parameter) in self._quantized else None


def caller() -> FrameType:
    """Who called the function that is wrapped."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame):
        frame = frame.f_back
    return frame


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename == WRAPPER or str(frame.f_globals.get("__name__", "")).startswith(
        "traindx."
    )


def call_unquantized(original: Callable[..., Any], own: torch.Tensor, args: Any, named: Any) -> Any:
    """The function with the parameter itself as its weight."""
    if len(args) > 1:
        return original(args[0], own, *args[2:], **named)
    return original(*args, **{**named, "weight": own})


__all__ = ["FUNCTIONS", "Kept", "call_unquantized"]
