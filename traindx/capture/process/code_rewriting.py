"""The code of a function with two more calls in it: one as it is entered, one with what it returns.

A wrapper in a function's place is another object: who compares functions sees it, who pickles or compiles
them takes it along, and each call has one more frame in tracebacks. A function that is given other code
stays the same function, with its name, file and lines, and is given back its own later."""

import ast
import copy
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

MARK = "traindx listens here"  # a placeholder for the listener until the code is made
RESULT = "_returned"


class Listener(Protocol):
    """Receives calls. `in` asks whether an object's id is one of those that are listened to."""

    def __contains__(self, key: object, /) -> bool:
        """Whether the object with this id is listened to."""

    def before(self, owner: Any, args: tuple[Any, ...], named: dict[str, Any], /) -> None:
        """The function is entered."""

    def after(self, owner: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any, /) -> None:
        """The function returns `result`."""


class NotRecodable(Exception):
    """The function's source is not available, or it does not take an object and arbitrary arguments."""


def add_listener(
    function: Callable[..., Any], listener: Listener, unless: str, everyone: bool = False
) -> CodeType:
    """The code of a method `(self, *args, **named)` that reports to the listener the calls of those objects
    whose id is in it, or of all. `unless`: an expression, in the function's own names, under which nothing
    is reported (and which a compiler may take for a constant). Raises NotRecodable."""
    tree, method = parse_function(function)
    changed = [Answers(method).visit(copy.deepcopy(statement)) for statement in method.body]
    changed = [part for found in changed for part in (found if isinstance(found, list) else [found])]
    owner, args, named = names_of(method)
    asked = f"not {unless}" if everyone else f"not {unless} and id({owner}) in {MARK!r}"
    condition = ast.parse(asked, mode="eval").body
    begin = ast.parse(f"{MARK!r}.before({owner}, {args}, {named})").body
    method.decorator_list = []
    method.body = [ast.If(condition, [*begin, *changed], []), *method.body]
    for node in (condition, *begin):
        for part in ast.walk(node):
            ast.copy_location(part, method.body[1])
    ast.fix_missing_locations(tree)
    code = inner_code(compile(tree, function.__code__.co_filename, "exec"), function.__code__.co_name)
    return code.replace(
        co_consts=tuple(listener if constant == MARK else constant for constant in code.co_consts),
        co_firstlineno=function.__code__.co_firstlineno,
        co_qualname=function.__code__.co_qualname,
    )


def parse_function(function: Callable[..., Any]) -> tuple[ast.Module, ast.FunctionDef]:
    """The syntax of a function, its lines and columns those of its file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise NotRecodable(str(error)) from error
    tree = ast.parse("if True:\n" + "".join(lines) if lines[0][:1].isspace() else "\n" + "".join(lines))
    ast.increment_lineno(tree, first - 2)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    if not found or found[0].name != function.__code__.co_name or function.__code__.co_freevars:
        raise NotRecodable(f"{function.__code__.co_name} is not a plain method")
    return tree, found[0]


def names_of(method: ast.FunctionDef) -> tuple[str, str, str]:
    """What a method calls its object, its arguments and its named arguments."""
    given = method.args
    if len(given.args) != 1 or given.vararg is None or given.kwarg is None or given.kwonlyargs:
        raise NotRecodable(f"{method.name} takes other arguments")
    return given.args[0].arg, given.vararg.arg, given.kwarg.arg


class Answers(ast.NodeTransformer):
    """Reports to the listener what is returned."""

    def __init__(self, method: ast.FunctionDef) -> None:
        self.names = names_of(method)

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        keep = ast.Assign([ast.Name(RESULT, ast.Store())], node.value or ast.Constant(None))
        tell, give = ast.parse(f"{MARK!r}.after({', '.join(self.names)}, {RESULT})\nreturn_ = {RESULT}").body
        assert isinstance(give, ast.Assign)
        made = [keep, tell, ast.Return(give.value)]
        for part in (keep, *ast.walk(tell), made[2], give.value):
            ast.copy_location(part, node)
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # what it returns is no answer of the method


def inner_code(code: CodeType, name: str) -> CodeType:
    return next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
