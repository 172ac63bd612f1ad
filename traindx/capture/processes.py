"""Which of several processes of a training this one is, and how many there are."""

from __future__ import annotations

import os
import sys


def rank_of_process() -> int:
    """The place of this process in a distributed run; 0 where it is none."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    told = os.environ.get("RANK", "0")
    return int(told) if told.isdigit() else 0


def processes_of_run() -> int:
    """How many processes train together; 1 where that is not known."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_world_size())
    told = os.environ.get("WORLD_SIZE", "1")
    return int(told) if told.isdigit() else 1
