"""Facts read from the graphs of the first losses and outputs of a training."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from traindx.capture.torch.measure.loss.graph import (
    activations,
    broadcast,
    last_activation,
    reduction,
    used_plainly,
)
from traindx.vocabulary.setup import Fact

READ = 3  # losses and outputs whose graphs are read


class FirstGraphs:
    """`facts` of them; one that is not the same for all of them is the empty string."""

    def __init__(self) -> None:
        self._losses = self._outputs = 0
        self.facts: dict[str, Fact] = {}

    @property
    def wants_losses(self) -> bool:
        return self._losses < READ

    def read_output(self, output: torch.Tensor) -> None:
        if self._outputs < READ:
            self._outputs += 1
            self._agree("outputs_last_activation", last_activation(output))

    def read_loss(self, loss: torch.Tensor, matrices: Sequence[torch.Tensor]) -> None:
        """`matrices`: all trained weights with two dimensions or more."""
        self._losses += 1
        self._agree("loss_reduction_seen", reduction(loss))
        if shapes := broadcast(loss):
            self.facts["loss_broadcasts"] = shapes
        if "graph_activations" not in self.facts:
            self.facts["graph_activations"] = activations(loss)
        if "quantized" not in self.facts and matrices:
            self.facts["quantized"] = False if used_plainly(loss, matrices) else ""

    def _agree(self, fact: str, word: str) -> None:
        self.facts[fact] = word if self.facts.get(fact, word) == word else ""
