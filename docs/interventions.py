"""The page of interventions, from their docstrings."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from traindx.capture.experiment.kinds import STAGES
from traindx.capture.torch import interventions
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
As the identity (`lr=*1`) an intervention leaves every bit of the training as it is. The script
runs in a scratch copy of the folder, and what it writes there is thrown away. With `--in-place` it runs in your folder,
where its files replace older ones.
"""

KERAS = """
The same names and values change trainings in Keras, on TensorFlow, PyTorch and JAX: models, optimizers and data when
`fit` (or the first `train_on_batch`) begins, gradients and rates within the compiled step. Others are refused. What is
changed in a model is saved with it: `traindx fix` hands it back as `model.keras`.
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
    parts += keras()
    parts.append("## Not from outside")
    parts.append("\n".join(f"- `{name}`: {why}" for name, why in NOT_FROM_OUTSIDE.items()))
    return "\n\n".join(parts)


def keras() -> list[str]:
    """Those that Keras has, too. They import Keras, which the page is written without: their docstrings are read."""
    known = {kind.name: kind for kind in catalogue()}
    parts = ["## In Keras", KERAS.strip()]
    for name, words in declared(Path(inspect.getfile(interventions)).parents[2] / "keras" / "interventions"):
        assert name in known, name
        parts.append(f"- `{name}`: {' '.join(words.split())}")
    return [*parts[:2], "\n".join(parts[2:])]


def declared(folder: Path) -> list[tuple[str, str]]:
    """Names and docstrings of the interventions of a package, by name."""
    found = []
    for file in folder.glob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if (
                    isinstance(mark, ast.Call)
                    and isinstance(mark.func, ast.Name)
                    and mark.func.id == "intervention"
                ):
                    assert isinstance(mark.args[0], ast.Constant)
                    found.append((str(mark.args[0].value), ast.get_docstring(node) or ""))
    return sorted(found)
