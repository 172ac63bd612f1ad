"""What a kind of edit is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from traindx.lab.edits.project import Project


class Kind(msgspec.Struct, frozen=True, eq=False):
    """`interventions`: names of those that it writes; `fixes`: slugs of those without one. `edit(project,
    value)` makes the changes in the project's sources, or raises NotCertain."""

    edit: Callable[[Project, str], None]
    interventions: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()


def writes(
    *interventions: str, fixes: tuple[str, ...] = ()
) -> Callable[[Callable[[Project, str], None]], Kind]:
    """Makes a function the kind of edit that writes these."""
    return partial(Kind, interventions=interventions, fixes=fixes)
