"""Random numbers from another seed."""

from __future__ import annotations

import importlib
from functools import partial

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.seeds import WITHIN, Seeds, there
from traindx.capture.experiment.values import whole
from traindx.capture.torch.experiment.site import Site

LIBRARIES = ("random", "numpy.random", "torch")


@intervention("seed", stage="start", values=("0",), order=1)
def seed(value: str) -> Apply:
    """Seeds the generators of Python, NumPy and PyTorch when torch is imported, and puts the seed in the place of
    the script's own: the first that it sets becomes this one, others keep their distance to it (1 and 3
    become 0 and 2). Generators of their own (`torch.Generator`, `numpy.random.default_rng`), the seeds of
    loaders' workers and the order of sets (PYTHONHASHSEED) stay what they are."""
    wanted = whole(value, "seed", low=0)

    def apply(site: Site) -> None:
        seeds = Seeds(site, wanted)
        import torch

        homes = [(importlib.import_module(name), name) for name in LIBRARIES if there(name)]
        with site.unseen():  # the script has not set these
            for home, name in homes:
                (home.manual_seed if name == "torch" else home.seed)(wanted % WITHIN)
        for home, name in homes:
            if name != "torch":
                site.wrap(home, "seed", partial(seeds.hook, name))
        for other in (torch, torch.random):
            site.wrap(other, "manual_seed", partial(seeds.hook, "torch"))
        for name in ("manual_seed", "manual_seed_all"):
            site.wrap(torch.cuda, name, partial(seeds.hook, "torch.cuda"))
        site.fact("seed", wanted)
        site.at_end(lambda: seeds.end([name for _, name in homes]))
        site.unused = "the script sets this seed itself"

    return apply
