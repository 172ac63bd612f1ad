"""What is known about how a run was set up. Everything is optional: a log says little."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

Fact = str | float | int | bool
YES, NO = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


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

    def known(self, name: str) -> object:
        """A fact by name, whether it is a field or a free fact; None where it is missing."""
        return getattr(self, name) if name in FACT_FIELDS else self.facts.get(name)

    def number(self, name: str) -> float | None:
        """A fact as a finite number; None where it is missing or is none (facts come from logs and
        users, and may be of any type)."""
        value = self.known(name)
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return None
        try:
            result = float(value)
        except (ValueError, OverflowError):
            return None
        return result if math.isfinite(result) else None

    def word(self, name: str) -> str:
        """A fact as a lower-case word; "" where it is missing."""
        value = self.known(name)
        return "" if value is None else str(value).strip().lower()

    def flag(self, name: str) -> bool | None:
        """A fact as yes or no; None where it is missing or neither."""
        word = self.word(name)
        return True if word in YES else False if word in NO else None


FACT_FIELDS = frozenset(Setup.__struct_fields__) - {"facts", "origins"}
