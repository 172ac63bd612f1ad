"""What the values of `lr` ask for, whatever the framework."""

from __future__ import annotations

from traindx.capture.experiment.site import Site
from traindx.capture.interventions.values import Change


def rate_factor(site: Site, wanted: Change, base: float | None) -> float:
    """What the script's rates are multiplied by. `base` is the rate that its optimizer was made with."""
    if wanted.relative:
        return wanted.number
    if not base:
        site.refuse("the script's optimizer was made with a rate of 0: there is no base rate to set")
    return wanted.number / base
