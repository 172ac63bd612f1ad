"""Names and setup facts that need no measuring."""

from __future__ import annotations

import platform
import sys

from traindx.vocabulary.signals import SIGNALS

LOADED = ("torch", "keras", "tensorflow", "jax", "flax", "optax", "numpy", "lightning", "transformers", "accelerate")
CANONICAL = frozenset(kind.name for kind in SIGNALS)


def signal_name(name: str, prefix: str) -> str:
    """The signal of a value that the loop names: as it is when it is canonical or says its split."""
    return name if name in CANONICAL or "/" in name else prefix + name


def versions() -> dict[str, str]:
    """Versions of what is loaded."""
    out = {"python": platform.python_version()}
    for name in ("traindx", *LOADED):
        found = getattr(sys.modules.get(name), "__version__", None)
        if found is not None:
            out[name] = str(found)
    return out
