"""`init=he`, `xavier`, `orthogonal`: new weights of linear and convolution layers, before the optimizer is
made."""

from traindx.lab.edits.api import Found, Project, cst, optimizers, writes

WAYS = {"he": 'kaiming_normal_({}, nonlinearity="relu")', "xavier": "xavier_normal_({})",
        "orthogonal": "orthogonal_({}, gain=2**0.5)"}  # fmt: skip
LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d")


@writes("init")
def set_initial_weights(project: Project, value: str) -> None:
    made = optimizers(project)
    if len(made) != 1:
        raise project.doubt(
            f"init={value}", "there is not exactly one optimizer, whose model could get new weights"
        )
    one = made[0]
    if any(source.methods("load_state_dict", "from_pretrained") for source in project.sources):
        raise one.doubt(f"init={value}", "the script loads weights, which new ones would undo")
    params = one.argument("params", 0)
    whole = isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute) and not params.args
    if not whole or params.func.attr.value != "parameters" or not one.source.alone(one.small):  # type: ignore[union-attr]
        raise one.doubt(f"init={value}", "cannot tell which model it is for")
    model = one.source.code(params.func.value)  # type: ignore[union-attr]
    lines = block(one, model, value)
    if lines.splitlines()[0] in one.source.text:
        return
    says = f"before the optimizer: new weights ({value})"
    one.source.insert_before(one.small, lines, says=says, at=one.call)


def block(one: Found, model: str, value: str) -> str:
    """The loop over the layers."""
    nn = one.source.how_written("torch.nn", "torch.nn", "torch")
    if not nn:
        raise one.doubt(f"init={value}", "torch.nn is not imported in this file")
    kinds = ", ".join(f"{nn}.{kind}" for kind in LAYERS)
    way = WAYS[value].format("layer.weight")
    return (
        f"for layer in (m for m in {model}.modules() if isinstance(m, ({kinds}))):  # {value}\n"
        f"    {nn}.init.{way}\n"
        f"    if layer.bias is not None:\n"
        f"        {nn}.init.zeros_(layer.bias)\n"
    )
