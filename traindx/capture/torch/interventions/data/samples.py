"""The samples that a model is trained on: their order, inputs, labels and targets."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.alter.inputs import Inputs
from traindx.capture.torch.alter.labels import Permute
from traindx.capture.torch.alter.order import fix, shuffle
from traindx.capture.torch.alter.outliers import Drop
from traindx.capture.torch.alter.repeat import RepeatBatch
from traindx.capture.torch.alter.script import script_of
from traindx.capture.torch.alter.targets import REGRESSION, Standardize
from traindx.capture.torch.experiment.site import Site


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


@applies("labels")
def labels(site: Site, _value: str) -> None:
    Permute(site, script_of(site))
    site.unused = "no loss function of PyTorch was called with targets of several samples"


@applies("drop")
def drop(site: Site, _value: str) -> None:
    Drop(site, script_of(site))
    site.unused = "no training sample is an outlier"


@applies("inputs")
def inputs(site: Site, kind: str) -> None:
    script = script_of(site)
    script.needs_model(site)
    Inputs(site, script, kind)
    site.unused = "no model was called with a tensor of several samples"


@applies("targets")
def targets(site: Site, _value: str) -> None:
    script = script_of(site)
    script.needs_model(site)
    script.needs_loss(site, REGRESSION, "a regression loss")
    Standardize(site, script)
