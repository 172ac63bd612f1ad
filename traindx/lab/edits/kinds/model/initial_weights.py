"""`init=he`, `xavier`, `orthogonal`: new weights of linear and convolution layers, before the optimizer is made."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.training import Found, optimizers

WAYS = {"he": 'kaiming_normal_({}, nonlinearity="relu")', "xavier": "xavier_normal_({})",
        "orthogonal": "orthogonal_({}, gain=2**0.5)"}  # fmt: skip
LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d")


def edit(project: Project, value: str) -> None:
    made = optimizers(project)
    if value not in WAYS or len(made) != 1:
        raise NotCertain(
            f"init={value}", "there is not one optimizer whose model could be started anew", project.script
        )
    one = made[0]
    if any(source.methods("load_state_dict", "from_pretrained") for source in project.sources):
        raise NotCertain(
            f"init={value}", "weights are loaded, which are the point of it", one.source.path, one.line
        )
    params = one.given("params", 0)
    whole = isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute) and not params.args
    if not whole or params.func.attr.value != "parameters" or not one.source.alone(one.small):  # type: ignore[union-attr]
        raise NotCertain(f"init={value}", "which model it is for is not certain", one.source.path, one.line)
    model = one.source.code(params.func.value)  # type: ignore[union-attr]
    lines = block(one, model, value)
    if lines.splitlines()[0] in one.source.text:
        return
    one.source.insert_before(one.small, lines)
    project.say(one.source, one.line, f"before the optimizer: new weights ({value})")


def block(one: Found, model: str, value: str) -> str:
    """The loop over the layers."""
    names = {name: node.value for node, name in one.source.names.items() if isinstance(node, cst.Name)}
    nn = names.get("torch.nn") or (f"{names['torch']}.nn" if "torch" in names else "")
    if not nn:
        raise NotCertain(f"init={value}", "torch.nn is not imported in this file", one.source.path, one.line)
    kinds = ", ".join(f"{nn}.{kind}" for kind in LAYERS)
    way = WAYS[value].format("layer.weight")
    return (
        f"for layer in (m for m in {model}.modules() if isinstance(m, ({kinds}))):  # {value}\n"
        f"    {nn}.init.{way}\n"
        f"    if layer.bias is not None:\n"
        f"        {nn}.init.zeros_(layer.bias)\n"
    )


KIND = Kind(edit=edit, interventions=("init",))
