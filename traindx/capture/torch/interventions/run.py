"""Runs that end early, and random numbers from another seed."""

import importlib
from functools import partial

from traindx.capture.experiment.seeds import WITHIN, Seeds, is_installed
from traindx.capture.torch.alter.api import Site, applies, torch

LIBRARIES = ("random", "numpy.random", "torch")


@applies("seed", unused="the script sets this seed itself")
def seed(site: Site, wanted: int) -> None:
    seeds = Seeds(site, wanted)

    homes = [(importlib.import_module(name), name) for name in LIBRARIES if is_installed(name)]
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


@applies("steps", unused="the script ended earlier")
def steps(site: Site, limit: int) -> None:
    site.end_after(limit)
