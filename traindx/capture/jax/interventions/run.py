"""The run as a whole: its length, its seed."""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from traindx.capture.experiment.applies import applies
from traindx.capture.experiment.seeds import WITHIN, Seeds, is_installed
from traindx.capture.jax.experiment import Site

KEYS = ("key", "PRNGKey")
LIBRARIES = ("random", "numpy.random")


@applies("steps", unused="the script ended earlier")
def steps(site: Site, limit: int) -> None:
    """Ends the script after that many steps, as `--steps` does."""
    site.end_after(limit)


@applies("seed", unused="the script sets this seed itself")
def seed(site: Site, wanted: int) -> None:
    """The numbers that `jax.random.key` and `PRNGKey` are given (also by `nnx.Rngs`), and the seeds of Python and NumPy,
    which are set when JAX is imported. The first becomes this one; others keep their distance from it, as in PyTorch.
    `numpy.random.default_rng` does not change."""
    seeds = Seeds(site, wanted)
    homes = [(importlib.import_module(name), name) for name in LIBRARIES if is_installed(name)]
    for home, _ in homes if site.hooks.alone else ():
        home.seed(wanted % WITHIN)
    for home, name in homes:
        site.wrap(home, "seed", partial(seeds.hook, name))
    for name in KEYS:
        site.wrap(jax.random, name, partial(key_of, seeds))
    site.fact("seed", wanted)
    site.at_end(lambda: seeds.end([name for _, name in homes]))


def key_of(seeds: Seeds, original: Callable[..., Any], seed: Any, *args: Any, **named: Any) -> Any:
    """A key from another number; what is an array (a key made in a compiled step) stays."""
    if not isinstance(seed, int | np.integer):
        return original(seed, *args, **named)
    return seeds.hook("jax", lambda ours: original(ours, *args, **named), int(seed))
