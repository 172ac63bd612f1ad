"""The catalogue of interventions, and NAME=VALUE specifications of them."""

from collections.abc import Sequence
from functools import cache

from traindx.capture.interventions.kinds import STAGES, Given, Intervention
from traindx.errors import ConfigError
from traindx.installed import defined_in

NOT_FROM_OUTSIDE = {
    "compile": "the model has already been used when capture first sees it. Call torch.compile in the script",
    "checkpoint_activations": "the model's own code must call torch.utils.checkpoint",
    "quant": "quantization rewrites the model before it is trained. Change the script",
    "stop": "traindx does not know what the script does at its end (best weights, files). Use steps=N to end it after "
    "N steps",
}


@cache
def catalogue() -> tuple[Intervention, ...]:
    """All interventions, in the order in which they are applied."""
    found = defined_in("traindx.capture.interventions", Intervention)
    return tuple(sorted(found, key=lambda kind: (STAGES.index(kind.stage), kind.order, kind.name)))


def parse(specs: Sequence[str]) -> tuple[Given, ...]:
    """NAME=VALUE specifications in the order in which they are applied.

    Raises ConfigError for a name that is not known (with the nearest one), a value that makes no sense, two
    specifications that contradict each other, and what cannot be done from outside of a script."""
    places = {kind.name: i for i, kind in enumerate(catalogue())}
    seen: dict[tuple[int, int], Given] = {}
    for spec in specs:
        given = parse_one(spec)
        key = places[given.kind.name], given.kind.part(given.value)
        if key in seen:
            raise ConfigError(f"--with {given.spec}: contradicts {seen[key].spec}; give one of the two")
        seen[key] = given
    return tuple(seen[key] for key in sorted(seen))


def parse_one(spec: str) -> Given:
    """One specification. Raises ConfigError."""
    name, equals, text = (part.strip() for part in spec.partition("="))
    kind = next((kind for kind in catalogue() if kind.name == name), None)
    if kind is None:
        raise ConfigError(f"--with {spec}: {describe_unknown(name)}")
    if not equals or not text:
        raise ConfigError(f"--with {spec}: needs a value, such as {name}={kind.examples[0]}")
    return Given(f"{name}={text}", kind, kind.value(text))


def describe_unknown(name: str) -> str:
    """Why there is no such intervention, or the nearest name."""
    import difflib

    why = NOT_FROM_OUTSIDE.get(name.split(".")[0])
    if why:
        return f"cannot be done from outside of a script: {why}"
    names = sorted(kind.name for kind in catalogue())
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return f"there is no intervention {name!r}; {hint}"
