"""Another activation in the hidden layers."""

from __future__ import annotations

import weakref
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.alter.activations import SATURATING, Call
from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.rehearsal import CannotRehearse
from traindx.capture.torch.alter.script import script_of
from traindx.capture.torch.alter.swaps import FUNCTIONS, AtCalls, exchange, instead, swapped
from traindx.capture.torch.experiment.site import Site


@applies("activation")
def activation(site: Site, into: str) -> None:

    script = script_of(site)
    wanted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    change = instead(FUNCTIONS[into])

    def rehearse(this: Pass) -> None:
        # Inference mode keeps no graph: the next pass will have one.
        if this.module in wanted or torch.is_inference_mode_enabled():
            return
        try:
            calls, _ = script.rehearsal(site, this)
        except CannotRehearse as why:
            site.refuse(f"no trial pass of the model is possible: {why}")
        wanted[this.module] = found = swapped(calls, into)
        if found:
            site.touched("calls", len(found))
            exchange(this.plain, calls, found, into)
        record_left(site, calls)

    def enter(this: Pass) -> AbstractContextManager[Any]:
        found = wanted.get(this.module)
        return AtCalls(found, change) if found else nullcontext()

    script.needs_model(site)
    script.before_pass(site, rehearse)
    script.around_pass(site, enter)
    site.unused = "the models that the script calls have no hidden activation to replace"


def record_left(site: Site, calls: list[Call]) -> None:
    """Record how many saturating activations stay because they are not hidden ones."""
    left = Counter(call.role for call in calls if call.kind in SATURATING and call.role != "hidden")
    for role, number in left.items():
        site.fact(f"activation_left_{role}", number)
