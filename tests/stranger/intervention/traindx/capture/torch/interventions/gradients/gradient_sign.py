"""Gradients replaced by their signs."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.settings import Optimizer, with_gradients
from traindx.capture.torch.experiment.site import Site


@applies("gradient_sign")
def gradient_sign(site: Site, _value: str) -> None:
    def replace(optimizer: Optimizer) -> None:
        for p in with_gradients(optimizer):
            p.grad.sign_()
        site.touched("steps")

    site.on_gradients(replace)
