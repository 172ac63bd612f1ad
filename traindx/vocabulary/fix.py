"""What a fix is: what to do about a cause, how it can be applied, and what to expect of it."""

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from traindx.vocabulary.setup import Setup

Applicability = Literal["runtime", "patch", "advice"]


class Fix(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """`home`: the module that defines it. `causes`: slugs it cures, best first. `propose(setup)` words the
    change with the numbers of this run where they are known, and is empty where there is nothing to change.
    `idioms`: how it is written, by framework ("torch", "keras", "jax"). `touches`: setup fields it changes.
    `interventions`: how it is tried from outside ("lr=*0.1"); empty when it cannot be."""

    slug: str
    home: str
    title: str
    applicability: Applicability
    causes: tuple[str, ...]
    expected: str
    page: str
    propose: Callable[[Setup], str]
    idioms: Mapping[str, str] = {}
    touches: tuple[str, ...] = ()
    interventions: tuple[str, ...] = ()
