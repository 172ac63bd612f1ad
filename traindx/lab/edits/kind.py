"""What a kind of edit is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from traindx.lab.edits.project import Project


class Kind(msgspec.Struct, frozen=True, eq=False):
    """`interventions`: names of those that it writes; `fixes`: slugs of those without one. `edit(project,
    value)` makes the changes in the project's sources, or raises NotCertain. `value` is what the catalogue of
    interventions reads in the text; `as_text`: the text itself, where no script can be run under it ("steps=*2").
    """

    edit: Callable[[Project, Any], None]
    interventions: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    as_text: bool = False


def writes(
    *interventions: str, fixes: tuple[str, ...] = (), as_text: bool = False
) -> Callable[[Callable[[Project, Any], None]], Kind]:
    """Makes a function the kind of edit that writes these."""
    return partial(Kind, interventions=interventions, fixes=fixes, as_text=as_text)
