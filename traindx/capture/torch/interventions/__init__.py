"""Interventions: changes applied from outside to an unmodified script while it runs under capture.

`traindx run --with clip=1.0 --with "lr=*0.1" -- python train.py` applies them by hand; checks, the
learning-rate search and trials are made of them.

How to add one: write `traindx/capture/torch/interventions/<name>.py` with one function.

    @intervention("clip.value", stage="gradients", values=("0.5",))
    def clip_value(value: str) -> Apply:
        \"\"\"Its page in the docs: what it changes, what it cannot.\"\"\"
        limit = positive(value, "clip.value")  # ConfigError on nonsense; torch is not imported here

        def apply(site: Site) -> None:  # in the script's process, once torch is loaded
            def clip(optimizer: Any) -> None:
                ...
                site.touched("steps")  # every change is counted

            site.on_gradients(clip)
            site.unused = "no gradient was larger"  # said at the end if nothing was touched

        return apply

The package is walked (nothing registers itself). `Site` (site.py) has the places to hook into:
`wrap` any function, `around_calls` of models, `on_backward`, `on_optimizer`, `before_measuring` and
`on_gradients` of a step, `around_step`, `group` for a setting of the optimizer's groups. `site.refuse(why)`
stops the experiment where it cannot apply; so does any exception that is raised in a hook (status 70 of
the script, 2 of `traindx run`). As the identity (`lr=*1`) an intervention leaves every bit as it is.
Hooks must draw no random numbers unless that is what they are for.

Order: by stage (kinds.STAGES), within one by `order`, then by name. Wrapped functions see what later
ones have changed: the last to wrap is the first to be called.

    start      once, at the import of torch (seed, steps)
    model      modules and parameters
    data       loaders, inputs, targets
    forward    calls of models, losses
    backward   before gradients are computed, and how they add up; then capture measures them
    gradients  after measuring, before they are used
    settings   of the step: restored after it, so that the script's scheduler sees its own values
    step       how parameters are updated
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from traindx.capture.experiment.catalogue import nearest, walked
from traindx.capture.experiment.catalogue import parse as parse_with
from traindx.capture.experiment.kinds import Given, Kind

NOT_FROM_OUTSIDE = {
    "compile": "the model has been used by the time that capture sees it; call torch.compile in the script",
    "checkpoint_activations": "the model's own code must call torch.utils.checkpoint",
    "quant": "quantization rewrites the model before it is trained; change the script",
    "stop": "what the script does at its end (best weights, files) is not known; use steps=N to end it after N steps",
}


@cache
def catalogue() -> tuple[Kind, ...]:
    """All interventions, in the order in which they are applied."""
    return walked(__name__, __path__)


def parse(specs: Sequence[str]) -> tuple[Given, ...]:
    """NAME=VALUE specifications in the order in which they are applied.

    Raises ConfigError for a name that is not known (with the nearest one), a value that makes no
    sense, two that contradict each other, and what cannot be done from outside of a script."""
    return parse_with(specs, catalogue(), unknown)


def unknown(name: str, kinds: Mapping[str, Kind]) -> str:
    why = NOT_FROM_OUTSIDE.get(name.split(".")[0])
    return f"cannot be done from outside of a script: {why}" if why else nearest(name, kinds)
