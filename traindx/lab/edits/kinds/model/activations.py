"""`activation=relu`, `gelu`, `leaky_relu`: other activations in the hidden layers, modules and functions."""

from functools import partial

from traindx.lab.edits.api import Project, Source, cst, feeds_layer, is_hidden, kind, uses_of, writes

MODULES = {"relu": "ReLU", "gelu": "GELU", "leaky_relu": "LeakyReLU"}
SQUASHING = ("Sigmoid", "Tanh", "Hardsigmoid", "Hardtanh", "Softsign")
FUNCTIONS = {"torch.sigmoid": 1, "torch.tanh": 1, "torch.nn.functional.sigmoid": 1,
             "torch.nn.functional.tanh": 1,
             "torch.nn.functional.hardtanh": 1, "torch.nn.functional.softsign": 1}  # fmt: skip
RELUS = {"torch.relu": 1, "torch.nn.functional.relu": 1}
METHODS = {"sigmoid": "squashing", "tanh": "squashing", "relu": "relu"}
HOMES = {
    "relu": "torch.relu",
    "gelu": "torch.nn.functional.gelu",
    "leaky_relu": "torch.nn.functional.leaky_relu",
}


@writes("activation")
def swap_activation(project: Project, value: str) -> None:
    changed = sum(in_modules(project, s, value) + in_functions(project, s, value) for s in project.sources)
    kept = any(kind(s, call) == MODULES[value] for s in project.sources for call in s.calls())
    used = any(s.name(call.func) == HOMES[value] for s in project.sources for call in s.calls())
    if not changed and not kept and not used:
        raise project.doubt(
            f"{value} in the hidden layers",
            "no hidden activation that it would replace was found for certain",
        )


def replaceable_names(value: str) -> tuple[str, ...]:
    return SQUASHING if value == "relu" else (*SQUASHING, "ReLU")


def in_modules(project: Project, source: Source, value: str) -> int:
    """`nn.Tanh()` in a sequence with a layer after it, or a member whose result a forward pass gives to a
    layer."""
    count = 0
    for call in source.calls():
        if kind(source, call) in replaceable_names(value) and (
            is_hidden(source, call) or hidden_member(source, call)
        ):
            count += 1
            new = f"{MODULES[value]}()"
            if not isinstance(call.func, cst.Attribute):
                raise source.doubt(call, new, "it is imported by its own name")
            source.rename(call.func, MODULES[value], f"{source.code(call)} becomes {new}", at=call)
            source.change(call, lambda node: node.with_changes(args=[]))
    return count


def hidden_member(source: Source, call: cst.Call) -> bool:
    """`self.act = nn.Tanh()`, whose every use in the class reaches a layer."""
    uses = uses_of(source, call)
    return bool(uses) and all(feeds_layer(source, use) for use in uses)


def in_functions(project: Project, source: Source, value: str) -> int:
    """`torch.tanh(x)` and `x.tanh()` in a forward pass that reach a layer."""
    count = 0
    functions = set(FUNCTIONS) | (set(RELUS) if value != "relu" else set())
    for call in source.calls():
        name = source.name(call.func)
        method = call.func.attr.value if isinstance(call.func, cst.Attribute) and not call.args else ""
        by_method = METHODS.get(method) in (("squashing",) if value == "relu" else ("squashing", "relu"))
        if not (name in functions or by_method) or not feeds_layer(source, call):
            continue
        new = source.how_written(HOMES[value], "torch.nn.functional", "torch")
        if not new:
            raise source.doubt(call, f"{HOMES[value]}(...)", "torch is not imported in this file")
        says = f"{source.code(call.func)} becomes {new}"
        source.change(call, partial(call_instead, name=new, by_method=by_method), says)
        count += 1
    return count


def call_instead(node: cst.Call, name: str, by_method: bool) -> cst.Call:
    """A call of another function with the same argument, or with what the method was called on."""
    func = cst.parse_expression(name)
    if by_method and isinstance(node.func, cst.Attribute):
        return node.with_changes(func=func, args=[cst.Arg(node.func.value)])
    return node.with_changes(func=func)
