"""Leaves of a tree of parameters whose arrays are others after each step."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from traindx.capture.arrays.windows import gain_facts
from traindx.vocabulary import Fact


class Leaf(NamedTuple):
    """A leaf of the parameters' tree. It represents the arrays that the leaf has in all steps."""

    name: str
    owner: str
    size: int
    shape: tuple[int, ...] = ()

    @property
    def inputs(self) -> int:
        """Of a matrix that is multiplied with, the values that one unit takes in; 0 of everything else.
        Equinox keeps units first, Flax, Haiku and plain trees last."""
        own = self.name.rpartition(".")[2]
        if len(self.shape) < 2 or "embed" in self.name.lower():
            return 0
        return math.prod(self.shape[1:]) if own == "weight" else math.prod(self.shape[:-1])


def architecture(leaves: Sequence[Leaf]) -> dict[str, Fact]:
    """Setup facts from the tree of parameters."""
    matrices = [leaf for leaf in leaves if leaf.inputs]
    widths = [leaf.size // leaf.inputs for leaf in matrices]
    norms = any("norm" in leaf.name.lower() for leaf in leaves)
    out: dict[str, Fact] = {"depth": len(matrices), "has_normalization": norms}
    return out | ({"narrowest_width": min(widths[:-1])} if len(widths) > 1 else {})


def gains(leaves: Sequence[Leaf], norms: Sequence[float]) -> dict[str, Fact]:
    """The smallest and the largest gain of initial weights, from their norms: root mean square times the
    root of what one unit takes in. What starts at zero does so on purpose."""
    found = [
        (norm * math.sqrt(leaf.inputs / leaf.size), leaf.name)
        for leaf, norm in zip(leaves, norms, strict=True)
        if leaf.inputs and 0 < norm < math.inf
    ]
    return gain_facts(found)
