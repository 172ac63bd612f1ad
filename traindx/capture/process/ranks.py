"""Which of several processes of a training this one is, and how many there are."""

import os
import sys


def rank_of_process() -> int:
    """The place of this process in a distributed run; 0 where it is none."""
    return distributed_number("get_rank", "process_id", "RANK", 0)


def processes_of_run() -> int:
    """How many processes train together; 1 where that is not known."""
    return distributed_number("get_world_size", "num_processes", "WORLD_SIZE", 1)


def distributed_number(function: str, name: str, variable: str, alone: int) -> int:
    """What `torch.distributed` or `jax.distributed` says where it has begun (asking JAX itself would start
    its devices), else what the launcher wrote into the environment."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(getattr(distributed, function)())
    state = getattr(sys.modules.get("jax._src.distributed"), "global_state", None)
    if getattr(state, "client", None) is not None and isinstance(number := getattr(state, name, None), int):
        return number
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else alone
