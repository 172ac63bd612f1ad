"""From a name to its value: assignments, arguments and defaults, attributes, imports, returns."""

import libcst as cst
from libcst.metadata import Assignment, ImportAssignment

from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, argument, dotted_name, has_star, key_of, passed_argument

# What makes a tensor of something, and what gives the same samples.
MADE_OF = (
    "torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor", "torch.autograd.Variable",
    "numpy.array", "numpy.asarray",
)  # fmt: skip
KEPT = ("to", "float", "double", "astype", "type", "cuda", "cpu", "clone", "detach", "numpy", "contiguous")
DEEP = 12  # names followed from a use to its value, at most
Expression = tuple[Source, cst.CSTNode]


def resolve(project: Project, source: Source, node: cst.CSTNode) -> Expression:
    """The expression that a chain of names leads to, as far as it is certain."""
    here: Expression = (source, node)
    for _ in range(DEEP):
        further = follow(project, *here)
        if further is None:
            break
        here = further
    return here


def follow(project: Project, source: Source, node: cst.CSTNode) -> Expression | None:
    """One step: the value of a name, of an attribute, of a call of the project's own function, or of an entry
    of its `**options`. None where nothing or several things could be it."""
    if isinstance(node, cst.Name):
        return value_of_name(project, source, node)
    if isinstance(node, cst.Attribute):
        return attribute(project, source, node)
    if isinstance(node, cst.Call):
        return returned_value(project, source, node, None)
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name) and key_of(node):
        return gathered_option(project, source, node.value, key_of(node))
    return None


def gathered_option(project: Project, source: Source, options: cst.Name, key: str) -> Expression | None:
    """What a function gets for `key` where `options` is its parameter `**options`."""
    found = source.bindings(options)
    home = found[0].node if len(found) == 1 and isinstance(found[0], Assignment) else None
    param = home if isinstance(home, cst.Param) else source.parents.get(home) if home is not None else None
    if not isinstance(param, cst.Param) or param.star != "**":
        return None
    return parameter(project, source, param, key)


def value_of_name(project: Project, source: Source, node: cst.Name) -> Expression | None:
    """A name with one assignment: its value; a parameter: its argument or default; an imported one: the
    other file's."""
    found = source.bindings(node)
    if len(found) != 1:
        return None
    if isinstance(found[0], ImportAssignment):
        return imported_constant(project, source, found[0], node.value)
    if not isinstance(found[0], Assignment):
        return None
    home = found[0].node
    param = home if isinstance(home, cst.Param) else source.parents.get(home)
    return (
        parameter(project, source, param)
        if isinstance(param, cst.Param)
        else assigned_value(project, source, home)
    )


def assigned_value(project: Project, source: Source, target: cst.CSTNode) -> Expression | None:
    """What a target of an assignment gets: `a = 1`, `a: float = 1`, `a, b = 1, 2`, `a, b = make()`."""
    parent = source.parents.get(target)
    if isinstance(parent, cst.AnnAssign):
        return (source, parent.value) if parent.target is target and parent.value is not None else None
    if isinstance(parent, cst.AssignTarget):
        statement = source.parents[parent]
        return (source, statement.value) if isinstance(statement, cst.Assign) else None
    if not isinstance(parent, cst.Element):
        return None
    group = source.parents[parent]
    whole = assigned_value(project, source, group)
    if whole is None or not isinstance(group, (cst.Tuple, cst.List)):
        return None
    place = [element is parent for element in group.elements].index(True)
    if isinstance(whole[1], cst.Call):
        return returned_value(project, *whole, place)  # type: ignore[arg-type]
    return part(whole, place, len(group.elements))


def part(whole: Expression, place: int, count: int) -> Expression | None:
    """One element of a tuple that is written out, of so many."""
    if not isinstance(whole[1], (cst.Tuple, cst.List)) or len(whole[1].elements) != count:
        return None
    return whole[0], whole[1].elements[place].value


def returned_value(project: Project, source: Source, call: cst.Call, place: int | None) -> Expression | None:
    """What a function of the project returns, or one element of it; None where it returns in several
    places."""
    name = dotted_name(call.func)
    if not name or "." in name:
        return None
    functions = [
        (other, one)
        for other in project.sources
        for one in other.all(cst.FunctionDef)
        if one.name.value == name and other.function(one) is None and other.owner(one) is None
    ]
    if len(functions) != 1:
        return None
    other, function = functions[0]
    ends = [r for r in other.all(cst.Return) if other.function(r) is function]
    if len(ends) != 1 or ends[0].value is None:
        return None
    if place is None:
        return other, ends[0].value
    value = ends[0].value
    return part((other, value), place, len(value.elements)) if isinstance(value, cst.Tuple) else None


def imported_constant(
    project: Project, source: Source, found: ImportAssignment, name: str
) -> Expression | None:
    """The value of a constant that another file of the project holds."""
    if not isinstance(found.node, cst.ImportFrom) or isinstance(found.node.names, cst.ImportStar):
        return None
    module = "." * len(found.node.relative) + (dotted_name(found.node.module) if found.node.module else "")
    own_names = {
        dotted_name(a.asname.name) if a.asname else dotted_name(a.name): dotted_name(a.name)
        for a in found.node.names
    }
    return constant(project, project.file_of(module, source.path), own_names.get(name, name))


def constant(project: Project, path: str, name: str) -> Expression | None:
    """The value of a name that is assigned once at the top of a file."""
    source = next((s for s in project.sources if s.path == path), None)
    if source is None:
        return None
    targets = [t for t in top_level(source) if isinstance(t, cst.Name) and t.value == name]
    return assigned_value(project, source, targets[0]) if len(targets) == 1 else None


def top_level(source: Source) -> list[cst.CSTNode]:
    """The targets of all assignments at the top of a file."""
    targets: list[cst.CSTNode] = []
    for line in source.module.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Assign):
                for one in small.targets:
                    inner = one.target
                    group = inner.elements if isinstance(inner, (cst.Tuple, cst.List)) else ()
                    targets += [inner, *(e.value for e in group)]
            elif isinstance(small, cst.AnnAssign):
                targets.append(small.target)
    return targets


def parameter(project: Project, source: Source, param: cst.Param, key: str = "") -> Expression | None:
    """What a function gets for a parameter (`key`: for one of its `**options`): from its only call, or the
    default where no call passes it."""
    function = source.function(param)
    if function is None:
        return None
    owner = source.owner(function)
    method = owner is not None and source.function(function) is None
    starts = owner is not None and function.name.value == "__init__"
    name = owner.name.value if owner is not None and starts else function.name.value
    params = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    wanted = key or param.name.value
    place = params.index(wanted) - int(method) if wanted in params else None
    given: list[Expression] = []
    for other in project.sources:
        for call in other.calls():
            if dotted_name(call.func).rpartition(".")[2] != name:
                continue
            value = passed_argument(call, wanted, place)
            if value is not None:
                given.append((other, value))
            elif has_star(call):
                return None
    if not given:
        option = option_default(project, source, function, param)
        return option or ((source, param.default) if param.default is not None else None)
    ends = [resolve(project, *one) for one in given]
    return ends[0] if all(one[1] is ends[0][1] for one in ends) else None


def option_default(
    project: Project, source: Source, function: cst.FunctionDef, param: cst.Param
) -> Expression | None:
    """The default of the command-line option that fills a parameter (`@click.option("--lr", default=0.1)`). None where
    there is none, or the command line gives another value."""
    wanted = param.name.value
    for one in function.decorators:
        call = one.decorator
        if not isinstance(call, cst.Call) or not source.name(call.func).endswith("click.option"):
            continue
        words = [
            str(a.value.evaluated_value)
            for a in call.args
            if isinstance(a.value, cst.SimpleString) and not a.keyword
        ]
        names = [word.lstrip("-").partition("/")[0].replace("-", "_") for word in words]
        default = argument(call, "default")
        if wanted in names and default is not None:
            given = any(word.partition("=")[0] in words for word in project.arguments)
            return None if given else (source, default.value)
    return None


def attribute(project: Project, source: Source, node: cst.Attribute) -> Expression | None:
    """`self.lr`, Lightning's `self.hparams.lr`, and `constants.LR` of a module of the project."""
    base, name = dotted_name(node.value), node.attr.value
    owner = source.owner(node)
    if base == "self" and owner is not None:
        given = places_set(source, owner, name)
        return assigned_value(project, source, given[0]) if len(given) == 1 else None
    if base.endswith("hparams") and owner is not None:
        starts = [
            f for f in source.all(cst.FunctionDef) if f.name.value == "__init__" and source.owner(f) is owner
        ]
        params = [
            p for f in starts for p in (*f.params.params, *f.params.kwonly_params) if p.name.value == name
        ]
        return parameter(project, source, params[0]) if len(params) == 1 else None
    return constant(project, project.file_of(source.name(node.value), source.path), name) if base else None


def places_set(source: Source, owner: cst.ClassDef, name: str) -> list[cst.Attribute]:
    """The places where a class sets `self.name`."""
    return [
        target
        for target in source.all(cst.Attribute)
        if target.attr.value == name and dotted_name(target.value) == "self" and source.owner(target) is owner
        and isinstance(source.parents.get(target),
        (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Element))
    ]  # fmt: skip


def origin(
    project: Project, source: Source, node: cst.BaseExpression, place: cst.CSTNode
) -> cst.Name | None:
    """The name that exists before the place and that a tensor is made of: X of `torch.from_numpy(X)`."""
    for _ in range(DEEP):
        node = unwrap_tensor(source, node)
        name = indexed_name(node)
        if name is None or made_before(source, name, place):
            return name
        value = resolve(project, source, name)[1]
        if not isinstance(value, (cst.Call, cst.Subscript)):
            return name
        node = value
    return None


def unwrap_tensor(source: Source, node: cst.BaseExpression) -> cst.BaseExpression:
    """X of `Variable(torch.from_numpy(X).float())`."""
    while isinstance(node, cst.Call):
        if source.name(node.func) in MADE_OF and node.args and not node.args[0].star:
            node = node.args[0].value
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in KEPT:
            node = node.func.value
        else:
            break
    return node


def indexed_name(node: cst.BaseExpression) -> cst.Name | None:
    """The name of what is indexed: X of `X[:300]`. None of anything else."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def made_before(source: Source, name: cst.Name, loop: cst.CSTNode) -> bool:
    """Whether a name has all its values before a loop, in the same function."""
    made = source.bindings(name)
    nodes = [one.node for one in made if isinstance(one, Assignment)]
    here = all(
        source.function(node) is source.function(loop) and source.line(node) < source.line(loop)
        for node in nodes
    )
    return bool(nodes) and len(nodes) == len(made) and here
