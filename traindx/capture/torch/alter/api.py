"""What most interventions in PyTorch need, for one import: `from traindx.capture.torch.alter.api import Site, applies`."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Change, Span
from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.random_state import Apart, generator
from traindx.capture.torch.alter.script import Draw, Script, script_of
from traindx.capture.torch.experiment.settings import (
    Optimizer,
    are_equal,
    cast_like,
    parameters_of,
    with_gradients,
)
from traindx.capture.torch.experiment.site import Site

__all__ = [
    "Any",
    "Apart",
    "Callable",
    "Change",
    "Draw",
    "Iterator",
    "Optimizer",
    "Pass",
    "Script",
    "Site",
    "Span",
    "applies",
    "are_equal",
    "cast_like",
    "functional",
    "generator",
    "nn",
    "parameters_of",
    "script_of",
    "torch",
    "with_gradients",
]
