"""Leaves of a tree and their names, as Flax, Equinox and plain trees have them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from traindx.capture.compiled.leaves import Leaf


def leaves_of(tree: Any) -> list[Leaf]:
    """The leaves in their order. A leaf that is the whole tree, or is directly under its root, owns
    itself."""
    found = []
    for path, array in jax.tree_util.tree_leaves_with_path(tree):
        name = name_of_path(path) or "parameters"
        owner = name.rpartition(".")[0]
        found.append(Leaf(name, owner or name, int(np.size(array)), tuple(np.shape(array))))
    return found


def name_of_path(path: Any) -> str:
    """A path as a name: keys, places and attributes with dots between them, without the boxes that Flax puts
    around arrays and trees."""
    names = (
        next((getattr(part, of) for of in ("key", "idx", "name") if hasattr(part, of)), part)
        for part in path
    )
    name = ".".join(map(str, names))  # `keystr` does so from JAX 0.6 on
    return name.removesuffix(".value").removeprefix("params.")
