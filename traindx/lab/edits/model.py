"""The parts of a model in its source: layers in sequences, and calls in forward passes."""

from collections.abc import Iterator

import libcst as cst

from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, assigned_name, dotted_name, has_star

LAYERS = (
    "Linear",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "LazyLinear",
    "Bilinear",
    "ConvTranspose2d",
    "ConvTranspose1d",
)
SEQUENTIAL = "torch.nn.Sequential"
Elements = list[tuple[cst.Call, str]]  # (the call that makes a module, its kind: "Linear")


def kind(source: Source, node: cst.CSTNode) -> str:
    """ "Linear" of `nn.Linear(...)`, "" of anything that is not a module of torch.nn."""
    name = source.name(node.func) if isinstance(node, cst.Call) else ""
    rest = name.removeprefix("torch.nn.")
    return rest if name.startswith("torch.nn.") and "." not in rest and rest[:1].isupper() else ""


def sequences(project: Project) -> Iterator[tuple[Source, cst.Call, Elements]]:
    """Every `nn.Sequential(...)` that is written out, with its modules ("" for those of other makers)."""
    for source, call in project.calls(SEQUENTIAL):
        if not has_star(call):
            args = [arg.value for arg in call.args]
            yield source, call, [(a, kind(source, a)) for a in args if isinstance(a, cst.Call)]


def modules(project: Project, *kinds: str) -> list[Found]:
    """The calls that make such modules."""
    return [one for one in project.calls() if kind(*one) in kinds]


def in_sequence(source: Source, call: cst.Call) -> cst.Call | None:
    """The sequence that a module is in."""
    parent = source.parents.get(call)
    outer = source.parents.get(parent) if isinstance(parent, cst.Arg) else None
    return outer if isinstance(outer, cst.Call) and source.name(outer.func) == SEQUENTIAL else None


def is_hidden(source: Source, call: cst.Call) -> bool:
    """Whether a module is in a sequence with a layer after it, in the sequence or after it."""
    outer = in_sequence(source, call)
    if outer is None:
        return False
    places = [arg.value is call for arg in outer.args]
    after = outer.args[places.index(True) + 1 :]
    if any(kind(source, one) in LAYERS for arg in after for one in leaf_nodes(arg.value)):
        return True
    uses = uses_of(source, outer)
    return is_hidden(source, outer) or (bool(uses) and all(feeds_layer(source, use) for use in uses))


def uses_of(source: Source, call: cst.Call) -> list[cst.Call]:
    """The calls of the member that a module is assigned to: `self.body(...)`."""
    name = assigned_name(source.parents.get(call))
    owner = source.owner(call)
    if not name.startswith("self."):
        return []
    return [one for one in source.calls() if dotted_name(one.func) == name and source.owner(one) is owner]


def forward_of(source: Source, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The forward pass that a node is in, of a class of the project."""
    function = source.function(node)
    if function is None or function.name.value != "forward" or source.owner(function) is None:
        return None
    return function


def feeds_layer(source: Source, node: cst.Call) -> bool:
    """Whether the result of a call in a forward pass reaches a layer: `self.fc2(relu(...))`, or by way of a
    name that a later call of a member takes."""
    forward = forward_of(source, node)
    if forward is None:
        return False
    for outer in source.ancestors(node):
        if isinstance(outer, cst.Call) and dotted_name(outer.func).startswith("self."):
            return True
        if isinstance(outer, (cst.BinaryOperation, cst.Return, cst.Comparison)):
            return False
        if isinstance(outer, cst.Assign):
            names = [dotted_name(t.target) for t in outer.targets]
            return any(used_later(source, forward, outer, name) for name in names if name)
    return False


def used_later(source: Source, forward: cst.FunctionDef, after: cst.CSTNode, name: str) -> bool:
    """Whether a member is called with this name after a statement, before the name gets another value."""
    for call in source.calls():
        later = source.line(call) > source.line(after) and source.function(call) is forward
        taken = (n for a in call.args for n in leaf_nodes(a) if isinstance(n, cst.Name))
        if later and dotted_name(call.func).startswith("self.") and any(n.value == name for n in taken):
            return True
    return False


def leaf_nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from leaf_nodes(child)


def insert_behind(sequence: cst.Call, code: str, new: str) -> cst.Call:
    """A sequence with the module `new` after the first module that reads `code` and does not have it yet."""
    written, args = cst.Module([]).code_for_node, list(sequence.args)
    for i, arg in enumerate(args[:-1]):
        if written(arg.value) == code and written(args[i + 1].value) != new:
            args.insert(i + 1, arg.with_changes(value=cst.parse_expression(new)))
            break
    return sequence.with_changes(args=args)
