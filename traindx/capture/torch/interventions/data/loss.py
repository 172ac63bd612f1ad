"""What losses get: logits, weights of classes, smoothed labels."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.alter.classes import BINARY, CLASSES, Balance, smoothed
from traindx.capture.torch.alter.logits import Logits
from traindx.capture.torch.alter.script import script_of
from traindx.capture.torch.experiment.site import Site


@applies("logits")
def logits(site: Site, _value: str) -> None:
    Logits(site, script_of(site))
    site.unused = "no cross-entropy got probabilities"


@applies("class_weights")
def class_weights(site: Site, _value: str) -> None:
    script = script_of(site)
    script.needs_loss(site, CLASSES + BINARY, "a cross-entropy")
    Balance(site, script)
    site.unused = "the classes are balanced"


@applies("label_smoothing")
def label_smoothing(site: Site, share: float) -> None:
    script = script_of(site)
    script.needs_loss(site, CLASSES + BINARY, "a cross-entropy")
    script.on_loss(site, 7, lambda call: smoothed(site, call, share))
    site.unused = f"the labels are already smoothed by {share:g}"
