"""What the values of interventions mean."""

from typing import Literal


def scaled_or_set(value: str) -> tuple[Literal["*", "="], float] | None:
    """("*", 0.1) of "*0.1", ("=", 0.01) of "0.01"; None of anything else."""
    try:
        return ("*", float(value[1:])) if value.startswith("*") else ("=", float(value))
    except ValueError:
        return None
