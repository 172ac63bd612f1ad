"""`unfreeze=all`: no parameter is frozen; `register=all`: the optimizer has all parameters of the model."""

from functools import partial

from traindx.lab.edits.api import Project, Source, cst, dotted_name, optimizers, writes


@writes("unfreeze")
def unfreeze(project: Project, _value: str) -> None:
    """Undo what freezes: `p.requires_grad = False` (with its loop), `part.requires_grad_(False)`, and
    `layer.trainable = False` of Keras."""
    count = 0
    for source in project.sources:
        for statement in source.all(cst.Assign):
            targets = [source.code(t.target) for t in statement.targets]
            if any(t.endswith((".requires_grad", ".trainable")) for t in targets):
                count += 1
                if source.code(statement.value) == "False":
                    thaw(source, statement, statement.value)
                elif source.code(statement.value) != "True":
                    source.replace(statement.value, "True", f"{targets[0]} = True", at=statement)
        for call in source.methods("requires_grad_"):
            if call.args and source.code(call.args[0].value) != "True":  # False, or what a setting says
                count += 1
                small = source.small(call)
                if not isinstance(small, cst.Expr) or small.value is not call:
                    raise source.doubt(call, "requires_grad_(True)", "its result is used")
                thaw(source, small, call.args[0].value)
        count += sum(
            bool(c.args) and source.code(c.args[0].value) == "True" for c in source.methods("requires_grad_")
        )
    if not count:
        raise project.doubt("requires_grad_(True) for all parameters", "what freezes them was not found")
    widen_optimizers(project)


def thaw(source: Source, small: cst.BaseSmallStatement, value: cst.BaseExpression) -> None:
    """Turn freezing into its opposite: a loop around it stays a loop, and nothing is left empty."""
    source.replace(value, "True", f"no longer frozen: {source.code(small)}", at=small)


@writes("register", fixes=("register-parameters",))
def register(project: Project, _value: str) -> None:
    """`Adam(model.head.parameters())` becomes `Adam(model.parameters())`; layers in a list become a
    ModuleList."""
    count = widen_optimizers(project) + sum(list_as_modules(project, source) for source in project.sources)
    if not count and not gets_all_parameters(project):
        raise project.doubt(
            "all of model.parameters()", "the parameters that the optimizer lacks were not found"
        )


def widen_optimizers(project: Project) -> int:
    """Let optimizers that were given a part of a model have all of it. How many were."""
    count = 0
    for one in optimizers(project):
        params = one.argument("params", 0)
        if isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute):
            base = params.func.value
            whole = root(one.source, base)
            if params.func.attr.value == "parameters" and whole is not None and whole is not base:
                code = one.source.code(whole)
                says = f"{one.source.code(params)} becomes {code}.parameters()"
                one.source.replace(params.func.value, code, says, at=one.call)
                count += 1
    return count


def gets_all_parameters(project: Project) -> bool:
    found = [one.argument("params", 0) for one in optimizers(project)]
    return bool(found) and all(
        isinstance(p, cst.Call) and dotted_name(p.func).endswith(".parameters") for p in found
    )


def root(source: Source, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The model that a part belongs to: `model` of `model.head`, `model[2]`, `model[:4]`; `self.net` of
    `self.net.head` in a class that is not itself a model."""
    while True:
        inner = node.value if isinstance(node, (cst.Attribute, cst.Subscript)) else None
        if inner is None or dotted_name(inner) == "self":
            return node
        node = inner


def list_as_modules(project: Project, source: Source) -> int:
    """`self.layers = [nn.Linear(...), ...]` of a module becomes an nn.ModuleList."""
    count = 0
    for statement in source.all(cst.Assign):
        value, name = statement.value, dotted_name(statement.targets[0].target)
        holds = isinstance(value, (cst.List, cst.ListComp)) and any(
            source.name(call.func).startswith("torch.nn.")
            for call in source.calls()
            if source.inside(call, value)
        )
        owner = source.owner(statement)
        module = owner is not None and any(source.name(b.value) == "torch.nn.Module" for b in owner.bases)
        if not (holds and module and name.startswith("self.")):
            continue
        home = next((source.code(b.value) for b in owner.bases), "") if owner else ""
        new = f"{home.rpartition('.')[0]}.ModuleList" if "." in home else ""
        if not new:
            raise source.doubt(statement, "nn.ModuleList([...])", "torch.nn is not imported by name")
        source.change(
            value, partial(wrap_in_call, name=new), f"{name}: the list becomes {new}", at=statement
        )
        count += 1
    return count


def wrap_in_call(node: cst.BaseExpression, name: str) -> cst.Call:
    """`name(node)`."""
    return cst.Call(cst.parse_expression(name), [cst.Arg(node)])
