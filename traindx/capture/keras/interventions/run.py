"""The run as a whole: its length, its seed."""

import sys
from functools import partial

from traindx.capture.experiment.seeds import WITHIN, Seeds
from traindx.capture.keras.interventions.api import Site, applies, keras

# Where scripts set seeds; those of a library that is not loaded are set through Keras.
HOMES = (
    ("random", "seed"), ("numpy.random", "seed"), ("keras.utils", "set_random_seed"),
    ("keras._tf_keras.keras.utils", "set_random_seed"), ("torch", "manual_seed"), ("torch.random", "manual_seed"),
    ("tensorflow.random", "set_seed"),
)  # fmt: skip


@applies("steps", unused="the script ended earlier")
def steps(site: Site, limit: int) -> None:
    """Ends the script after that many batches of training, as `--steps` does."""
    site.end_after(limit)


@applies("seed", unused="the script sets this seed itself")
def seed(site: Site, wanted: int) -> None:
    """`keras.utils.set_random_seed` when Keras is imported, and in place of the script's own seeds, as in PyTorch.
    Separate generators (`SeedGenerator(1)`, `numpy.random.default_rng`, `jax.random.key`) do not change."""
    seeds = Seeds(site, wanted)
    if site.hooks.alone:  # else these were set before the script could do it
        keras.utils.set_random_seed(wanted % WITHIN)
    for module, name in HOMES:
        home = sys.modules.get(module)
        if home is not None:
            site.wrap(home, name, partial(seeds.hook, module.partition(".")[0]))
    site.fact("seed", wanted)
    site.at_end(lambda: seeds.end(["random"]))
