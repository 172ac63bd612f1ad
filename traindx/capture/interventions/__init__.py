"""Interventions: changes that are applied from outside to an unmodified script while it runs under capture.

`traindx run --with clip=1.0 --with "lr=*0.1" -- python train.py` applies them by hand. Checks, the search for a
learning rate and `traindx fix` are made of them.

This package is the catalogue: names, values, order and pages, without any framework. A framework implements a part
of it in its own `interventions` (`capture/torch/interventions`, `capture/keras/interventions`).

How to add one: declare it in the module of its subject here (all modules of this package are searched).

    CLIP_VALUE = Intervention(
        "clip.value", "gradients", ("0.5",), order=1, read=positive,
        help=\"\"\"What it changes, and what it cannot change: its section in docs/interventions.md.\"\"\",
    )

Then apply it in a framework, in a module anywhere below `capture/<framework>/interventions`.

    @applies("clip.value")
    def clip_value(site: Site, limit: float) -> None:  # called in the script's process
        def clip(optimizer: Optimizer) -> None:
            ...
            site.touched("steps")  # every change is counted

        site.on_gradients(clip)
        site.unused = "no gradient was larger"  # the reason reported at the end if nothing was changed

`Site` (capture/experiment/site.py, and one per framework) has the places to hook into: `wrap` for any function and,
in PyTorch, `around_calls` of models, `on_backward`, `on_optimizer`, `before_measuring` and `on_gradients` of a step,
`around_step`, and `group` for a setting of the optimizer's groups. `site.refuse(why)` ends the experiment where the
intervention cannot be applied. So does any exception that a hook raises (the script ends with status 70, `traindx run`
with 2). As the identity (`lr=*1`) an intervention leaves every bit of the training as it is. Hooks draw no random
numbers unless that is their purpose.

Order: by stage (kinds.STAGES), within a stage by `order`, then by name. Wrapped functions see what later interventions
have changed: the last to wrap is the first to be called.

    start      once, when the framework is imported (seed, steps)
    model      modules and parameters
    data       loaders, inputs, targets
    forward    calls of models, losses
    backward   before gradients are computed, and how they add up; then capture measures them
    gradients  after capture has measured them, before the optimizer uses them
    settings   of the step: restored after it, so that the script's scheduler sees its own values
    step       how parameters are updated
"""

from traindx.capture.interventions.parsing import NOT_FROM_OUTSIDE, catalogue, parse

__all__ = ["NOT_FROM_OUTSIDE", "catalogue", "parse"]
