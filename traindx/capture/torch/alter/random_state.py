"""Chance of our own: what an intervention draws never moves the script's random numbers."""

import random
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


def generator(purpose: str) -> torch.Generator:
    """A generator on the host that follows from the script's seed (which is read, not drawn from) and
    a purpose; the same in every rank of a distributed run."""
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    seed = 0 if distributed else torch.initial_seed()
    made = torch.Generator()
    made.manual_seed((seed ^ zlib.crc32(purpose.encode()) << 20) % 2**63)
    return made


@contextmanager
def preserve_random_state() -> Iterator[None]:
    """Whatever is drawn inside from the generators of torch, numpy and Python is put back."""
    numpy: Any = sys.modules.get("numpy")
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    python = random.getstate()
    array = numpy.random.get_state() if numpy is not None else None
    with torch.random.fork_rng(devices):
        try:
            yield
        finally:
            random.setstate(python)
            if numpy is not None:
                numpy.random.set_state(array)


class Apart:
    """A stretch of random numbers of our own for what can only draw from the script's generators: inside,
    those generators go on where they were left the last time, and afterwards they are the script's again."""

    def __init__(self, purpose: str) -> None:
        self.seed = generator(purpose).initial_seed()
        self.states: dict[str, Any] = {}

    @contextmanager
    def here(self) -> Iterator[None]:
        with preserve_random_state():
            if self.states:
                torch.set_rng_state(self.states["cpu"])
                if "cuda" in self.states:
                    torch.cuda.set_rng_state_all(self.states["cuda"])
            else:
                torch.random.default_generator.manual_seed(self.seed)
                if torch.cuda.is_initialized():
                    torch.cuda.manual_seed_all(self.seed)
            yield
            self.states["cpu"] = torch.get_rng_state()
            if torch.cuda.is_initialized():
                self.states["cuda"] = torch.cuda.get_rng_state_all()
