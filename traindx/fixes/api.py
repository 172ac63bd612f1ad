"""Everything that a fix needs, for one import; and its wording: numbers of this run where they are known, plain advice
where they are not."""

from __future__ import annotations

from traindx.vocabulary.fix import Fix
from traindx.vocabulary.setup import Setup

__all__ = ["Fix", "Setup", "lowered_to", "page", "scaled"]


def page(docstring: str | None) -> str:
    """The page of a fix: its module's docstring without the first line, which is the title."""
    return (docstring or "").partition("\n\n")[2].strip()


def scaled(setup: Setup, field: str, factor: float, verb: str, thing: str) -> str:
    """ "lower the learning rate from 0.1 to 0.01 (x0.1)", or "lower the learning rate (x0.1)"."""
    now = setup.number(field)
    if now is None or now <= 0:
        return f"{verb} the {thing} (x{factor:g})"
    return f"{verb} the {thing} from {now:.3g} to {now * factor:.3g} (x{factor:g})"


def lowered_to(setup: Setup, field: str, target: float, thing: str) -> str:
    """ "lower the momentum from 0.99 to 0.9"; a value at the target already: "below"; nothing to lower: ""."""
    now = setup.number(field)
    if now is not None and now <= 0:
        return ""
    if now is None:
        return f"lower the {thing} to {target:g}"
    return (
        f"lower the {thing} from {now:g} to {target:g}"
        if now > target
        else f"lower the {thing} below {now:g}"
    )
