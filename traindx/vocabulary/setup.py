"""What is known about how a run was set up. Everything is optional: a log says little."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

Fact = str | float | int | bool


class Setup(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts about a run, from the log, its neighbours (config files), capture or the user.

    Units: `lr` is the peak rate asked for, `planned_steps` and `warmup_steps` in the run's own
    axis, `dataset_size` in samples, `parameters` a count, `clip_norm` a global L2 norm.
    `facts` holds everything else under its own name; `origins` says where a fact came from.
    """

    optimizer: str | None = None
    lr: float | None = None
    schedule: str | None = None
    warmup_steps: float | None = None
    momentum: float | None = None
    weight_decay: float | None = None
    batch_size: float | None = None
    accumulation: float | None = None
    clip_norm: float | None = None
    precision: str | None = None
    loss: str | None = None
    classes: int | None = None
    dataset_size: float | None = None
    parameters: float | None = None
    model: str | None = None
    planned_steps: float | None = None
    planned_epochs: float | None = None
    workers: int | None = None
    device: str | None = None
    seed: int | None = None
    facts: Mapping[str, Fact] = {}
    origins: Mapping[str, str] = {}

    def with_facts(self, given: Mapping[str, Fact], origin: str) -> Setup:
        """A copy in which `given` replaces what was known; unknown names go to `facts`."""
        own = {k: v for k, v in given.items() if k in FACT_FIELDS}
        rest = {k: v for k, v in given.items() if k not in FACT_FIELDS}
        return msgspec.structs.replace(
            self,
            **own,
            facts={**self.facts, **rest},
            origins={**self.origins, **dict.fromkeys(given, origin)},
        )


FACT_FIELDS = frozenset(Setup.__struct_fields__) - {"facts", "origins"}
