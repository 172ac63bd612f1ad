"""The samples that a model is trained on: their order, inputs, labels and targets."""

import weakref
from typing import NamedTuple

from torch.utils.data import RandomSampler, SequentialSampler

from traindx.capture.torch.alter.api import (
    Any,
    Callable,
    Draw,
    Iterator,
    Pass,
    Script,
    Site,
    applies,
    generator,
    script_of,
    torch,
)
from traindx.capture.torch.alter.calls import LossCall
from traindx.capture.torch.alter.inputs import Drop, Inputs, Moments, Place, named_tensors, replace
from traindx.capture.torch.alter.labels import Permute
from traindx.capture.torch.alter.loaders import force_attributes, rebuilt, why_not_rebuilt

REGRESSION = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


@applies("data")
def data(site: Site, kind: str) -> None:
    script = script_of(site)
    if kind == "repeat-batch":
        RepeatBatch(site, script)
        site.unused = "there was no second batch"
        return
    change = shuffle if kind == "shuffle" else fix
    script.needs_loader(site)
    script.on_loader(site, lambda loader: change(site, loader))
    site.unused = "the data is shuffled" if kind == "shuffle" else "every epoch had the same order"


@applies("labels", unused="no loss function of PyTorch was called with targets of several samples")
def labels(site: Site, _value: str) -> None:
    Permute(site, script_of(site))


@applies("drop", unused="no training sample is an outlier")
def drop(site: Site, _value: str) -> None:
    Drop(site, script_of(site))


@applies("inputs", unused="no model was called with a tensor of several samples")
def inputs(site: Site, kind: str) -> None:
    script = script_of(site)
    script.needs_model(site)
    Inputs(site, script, kind)


@applies("targets")
def targets(site: Site, _value: str) -> None:
    script = script_of(site)
    script.needs_model(site)
    script.needs_loss(site, REGRESSION, "a regression loss")
    Standardize(site, script)


class FirstOrder:
    """A sampler that repeats the order of the first epoch. The script's own sampler is still asked, so that
    it draws the random numbers it would have drawn."""

    def __init__(self, sampler: Any, site: Site) -> None:
        self.sampler, self.site = sampler, site
        self.order: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.sampler)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "sampler" not in vars(self):
            raise AttributeError(name)
        return getattr(self.sampler, name)

    def __iter__(self) -> Iterator[Any]:
        if self.order is None:
            self.order = list(self.sampler)
        else:
            next(iter(self.sampler), None)
            self.site.touched("epochs")
        yield from self.order


def shuffle(site: Site, loader: Any) -> None:
    """A random order instead of that of the data set, from a generator of our own."""
    why = why_not_rebuilt(loader, batches=False)
    if why:
        site.refuse(f"the loader's order cannot be changed: {why}")
    sampler = loader.sampler
    if type(sampler) is SequentialSampler:
        set_sampler(loader, RandomSampler(sampler.data_source, generator=generator("order")))
        site.touched("loaders")
    elif type(sampler).__name__ == "DistributedSampler":
        if not sampler.shuffle:
            sampler.shuffle = True
            site.touched("loaders")
    elif type(sampler).__module__ != SequentialSampler.__module__:
        site.refuse(f"the loader's order is made by {type(sampler).__name__}")


def fix(site: Site, loader: Any) -> None:
    why = why_not_rebuilt(loader, batches=False)
    if why:
        site.refuse(f"the loader's order cannot be changed: {why}")
    if type(loader.sampler) is not SequentialSampler:
        set_sampler(loader, FirstOrder(loader.sampler, site))


def set_sampler(loader: Any, sampler: Any) -> None:
    force_attributes(loader, sampler=sampler)
    if loader.batch_sampler is not None:
        loader.batch_sampler.sampler = sampler


class Output(NamedTuple):
    """What a model gave, as it was and as the script got it."""

    own: torch.Tensor
    given: torch.Tensor


class Standardize:
    """The model's output is taken back to the script's units, so that whatever the script does with it
    stays right; the loss is computed in standard units, with the value of the script's units."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.moments = Moments()
        self.outputs: weakref.WeakKeyDictionary[torch.nn.Module, Output] = weakref.WeakKeyDictionary()
        self.model: weakref.ref[torch.nn.Module] | None = None  # the one that the loss is fed from
        script.after_pass(site, self.back)
        script.on_loss(site, 4, self.standard)

    def back(self, this: Pass, found: Any) -> Any:
        if not isinstance(found, torch.Tensor):
            return found
        given = found
        if self.model is not None and self.model() is this.module:
            mean, std = self.units(found)
            given = found * std + mean
        if this.training:
            self.outputs[this.module] = Output(found, given)
        return given

    def units(self, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.moments.mean.to(like), self.moments.std.to(like)

    def standard(self, call: LossCall) -> None:
        if call.name not in REGRESSION or not call.training:
            return
        output = self.source(call)
        columns = (
            call.target.dim() == 2 and call.target.shape[1] > 1 and call.target.shape == call.input.shape
        )
        self.moments.add(
            call.target.reshape(-1, call.target.shape[1]) if columns else call.target.reshape(-1, 1)
        )
        mean, std = self.units(call.input)
        own = output.own.reshape(call.input.shape)
        with torch.no_grad():
            true = call.unseen(self.script.losses.originals, own.detach() * std + mean, call.target)
        call.input, call.target = own, (call.target - mean) / std
        call.after.append(lambda value: value + (true - value).detach())
        self.site.touched("losses")

    def source(self, call: LossCall) -> Output:
        """The output of a model that the loss is fed with, maybe in another shape."""
        place = call.input.untyped_storage().data_ptr()
        for model, output in self.outputs.items():
            if (
                output.given.untyped_storage().data_ptr() == place
                and output.given.numel() == call.input.numel()
            ):
                if self.model is not None and self.model() is not model:
                    self.site.refuse("the losses are fed by several models")
                self.model = weakref.ref(model)
                return output
        self.site.refuse("what the loss is fed with is not the output of a model as it is")


def clone_batch(batch: Any) -> Any:
    return rebuilt(batch, lambda _, tensor: tensor.clone())


class RepeatBatch:
    """From the training loader; where there is none, the tensors of the first training pass of each model
    and the targets of the losses that followed it."""

    def __init__(self, site: Site, script: Script) -> None:
        self.site, self.script = site, script
        self.batches: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self.inputs: weakref.WeakKeyDictionary[torch.nn.Module, dict[Place, torch.Tensor]]
        self.inputs = weakref.WeakKeyDictionary()
        self.targets: dict[tuple[str, int], torch.Tensor] = {}
        self.losses = 0  # since the last pass
        self.told = False  # a model was called with more than one tensor: its targets may be among them
        script.on_batches(site, self.stream)
        script.before_pass(site, self.same_inputs)
        script.on_loss(site, 1, self.same_target)
        script.needs_targets(site, lambda: bool(script.loaders.seen) or self.told)

    def stream(self, loader: Any) -> Callable[[Draw], Any]:
        def next_batch(draw: Draw) -> Any:
            drawn = draw()  # sampler and data set draw the random numbers they would have drawn
            if loader not in self.batches:
                self.batches[loader] = clone_batch(drawn)
                return drawn
            self.site.touched("batches")
            return clone_batch(self.batches[loader])

        return next_batch

    def same_inputs(self, this: Pass) -> None:
        if not this.training or self.script.loaders.seen:
            return
        self.losses = 0
        own = {place: t for place, t in named_tensors(this).items() if not t.requires_grad and t.dim()}
        self.told |= len(own) > 1
        kept = self.inputs.get(this.module)
        if kept is None:
            self.inputs[this.module] = {place: t.detach().clone() for place, t in own.items()}
            return
        replace(this, {place: fit_sample_count(kept[place], t) for place, t in own.items() if place in kept})
        self.site.touched("batches")

    def same_target(self, call: LossCall) -> None:
        if not call.training or self.script.loaders.seen or not self.inputs or call.target.requires_grad:
            return
        self.losses += 1
        kept = self.targets.setdefault((call.name, self.losses), call.target.detach().clone())
        if call.target.dim():
            call.target = fit_sample_count(kept, call.target)


def fit_sample_count(kept: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    """The kept samples, as many as were given: fewer, or the first ones again."""
    if len(kept) == len(given):
        return kept.clone()
    return kept[torch.arange(len(given), device=kept.device) % len(kept)]
