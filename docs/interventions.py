"""The page of interventions, from their docstrings."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from traindx.capture import interventions
from traindx.capture.interventions import NOT_FROM_OUTSIDE, catalogue
from traindx.capture.interventions.kinds import STAGES

HEAD = """
# Interventions

Changes that are applied from outside to an unmodified script while it runs under capture:

```console
traindx run --with clip=1.0 --with "lr=*0.1" -- python train.py
```

Several interventions are applied in the order of this page, however they are given. With several optimizers, all are
changed. The record's `setup.json` says what each one did: `interventions` names them all, and
`intervention/<name=value>/steps` (or calls, parameters ...) counts what was changed. If an intervention changed nothing,
an event says why. One that cannot be applied to the script, or fails, ends the script with status 70 and
`traindx run` with status 2 and one sentence. An intervention that changes nothing (`lr=*1`) leaves the training the
same to the last bit. The script runs in a scratch copy of the folder, and what it writes there is thrown away. With
`--in-place` it runs in your folder, where its files replace older ones.
"""

KERAS = """
The same names and values change trainings in Keras, on TensorFlow, PyTorch and JAX: models, optimizers and data when
`fit` (or the first `train_on_batch`) begins, gradients and rates within the compiled step. Other names are refused.
Changes to a model are saved with it: `traindx fix` returns it as `model.keras`.
"""

JAX = """
With optax, the call that makes an optimizer is changed (`optax.adam(1e-3)`): its arguments, the function, or what is
chained before it. The edit of the source writes the same call, so both train the same to the last bit. That works within
`jit`, and wherever the optimizer is used: plain loops, Flax, Equinox, `chain`, `multi_transform`, `inject_hyperparams`.
Adding something to an optimizer changes the tree of its state: a state that the script loads from a file does not fit
then. Only the rate can be changed where a script chains the parts itself (`scale_by_adam`, `scale_by_learning_rate`).
Other names are refused: models and batches are the script's own code.
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
                values = " · ".join(f"`{kind.name}={value}`" for value in kind.examples)
                parts += [f"### {kind.name}", values, kind.page]
    parts += [*implemented("Keras", KERAS), *implemented("JAX", JAX)]
    parts.append("## Not from outside")
    parts.append("\n".join(f"- `{name}`: {why}" for name, why in NOT_FROM_OUTSIDE.items()))
    return "\n\n".join(parts)


def implemented(label: str, head: str) -> list[str]:
    """What another framework implements, too. Importing its modules needs it, so their docstrings are parsed."""
    known = {kind.name: kind for kind in catalogue()}
    parts = [f"## In {label}", head.strip()]
    for name, words in declared(
        Path(inspect.getfile(interventions)).parents[1] / label.lower() / "interventions"
    ):
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
                    and mark.func.id == "applies"
                ):
                    assert isinstance(mark.args[0], ast.Constant)
                    found.append((str(mark.args[0].value), ast.get_docstring(node) or ""))
    return sorted(found)
