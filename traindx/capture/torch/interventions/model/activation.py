"""Another activation in the hidden layers."""

from __future__ import annotations

import weakref
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site

if TYPE_CHECKING:
    from traindx.capture.torch.alter.activations import Call
    from traindx.capture.torch.alter.calls import Pass


@intervention("activation", stage="model", values=("relu", "gelu", "leaky_relu"), order=2)
def activation(value: str) -> Apply:
    """Another activation in the hidden layers: sigmoid, tanh, their hard forms and softsign become the one given,
    ReLU becomes GELU or leaky ReLU. Modules, functions and methods alike (`nn.Tanh`, `torch.relu`, `x.sigmoid()`).

    Only hidden ones. From a trial pass of each model, made beforehand without leaving a trace, it is seen where the
    result of each call goes. Left as they are: calls after which no layer with weights follows (the output, and
    what the loss does); those whose result is multiplied with something else that was computed (gates of recurrent
    cells, attention, GLU); those that come back to themselves through the same weights (a recurrent net's state);
    calls outside of the model's pass; what runs inside PyTorch's own recurrent layers. How many were left is told
    by the facts `activation_left_...`. Activation modules are exchanged for others. Weights stay as they are:
    `init=he` goes with it.

    Refused for compiled models, and those that cannot be called twice on the same inputs."""
    into = one_of(value, "activation", ("relu", "gelu", "leaky_relu"))

    def apply(site: Site) -> None:
        from torch import is_inference_mode_enabled as is_inference  # no graph: the next pass will have one

        from traindx.capture.torch.alter.rehearsal import CannotRehearse
        from traindx.capture.torch.alter.script import script_of
        from traindx.capture.torch.alter.swaps import FUNCTIONS, AtCalls, exchange, instead, swapped

        script = script_of(site)
        wanted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        change = instead(FUNCTIONS[into])

        def look(this: Pass) -> None:
            if this.module in wanted or is_inference():
                return
            try:
                calls, _ = script.rehearsal(site, this)
            except CannotRehearse as why:
                site.refuse(f"the model cannot be looked at: {why}")
            wanted[this.module] = found = swapped(calls, into)
            if found:
                site.touched("calls", len(found))
                exchange(this.plain, calls, found, into)
            tell(site, calls)

        def enter(this: Pass) -> AbstractContextManager[Any]:
            found = wanted.get(this.module)
            return AtCalls(found, change) if found else nullcontext()

        script.needs_model(site)
        script.before_pass(site, look)
        script.around_pass(site, enter)
        site.unused = "no hidden activation inside of what the script calls was one to replace"

    return apply


def tell(site: Site, calls: list[Call]) -> None:
    """How many saturating activations are not hidden ones."""
    from traindx.capture.torch.alter.activations import SATURATING

    left = Counter(call.role for call in calls if call.kind in SATURATING and call.role != "hidden")
    for role, number in left.items():
        site.fact(f"activation_left_{role}", number)
