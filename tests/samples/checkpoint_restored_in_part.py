"""Samples of checkpoint-restored-in-part."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def loaded(holds: str, restores: str) -> Run:
    """A checkpoint that `holds` and a training that `restores` the parts named."""
    parts = ("model", "optimizer")
    facts = {f"checkpoint_holds_{part}": part in holds for part in parts}
    return with_facts(
        "healthy", **facts, **{f"checkpoint_restores_{part}": part in restores for part in parts}
    )


def fires() -> dict[str, Run]:
    return {
        "the optimizer begins anew": loaded("model optimizer", "model"),
        "the weights begin anew": loaded("model optimizer", "optimizer"),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "all of it": loaded("model optimizer", "model optimizer"),
        "weights to begin from": loaded("model", "model"),
    }
