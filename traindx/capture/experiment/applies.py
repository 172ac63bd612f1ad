"""What a framework does for the interventions that it implements."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import traindx.capture
from traindx.capture.experiment.site import Site
from traindx.capture.interventions import parse
from traindx.capture.interventions.kinds import Given
from traindx.installed import defined_in

Apply = Callable[
    [Any, Any], None
]  # of the framework's own Site, and of the value that the catalogue has read

MARKED = re.compile(r'^@applies\(\s*"([^"]+)"', re.MULTILINE)


class Applied(NamedTuple):
    """How a framework applies the intervention `name` of the catalogue; `unused` says why nothing was touched, if
    nothing was."""

    name: str
    apply: Apply
    unused: str


def applies(name: str, unused: str = "") -> Callable[[Apply], Applied]:
    """Mark a function as the one that applies an intervention."""
    return lambda apply: Applied(name, apply, unused)


@cache
def implementations(package: str) -> dict[str, Applied]:
    """By name, how the modules of a package apply interventions. Importing them loads the framework."""
    return {one.name: one for one in defined_in(package, Applied)}


def apply_given(site: Site, given: Given, package: str) -> None:
    """Apply an intervention as the framework of that package does, or refuse the experiment."""
    found = implementations(package).get(given.kind.name)
    if found is None:
        site.refuse(describe_missing(package))
    site.unused = found.unused
    found.apply(site, given.value)


def apply_all(sites: Sequence[Site], given: Sequence[Given], package: str) -> None:
    """Apply the interventions of a run, each through its site, and record which they are."""
    if sites:
        sites[0].fact("interventions", ", ".join(site.spec for site in sites))
    for site, one in zip(sites, given, strict=True):
        site.hooks.guarded(site, apply_given, site, one, package)


def requested_interventions(package: str, asked: Sequence[str]) -> tuple[tuple[Given, ...], str]:
    """The interventions that were asked for. Where the framework of that package lacks one: none, and why it is
    refused once that framework trains, because until then the script may be one of another."""
    given = parse(asked)
    missing = [one.spec for one in given if one.kind.name not in implementations(package)]
    return ((), f"--with {missing[0]}: {describe_missing(package)}") if missing else (given, "")


def names_in(framework: str) -> frozenset[str]:
    """The interventions that a framework implements, read from its source: none of it need be installed."""
    folder = Path(traindx.capture.__file__).parent / framework / "interventions"
    texts = (file.read_text("utf-8") for file in folder.rglob("*.py"))
    return frozenset(name for text in texts for name in MARKED.findall(text))


def describe_missing(package: str) -> str:
    """What an experiment is refused with whose intervention the framework of that package does not implement."""
    framework = package.split(".")[-2]
    return f"not possible in {framework} trainings yet; possible are {', '.join(sorted(implementations(package)))}"
