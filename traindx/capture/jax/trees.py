"""Trees of JAX: their leaves with names, as Flax, Equinox and plain trees have them, and the batch of a step among
what a loss function was given or has from around it."""

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


def float_arrays(tree: Any) -> list[Any]:
    """The leaves that may be trained: modules of Equinox also hold functions and numbers."""
    arrays = (leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype"))
    return [leaf for leaf in arrays if jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact)]


def is_differentiated(value: Any) -> bool:
    """Whether a placeholder is one that a derivative is taken through: vmap and jit put their own around it."""
    while isinstance(value, jax.core.Tracer):
        if type(value).__name__ in ("JVPTracer", "LinearizeTracer"):  # of older and newer versions of JAX
            return True
        value = getattr(value, "val", None)
    return False


def name_of_path(path: Any) -> str:
    """A path as a name: keys, places and attributes with dots between them, without the boxes that Flax puts
    around arrays and trees."""
    names = (
        next((getattr(part, of) for of in ("key", "idx", "name") if hasattr(part, of)), part)
        for part in path
    )
    name = ".".join(map(str, names))  # `keystr` does so from JAX 0.6 on
    return name.removesuffix(".value").removeprefix("params.")


def batch_in(given: Any) -> list[Any]:
    """The inputs of a batch among arrays in nested tuples, lists and dicts: the first that is no column; and
    with them its targets, the first other with as many rows."""
    arrays = [
        a for a in jax.tree.leaves(given) if getattr(a, "ndim", 0) and getattr(a.dtype, "kind", "") in "fiub"
    ]
    first = next((a for a in arrays if a.ndim > 1), None)
    if first is None:
        return []
    return [first, *[a for a in arrays if a is not first and len(a) == len(first)][:1]]


def closure_arrays(function: Any, depth: int = 4) -> list[Any]:
    """The arrays that a loss function has from around it, and those that functions within it have (Flax and
    Equinox wrap the user's)."""
    found: list[Any] = []
    cells = [
        cell.cell_contents for cell in getattr(function, "__closure__", None) or () if cell_filled(cell)
    ]
    inner = [getattr(function, name, None) for name in ("f", "_fun", "func", "__wrapped__")]
    for held in (*cells, *inner):
        if (hasattr(held, "ndim") and hasattr(held, "dtype")) or isinstance(held, tuple | list | dict):
            found.append(held)
        elif held is not None and depth and (callable(held) or hasattr(held, "_fun")):
            found += closure_arrays(held, depth - 1)
    return found


def cell_filled(cell: Any) -> bool:
    """Whether a variable of the function around has a value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
