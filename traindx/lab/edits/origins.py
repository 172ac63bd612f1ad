"""Where a value of the training comes from: the literal, constant, default or configuration that holds
it."""

import ast
import math
import operator
import posixpath
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from traindx.lab.edits import configs
from traindx.lab.edits.follow import DEEP, follow, places_set, resolve
from traindx.lab.edits.hydra import config_paths
from traindx.lab.edits.members import COPYING, NAMESPACES, PARSING, classes, members
from traindx.lab.edits.project import CONFIGS, Project
from traindx.lab.edits.source import Found, NotCertain, Source, argument, dotted_name, has_star, key_of

OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.FloorDivide: operator.floordiv,
    cst.Power: operator.pow,
}
LOADING = ("load", "loads", "safe_load", "full_load")  # yaml, json, toml, OmegaConf
ENVIRONMENT = ("os.getenv", "os.environ.get")
LARGEST = 2.0**63
PLAIN = ("int", "float", "str", "bool")


class Origin(NamedTuple):
    """`path`, and in it an expression (`source`, `node`) or an entry of a configuration (`keys`). `value` is
    what is written there, `options` the command-line options that would override it."""

    path: str
    value: Any
    source: Source | None = None
    node: cst.CSTNode | None = None
    keys: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def place(self) -> object:
        return self.node if self.node is not None else (self.path, self.keys)


class Value(NamedTuple):
    """What an expression comes to, and the place that can be changed. If `linear`, a change of the origin's
    value by a factor changes `value` by the same factor."""

    value: Any
    origin: Origin
    linear: bool = True


def trace(project: Project, source: Source, node: cst.CSTNode, depth: int = 0) -> Value | None:
    """Where the value of an expression comes from. None where that is not certain."""
    if depth > DEEP:
        return None
    literal = literal_of(source, node)
    if literal is not None:
        return Value(literal, Origin(source.path, literal, source, node))
    further = follow(project, source, node)
    if further is not None:
        return trace(project, *further, depth + 1)
    if isinstance(node, cst.Attribute) and (dotted_name(node.value) != "self" or is_own(source, node)):
        return member(project, source, (node.attr.value,), depth + 1, above=node.value)
    if isinstance(node, cst.Subscript):
        key = key_of(node)
        return member(project, source, (key,), depth + 1, above=node.value) if key else None
    if isinstance(node, cst.Call):
        return value_of_call(project, source, node, depth + 1)
    if isinstance(node, cst.BinaryOperation):
        return arithmetic_value(project, source, node, depth + 1)
    return None


def certain_value(
    project: Project, source: Source, node: cst.CSTNode, write: str, at: cst.CSTNode | None = None
) -> Value:
    """The number that an expression comes to, and the place that sets it. Raises NotCertain, for the node
    `at` (default: the expression), where either is not certain."""
    found = trace(project, source, node) or only_setting(project, node)
    if found is None or not found.linear or isinstance(found.value, (str, bool)):
        raise source.doubt(at or node, write, f"cannot tell where {source.code(node)} comes from")
    return found


def only_setting(project: Project, node: cst.CSTNode) -> Value | None:
    """The number of a configuration that has the name of an attribute or parameter, where only one has it:
    `self.alpha` of an object that some `KINDS[kind](**loaded)` made. Callers compare it with what was recorded."""
    name = node.attr.value if isinstance(node, cst.Attribute) else dotted_name(node)
    found = config_entries(project, (name,)) if name else []
    return found[0] if len(found) == 1 and type(found[0].value) in (int, float) else None


def entries_of(source: Source, name: str, within: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """The values of the key `name` in the dicts of an expression, such as the parameter groups of an
    optimizer."""
    found = [one for one in source.all(cst.DictElement) if within is not None and source.inside(one, within)]
    return [
        one.value for one in found
        if isinstance(one.key, cst.SimpleString) and one.key.evaluated_value == name
    ]  # fmt: skip


def is_close(a: float, b: float) -> bool:
    """Whether two numbers are equal but for the rounding of what was recorded."""
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def literal_of(source: Source, node: cst.CSTNode) -> Any:
    """The value of an expression of literals alone (numbers, strings, True and False), else None."""
    if isinstance(node, cst.Name) and node.value not in ("True", "False"):
        return None
    try:
        parsed = ast.parse(source.code(node).strip(), mode="eval").body
    except SyntaxError:
        return None
    if isinstance(parsed, ast.Constant) and isinstance(parsed.value, (int, float, str, bool)):
        return parsed.value
    if not (isinstance(parsed, ast.UnaryOp) and isinstance(parsed.op, (ast.USub, ast.UAdd))):
        return None
    value = parsed.operand.value if isinstance(parsed.operand, ast.Constant) else None
    if not isinstance(value, (int, float)):
        return None
    return -value if isinstance(parsed.op, ast.USub) else value


def arithmetic_value(
    project: Project, source: Source, node: cst.BinaryOperation, depth: int
) -> Value | None:
    """`a * 2`, `2 * a`, `a / 2`, `a ** 2` ...: the origin is the name in it, else the number on the left."""
    operation = OPERATIONS.get(type(node.operator))
    left, right = trace(project, source, node.left, depth), trace(project, source, node.right, depth)
    if operation is None or left is None or right is None:
        return None
    if not all(type(one.value) in (int, float) for one in (left, right)):
        return None
    try:
        if not abs(operation(float(left.value), float(right.value))) < LARGEST:
            return None  # the power of two large integers could take forever
        value = operation(left.value, right.value)
    except (ArithmeticError, TypeError):
        return None
    scale = isinstance(node.operator, (cst.Multiply, cst.Divide))
    plain = literal_of(source, node.left) is not None and literal_of(source, node.right) is None
    if plain:  # `2 * a`
        return Value(value, right.origin, right.linear and isinstance(node.operator, cst.Multiply))
    return Value(value, left.origin, left.linear and scale)


def value_of_call(project: Project, source: Source, node: cst.Call, depth: int) -> Value | None:
    """`float(x)`, `x.get("key", default)`, and the default of a variable of the environment."""
    name = source.name(node.func).removeprefix("builtins.")
    if name in ENVIRONMENT:
        return trace(project, source, node.args[1].value, depth) if len(node.args) == 2 else None
    if name in PLAIN and len(node.args) == 1 and node.args[0].keyword is None:
        inner = trace(project, source, node.args[0].value, depth)
        if inner is None:
            return None
        kinds: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}
        try:
            return inner._replace(value=kinds[name](inner.value))
        except (TypeError, ValueError, OverflowError):
            return None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "get" and node.args:
        key = node.args[0].value
        if isinstance(key, cst.SimpleString):
            found = member(project, source, (str(key.evaluated_value),), depth, above=node.func.value)
            if found is None and len(node.args) == 2:
                return trace(project, source, node.args[1].value, depth)
            return found
    return None


def is_own(source: Source, node: cst.Attribute) -> bool:
    """Whether `self.name` can only be a field of the class, because it is set nowhere else."""
    owner = source.owner(node)
    return owner is not None and not places_set(source, owner, node.attr.value)


def member(
    project: Project, source: Source, keys: tuple[str, ...], depth: int, above: cst.CSTNode | None = None
) -> Value | None:
    """A value that some object of options holds, where only one thing of this name in the project can be
    it."""
    keys, made, home = path_of(project, source, above, keys)
    given = value_in_call(project, home, made, keys, depth)
    if given is not None:
        return given
    maker = maker_of(project, made)
    if len(keys) > 1 and maker not in LOADING:
        maker = ""  # it made the outer object, and the inner one is unknown
    loaded = maker in LOADING
    options = (
        [] if loaded else [o for other in project.sources for o in members(project, other, keys[-1], maker)]
    )
    traced = [(trace(project, home, node, depth + 1), words) for home, node, words in options]
    if any(one is None for one, _ in traced):
        return None
    found = [
        one._replace(origin=one.origin._replace(options=words or one.origin.options))
        for one, words in traced
        if one
    ]
    found += config_entries(project, keys) if loaded or not maker else []
    places = {one.origin.place: one for one in found}
    only = next(iter(places.values())) if len(places) == 1 else None
    # An edit cannot change `lr: null` or a date of a configuration.
    return only if only is not None and isinstance(only.value, (int, float, str, bool)) else None


def value_in_call(
    project: Project, source: Source, made: cst.CSTNode | None, keys: tuple[str, ...], depth: int
) -> Value | None:
    """What the call that made an object of options gives it by this name: `replace(base, lr=1)`, or a configuration
    in `Config(**loaded)` and in `parser.set_defaults(**loaded)`, which go before the defaults."""
    if not isinstance(made, cst.Call) or depth > DEEP:
        return None
    if is_copy(source, made):
        arg = argument(made, keys[0])
        return trace(project, source, arg.value, depth + 1) if arg is not None and len(keys) == 1 else None
    calls = [Found(source, made)]
    if dotted_name(made.func).rpartition(".")[2] in PARSING:
        calls += project.methods("set_defaults")
    for other, call in calls:
        packed = [one.value for one in call.args if one.star == "**"]
        if len(packed) == 1 and argument(call, keys[0]) is None:
            below, inner, _ = path_of(project, other, packed[0], keys)
            if maker_of(project, inner) in LOADING and (found := config_entries(project, below)):
                return found[0] if len(found) == 1 else None
    return None


def is_copy(source: Source, made: cst.CSTNode) -> bool:
    """Whether a call makes a copy of its first argument in which some fields are others."""
    if (
        not isinstance(made, cst.Call)
        or not made.args
        or made.args[0].keyword is not None
        or made.args[0].star
    ):
        return False
    return source.name(made.func) in COPYING


def path_of(
    project: Project, source: Source, node: cst.CSTNode | None, keys: tuple[str, ...]
) -> tuple[tuple[str, ...], cst.CSTNode | None, Source]:
    """The keys from the outermost object of options on, what made that object, and where."""
    while node is not None:
        if isinstance(node, (cst.Subscript, cst.Attribute)) and dotted_name(node) != "self":
            key = key_of(node) if isinstance(node, cst.Subscript) else node.attr.value
            if not key:
                break
            keys, node = (key, *keys), node.value
            continue
        if isinstance(node, cst.Call) and is_copy(source, node) and argument(node, keys[0]) is None:
            node = node.args[0].value
            continue
        func = node.func if isinstance(node, cst.Call) and not node.args else None
        if isinstance(func, cst.Attribute) and func.attr.value == "copy":
            node = func.value
            continue
        home, made = resolve(project, source, node)
        if made is node:
            break
        source, node = home, made
    return keys, node, source


def maker_of(project: Project, made: cst.CSTNode | None) -> str:
    """What made an object of options, where known: a parser of arguments or of files, a class of the
    project, a namespace."""
    func = made.func if isinstance(made, cst.Call) else None
    name = (
        func.attr.value if isinstance(func, cst.Attribute) else dotted_name(func) if func is not None else ""
    )
    if name in LOADING:
        return name
    plain = isinstance(made, cst.Call) and not has_star(made)
    return name if plain and name in (*PARSING, *NAMESPACES, *classes(project)) else ""


def overriding_option(project: Project, found: Origin) -> str:
    """The option by which the command line sets a value, "" where it does not."""
    given = (word.partition("=")[0] for word in project.arguments)
    return next((word for word in given if word in found.options), "")


def config_entries(project: Project, keys: tuple[str, ...]) -> list[Value]:
    """The entries that end with these keys, in configuration files that the sources or the command name.
    Without such entries, fewer of the keys count (`cfg.lr` of a part that has its own name)."""
    found: list[Value] = []
    for path, text in project.files.items():
        if not path.endswith(CONFIGS) or not is_named(project, path):
            continue
        document = configs.parse(path, text)
        for count in range(len(keys), 0, -1):
            there = configs.entries_ending_with(document, keys[-count:])
            if there:
                found += [entry(path, document, keys, *one) for one in there]
                break
    return found


def entry(path: str, document: Any, keys: tuple[str, ...], at: tuple[str, ...], value: Any) -> Value:
    """A value of a configuration that a command line may override by its keys, or the entry that it refers to."""
    options = tuple({".".join(keys), ".".join(at)})
    at, value = configs.follow_reference(document, at, value)
    return Value(number(value), Origin(path, number(value), keys=at, options=(*options, ".".join(at))))


def number(value: Any) -> Any:
    """The number that a word spells: YAML 1.1 reads "1e-3" as a word."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def is_named(project: Project, path: str) -> bool:
    """Whether the sources or the command mention a file."""
    base = posixpath.basename(path)
    texts = [str(s.evaluated_value) for source in project.sources for s in source.all(cst.SimpleString)]
    named = any(one == path or posixpath.basename(one) == base for one in (*texts, *project.arguments))
    return named or path in config_paths(project)


def write_value(project: Project, found: Origin, value: float | int | str | bool, why: str) -> None:
    """Write another value in place of one. Raises NotCertain where the command line overrides it."""
    text = words_of(value)
    line = found.source.line(found.node) if found.source is not None and found.node is not None else 0
    if isinstance(value, float) and not math.isfinite(value):  # of a number that no float holds
        raise NotCertain(f"{why} {value}", "the number there is out of range", found.path, line)
    given = overriding_option(project, found)
    if given:
        raise NotCertain(f"{given} {text} in the command", "the command line sets it", found.path, line)
    if found.source is not None and found.node is not None:
        if found.node in found.source.changes:
            return  # several uses of one value
        old = found.source.code(found.node)
        found.source.replace(found.node, text)
    else:
        old = str(found.value)
        new = configs.replace_value(
            found.path, project.configs.get(found.path, project.files[found.path]), found.keys, text
        )
        if new is None:
            raise NotCertain(
                f"{'.'.join(found.keys)}: {text}", "cannot tell which entry of the file it is", found.path
            )
        line = configs.line_of(found.path, project.files[found.path], found.keys)
        project.configs[found.path] = new
    project.say(found.path, line, f"{why}: {old} becomes {text}")


def words_of(value: float | int | str | bool) -> str:
    """A value as Python, YAML, JSON and TOML all write it (strings in double quotes, floats with a
    point)."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, int):
        return str(value)
    mantissa, exponent, power = f"{value:.10g}".partition("e")
    mantissa += "" if "." in mantissa else ".0"
    return f"{mantissa}e{int(power)}" if exponent else mantissa
