"""The interventions of a package, and specifications of them."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence

from traindx.capture.experiment.kinds import STAGES, Given, Kind
from traindx.errors import ConfigError


def walked(package: str, path: Iterable[str]) -> tuple[Kind, ...]:
    """All that a package declares, in the order in which they are applied."""
    found: list[Kind] = []
    for info in pkgutil.walk_packages(path, prefix=package + "."):
        module = importlib.import_module(info.name)
        found += [v for v in vars(module).values() if isinstance(v, Kind) and v.read.__module__ == info.name]
    return tuple(sorted(found, key=lambda kind: (STAGES.index(kind.stage), kind.order, kind.name)))


def parse(
    specs: Sequence[str], catalogue: Sequence[Kind], unknown: Callable[[str, Mapping[str, Kind]], str]
) -> tuple[Given, ...]:
    """NAME=VALUE specifications in the order in which they are applied. `unknown(name, kinds)`: what is said of a name
    that is none of them.

    Raises ConfigError for that, a value that makes no sense, and two that contradict each other."""
    kinds = {kind.name: kind for kind in catalogue}
    found = []
    for spec in specs:
        name = spec.partition("=")[0].strip()
        if name not in kinds:
            raise ConfigError(f"--with {spec}: {unknown(name, kinds)}")
        found.append(parsed(spec, kinds[name]))
    seen: dict[tuple[str, int], Given] = {}
    for given in found:
        key = given.kind.name, given.part
        if key in seen:
            raise ConfigError(f"--with {given.spec}: contradicts {seen[key].spec}; give one of the two")
        seen[key] = given
    places = {kind.name: i for i, kind in enumerate(catalogue)}
    return tuple(sorted(found, key=lambda given: (places[given.kind.name], given.part)))


def parsed(spec: str, kind: Kind) -> Given:
    """One specification. Raises ConfigError."""
    name, equals, value = (part.strip() for part in spec.partition("="))
    if not equals or not value:
        raise ConfigError(f"--with {spec}: needs a value, such as {name}={kind.values[0]}")
    return Given(f"{name}={value}", kind, kind.part(value), kind.read(value))


def nearest(name: str, kinds: Mapping[str, Kind]) -> str:
    """There is no such name, but perhaps another."""
    near = difflib.get_close_matches(name, kinds, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(kinds))}"
    return f"there is no intervention {name!r}; {hint}"
