"""The page of interventions, from their docstrings."""

from __future__ import annotations

from traindx.capture.torch.experiment.kinds import STAGES
from traindx.capture.torch.interventions import NOT_FROM_OUTSIDE, catalogue

HEAD = """
# Interventions

Changes that are applied from outside to an unmodified script while it runs under capture:

```console
traindx run --with clip=1.0 --with "lr=*0.1" -- python train.py
```

Several compose, in the order of this page, however they are given. With several optimizers, all are changed. What an
intervention did is in the record's `setup.json`: `interventions` names them all, `intervention/<name=value>/steps` (or
calls, parameters ...) counts what was changed, and one that changed nothing is an event that says why. One that cannot
be applied to the script, or fails, ends the script with status 70 and `traindx run` with status 2 and one sentence.
As the identity (`lr=*1`) an intervention leaves every bit of the training as it is. Files that the script writes are
written as ever: an experiment beside a real run needs a folder of its own.
"""

STAGE_NAMES = {
    "start": "At the start",
    "model": "Models and parameters",
    "data": "Data",
    "forward": "Forward pass and loss",
    "backward": "Backward pass",
    "gradients": "Gradients, after they are measured and before they are used",
    "settings": "Settings of the step",
    "step": "The step itself",
}


def page() -> str:
    """Every intervention with its values, by stage; then what cannot be done."""
    parts = [HEAD.strip()]
    for stage in STAGES:
        parts.append(f"## {STAGE_NAMES[stage]}")
        for kind in catalogue():
            if kind.stage == stage:
                values = " · ".join(f"`{kind.name}={value}`" for value in kind.values)
                parts += [f"### {kind.name}", values, kind.page]
    parts.append("## Not from outside")
    parts.append("\n".join(f"- `{name}`: {why}" for name, why in NOT_FROM_OUTSIDE.items()))
    return "\n\n".join(parts)
