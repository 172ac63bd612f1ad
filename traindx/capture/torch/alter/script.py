"""The places of a running script at which interventions on model, data and loss act."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from traindx.capture.torch.alter.activations import Call
from traindx.capture.torch.alter.calls import After, Around, Before, LossCall, LossCalls, Pass, Passes
from traindx.capture.torch.alter.loaders import Loaders
from traindx.capture.torch.alter.rehearsal import CannotRehearse, rehearse

if TYPE_CHECKING:
    from traindx.capture.torch.experiment.hooks import Hooks
    from traindx.capture.torch.experiment.site import Site

Draw = Callable[[], Any]
NO_MODEL = "the script calls no module with trainable parameters, it computes with plain tensors"
SCRIPTS: weakref.WeakKeyDictionary[Hooks, Script] = weakref.WeakKeyDictionary()


class Script:
    """Passes of models, calls of loss functions, loaders and optimizers of the script in this process;
    one for all interventions of a run, made by the first that asks (`script_of`)."""

    def __init__(self, site: Site) -> None:
        patches = site.hooks.patches
        self.passes = Passes()
        patches.replace(torch.nn.Module, "__call__", self.passes.wrap)
        self.losses = LossCalls(patches, lambda: self.passes.training or not self.passes.counts)
        self.loaders = Loaders(patches, self.passes.trains_now)
        self.optimizers = self.passes.optimizers
        self.loaded: weakref.WeakSet[torch.nn.Module] = (
            weakref.WeakSet()
        )  # models that got weights from elsewhere
        self.rehearsed: weakref.WeakKeyDictionary[torch.nn.Module, tuple[list[Call], int]]
        self.rehearsed = weakref.WeakKeyDictionary()
        self.rehearsing = False
        patches.around(torch.optim.Optimizer, "__init__", self.made)
        patches.around(torch.nn.Module, "load_state_dict", self.loads)
        patches.around(torch.nn.Module, "train", self.switches)

    def made(
        self, original: Callable[..., None], optimizer: torch.optim.Optimizer, *args: Any, **named: Any
    ) -> None:
        original(optimizer, *args, **named)
        self.optimizers.add(optimizer)

    def loads(self, original: Callable[..., Any], module: torch.nn.Module, *args: Any, **named: Any) -> Any:
        self.loaded.add(module)
        return original(module, *args, **named)

    def switches(self, original: Callable[..., Any], module: torch.nn.Module, mode: bool = True) -> Any:
        self.passes.switched |= not mode
        return original(module, mode)

    # Where an intervention hooks in; its failure is reported under its own name.

    def before_pass(self, site: Site, hook: Before) -> None:
        self.passes.before.append(lambda this: site.hooks.guarded(site, hook, this))

    def around_pass(self, site: Site, hook: Around) -> None:
        self.passes.around.append(lambda this: site.hooks.guarded(site, hook, this))

    def after_pass(self, site: Site, hook: After) -> None:
        self.passes.after.append(lambda this, found: site.hooks.guarded(site, hook, this, found))

    def on_loss(self, site: Site, order: int, hook: Callable[[LossCall], None]) -> None:
        """For each call of a loss function, in the order given: first what is data (below 5), then what
        the function does with it."""
        self.losses.changes.append((order, lambda call: site.hooks.guarded(site, hook, call)))
        self.losses.changes.sort(key=lambda change: change[0])

    def on_loader(self, site: Site, hook: Callable[[Any], None], *, size: bool = False) -> None:
        """Once for each loader that is trained from; where its `size` changes, as soon as its length is asked for."""
        hooks = self.loaders.sizes if size else self.loaders.setups
        hooks.append(lambda loader: site.hooks.guarded(site, hook, loader))

    def on_batches(self, site: Site, hook: Callable[[Any], Callable[[Draw], Any]]) -> None:
        """For each training iterator, with its loader: what is returned is called for each batch with a
        function that draws one (StopIteration at the end)."""

        def stream(loader: Any, draw: Draw) -> Draw:
            return site.wrap_with_hook(site.hooks.guarded(site, hook, loader), draw)

        self.loaders.streams.append(stream)

    # Where it cannot apply: seen at the first backward pass.

    def needs_loader(self, site: Site) -> None:
        by_hand = "the script draws no batches from a DataLoader, it makes them itself"
        idle = "no DataLoader was iterated in training mode"
        refuse_if(site, lambda: "" if self.loaders.seen else idle if self.loaders.iterated else by_hand)

    def needs_model(self, site: Site) -> None:
        refuse_if(site, lambda: "" if self.passes.counts else NO_MODEL)

    def needs_targets(self, site: Site, unless: Callable[[], bool]) -> None:
        """A training loss computed by a function of PyTorch: the targets can be reached there."""
        by_hand = "the loss is computed by hand, its targets are not seen"

        def why() -> str:
            if self.losses.trained or unless():
                return ""
            return by_hand if self.passes.counts else NO_MODEL

        refuse_if(site, why)

    def needs_loss(self, site: Site, names: tuple[str, ...], kind: str) -> None:
        """A training loss computed by one of these functions."""

        def why() -> str:
            trained = " + ".join(self.losses.trained)
            if any(name in names for name in self.losses.trained):
                return ""
            return f"{f'the loss is {trained}' if trained else 'no loss function of PyTorch was called'}, not {kind}"

        refuse_if(site, why)

    def rehearsal(self, site: Site, this: Pass) -> tuple[list[Call], int]:
        """The activation calls of a model and its dropout calls, from its first pass, or the experiment is
        refused."""
        known = self.rehearsed.get(this.module)
        if known is not None:
            return known
        self.rehearsing = self.losses.inside = True
        try:
            with site.unseen():
                known = self.rehearsed[this.module] = rehearse(this)
        except CannotRehearse as why:
            site.refuse(f"no trial pass of the model is possible: {why}")
        finally:
            self.rehearsing = self.losses.inside = False
        return known


def refuse_if(site: Site, why: Callable[[], str]) -> None:
    """End the experiment at a backward pass where `why` gives a reason."""

    def check(_: Any) -> None:
        if reason := why():
            site.refuse(reason)

    site.on_backward(check)


def script_of(site: Site) -> Script:
    """The script that an intervention is applied to."""
    found = SCRIPTS.get(site.hooks)
    if found is None:
        found = SCRIPTS[site.hooks] = Script(site)
    return found
