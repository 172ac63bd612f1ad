"""Options of a training by name: arguments' defaults, fields of classes, entries of dicts, and
assignments."""

import libcst as cst

from traindx.lab.edits.follow import Expression, assigned_value
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, argument, dotted_name

NAMESPACES = ("SimpleNamespace", "Namespace", "dict", "EasyDict", "DotDict", "AttrDict", "Munch", "Box")
COPYING = (
    "dataclasses.replace", "attr.evolve", "attrs.evolve", "copy.replace", "copy.copy", "copy.deepcopy", "builtins.dict",
)  # fmt: skip
ADDING, PARSING = ("add_argument", "add_option"), ("parse_args", "parse_known_args")
# Where its value is written, and what sets it on a command line.
Option = tuple[Source, cst.CSTNode, tuple[str, ...]]


def members(project: Project, source: Source, name: str, maker: str = "") -> list[Option]:
    """What in a file could be an option of this name. `maker`: what made the object that holds it, where
    that is known ("parse_args", a class of the project, "SimpleNamespace"). Then nothing else could be
    it."""
    values: list[Option] = []
    makers = {maker} if maker else {*NAMESPACES, *classes(project)}
    for call in source.calls():
        function = dotted_name(call.func).rpartition(".")[2]
        if function in ADDING and option_name(call) == name and maker in ("", *PARSING):
            default = argument(call, "default")
            if default is not None:
                values.append((source, default.value, options(call)))
        elif function in makers and (given := argument(call, name)) is not None:
            values.append((source, given.value, ()))
    values += [
        (source, entry.value, ())
        for entry in source.all(cst.DictElement)
        if isinstance(entry.key, cst.SimpleString) and entry.key.evaluated_value == name and not maker
    ]
    fields = [one for one in source.all(cst.Name) if one.value == name and is_field(source, one, maker)]
    if not values:
        values += [
            option for target in fields for option in as_option(assigned_value(project, source, target))
        ]
    if not maker:  # it could be the copy, or what it is a copy of
        copies = source.calls(*COPYING)
        values += [
            (source, given.value, ()) for call in copies if (given := argument(call, name)) is not None
        ]
    for outside in source.all(cst.Attribute):
        if outside.attr.value == name and dotted_name(outside.value) != "self":
            values += as_option(assigned_value(project, source, outside))
    return values


def as_option(found: Expression | None) -> list[Option]:
    return [(*found, ())] if found is not None else []


def classes(project: Project) -> set[str]:
    """The project's classes with fields."""
    return {c.name.value for s in project.sources for c in s.all(cst.ClassDef) if has_fields(c)}


def has_fields(found: cst.ClassDef) -> bool:
    lines = [line for line in found.body.body if isinstance(line, cst.SimpleStatementLine)]
    return any(isinstance(line.body[0], cst.AnnAssign) for line in lines)


def is_field(source: Source, target: cst.Name, maker: str) -> bool:
    """Whether a name is assigned in the body of a class (that of the maker, where it is known)."""
    owner = source.owner(target)
    if owner is None or source.function(target) is not None or (maker and owner.name.value != maker):
        return False
    return isinstance(source.parents.get(target), (cst.AssignTarget, cst.AnnAssign))


def options(call: cst.Call) -> tuple[str, ...]:
    """The option strings of an add_argument."""
    given = [arg.value for arg in call.args if arg.keyword is None]
    return tuple(str(one.evaluated_value) for one in given if isinstance(one, cst.SimpleString))


def option_name(call: cst.Call) -> str:
    """The attribute that an add_argument fills."""
    dest = argument(call, "dest")
    if dest is not None and isinstance(dest.value, cst.SimpleString):
        return str(dest.value.evaluated_value)
    words = options(call)
    long = [word for word in words if word.startswith("--")] or list(words)
    return long[0].lstrip("-").replace("-", "_") if long else ""
