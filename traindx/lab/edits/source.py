"""One parsed Python file: its names, positions and parents, and the changes to make in it."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeVar

import libcst as cst
from libcst.metadata import (
    BaseAssignment,
    CodeRange,
    MetadataWrapper,
    PositionProvider,
    Scope,
    ScopeProvider,
)

from traindx.lab.edits.applied import Applied, Change
from traindx.vocabulary.edit import Advice

INSTANTIATE = "instantiate"
BOM = "\ufeff"  # some editors on Windows start UTF-8 files with it
GONE = "traindx_removed_statement"  # replaces a removed statement until the text is made
Node = TypeVar("Node", bound=cst.CSTNode)
Small = cst.BaseSmallStatement


class NotCertain(Exception):
    """An edit is not certain to do what it should. Holds what a person should write instead."""

    def __init__(self, write: str, why: str, file: str = "", line: int = 0) -> None:
        super().__init__(why)
        self.advice = Advice(file=file, line=line, write=write, why=why)


class Source:
    """A parsed file. Raises libcst.ParserSyntaxError where the text is not valid Python.

    Whatever changes it takes what it `says` about the change, of the line `at` which a person would look for
    it (default: that of the changed node). `words` collects it, in the order of the changes; the sources of a
    project share one list. A change that is part of another says nothing."""

    def __init__(self, path: str, text: str, words: list[str] | None = None) -> None:
        self.path, self.text = path, text
        self.words = [] if words is None else words
        self.mark = BOM if text.startswith(BOM) else ""  # LibCST drops it
        # The parser uses no node twice, so the wrapper needs no copy of the tree. The copy took half of the
        # time.
        self.wrapper = MetadataWrapper(cst.parse_module(text.removeprefix(BOM)), unsafe_skip_copy=True)
        self.module = self.wrapper.module
        self.changes: dict[cst.CSTNode, list[Change]] = {}
        self.before: dict[cst.CSTNode, list[str]] = {}
        self.after: dict[cst.CSTNode, list[str]] = {}
        self.nodes: list[cst.CSTNode] = []  # in the order of the text
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:  # `children` is slow, so it is read once for each node
            self.nodes.append(node := waiting.pop())
            children = node.children
            self.parents.update(dict.fromkeys(children, node))
            waiting += reversed(children)

    @cached_property
    def places(self) -> Mapping[cst.CSTNode, CodeRange]:
        return self.wrapper.resolve(PositionProvider)

    @cached_property
    def names(self) -> dict[cst.CSTNode, str]:
        """The full name of what each name or attribute refers to ("torch.optim.SGD"), where imports show
        it."""
        names: dict[cst.CSTNode, str] = {}
        for node in self.nodes:
            scope = self.scopes.get(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
            if scope is not None and (found := scope.get_qualified_names_for(node)):
                names[node] = min(one.name for one in found)
        return names

    @cached_property
    def scopes(self) -> dict[cst.CSTNode, Scope | None]:
        return dict(self.wrapper.resolve(ScopeProvider))

    def bindings(self, name: cst.Name) -> list[BaseAssignment]:
        """What gives a name its values: assignments, imports, loops and parameters."""
        scope = self.scopes.get(name)
        return list(scope[name.value]) if scope is not None and name.value in scope else []

    def all(self, kind: type[Node]) -> Iterator[Node]:
        return (node for node in self.nodes if isinstance(node, kind))

    def calls(self, *names: str) -> list[cst.Call]:
        """Calls of functions with one of these full names; all calls without a name."""
        return [call for call in self.all(cst.Call) if not names or self.name(call.func) in names]

    def methods(self, *names: str) -> list[cst.Call]:
        """Calls `something.name(...)`."""
        return [
            call
            for call in self.all(cst.Call)
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in names
        ]

    def name(self, node: cst.CSTNode) -> str:
        """The full name, else the dotted one as written, else ""."""
        return self.names.get(node, "") or dotted_name(node)

    def code(self, node: cst.CSTNode) -> str:
        return self.module.code_for_node(node).strip()

    def how_written(self, full: str, *homes: str) -> str:
        """How this file can write `full` ("torch.nn.init"), by the first of the modules `homes` that it
        imports under another name; "" where it imports none."""
        aliases: dict[str, str] = {}
        for node, name in self.names.items():
            if isinstance(node, cst.Name):
                aliases.setdefault(name, node.value)
        home = next((one for one in homes if one in aliases), "")
        return aliases[home] + full.removeprefix(home) if home else ""

    def line(self, node: cst.CSTNode) -> int:
        """The line of a node (from 1); of one that an edit made up, the line of its first part."""
        while node not in self.places:
            node = node.children[0]
        return int(self.places[node].start.line)

    def doubt(self, node: cst.CSTNode, write: str, why: str) -> NotCertain:
        """That an edit of a node is not certain, to be raised: what a person should write, and why."""
        return NotCertain(write, why, self.path, self.line(node))

    def covers(self, node: cst.CSTNode, line: int) -> bool:
        place = self.places[node]
        return bool(place.start.line <= line <= place.end.line)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def inside(self, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
        return outer is node or any(one is outer for one in self.ancestors(node))

    def small(self, node: cst.CSTNode) -> Small | None:
        """The simple statement that a node is part of, or is."""
        return next((one for one in (node, *self.ancestors(node)) if isinstance(one, Small)), None)

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        return next((one for one in self.ancestors(node) if isinstance(one, cst.FunctionDef)), None)

    def owner(self, node: cst.CSTNode) -> cst.ClassDef | None:
        return next((one for one in self.ancestors(node) if isinstance(one, cst.ClassDef)), None)

    def loops(self, node: cst.CSTNode) -> list[cst.For | cst.While]:
        """The loops around a node within its function, innermost first."""
        found: list[cst.For | cst.While] = []
        for one in self.ancestors(node):
            if isinstance(one, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(one, (cst.For, cst.While)):
                found.append(one)
        return found

    def alone(self, small: cst.CSTNode) -> bool:
        """Whether a simple statement is the only one on its line."""
        line = self.parents[small]
        return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1

    def say(self, node: cst.CSTNode, what: str) -> None:
        if what:
            self.words.append(f"{self.path}:{self.line(node)}: {what}")

    def change(
        self,
        node: Node,
        change: Callable[[Node], cst.CSTNode],
        says: str = "",
        at: cst.CSTNode | None = None,
    ) -> None:
        self.changes.setdefault(node, []).append(change)  # type: ignore[arg-type]
        self.say(at or node, says)

    def replace(self, node: cst.CSTNode, code: str, says: str = "", at: cst.CSTNode | None = None) -> None:
        """Write another expression in place of this one."""
        new = cst.parse_expression(code, config=self.module.config_for_parsing)
        self.change(node, lambda _: new, says, at)

    def rename(self, name: cst.Attribute, last: str, says: str = "", at: cst.CSTNode | None = None) -> None:
        """Write another last part of a dotted name."""
        self.change(name, lambda node: node.with_changes(attr=cst.Name(last)), says, at)

    def set_argument(
        self,
        call: cst.Call,
        name: str,
        code: str,
        says: str = "",
        place: int | None = None,
        at: cst.CSTNode | None = None,
    ) -> None:
        """Let a call pass this for an argument, as a new one or in place of what it passes. Changes nothing where
        it does already."""
        given = argument(call, name, place)
        if given is None:
            self.change(call, lambda node: with_argument(node, name, code), says, at)
        elif self.code(given.value) != code:
            self.replace(given.value, code, says, at or call)

    def insert_before(
        self, statement: cst.CSTNode, *lines: str, says: str = "", at: cst.CSTNode | None = None
    ) -> None:
        self.before.setdefault(statement, []).extend(lines)
        self.say(at or statement, says)

    def insert_after(
        self, statement: cst.CSTNode, *lines: str, says: str = "", at: cst.CSTNode | None = None
    ) -> None:
        self.after.setdefault(statement, []).extend(lines)
        self.say(at or statement, says)

    def remove(self, small: Small, says: str = "", at: cst.CSTNode | None = None) -> None:
        """Remove a simple statement. The comments above it stay, and a block that would be empty gets
        `pass`."""
        block = self.parents[self.parents[small]]
        only = isinstance(block, cst.IndentedBlock) and len(block.body) == 1
        gone = cst.Pass() if only or not self.alone(small) else cst.Expr(cst.Name(GONE))
        self.change(small, lambda _: gone, says, at)

    @property
    def edited(self) -> str:
        """The text with all changes made."""
        if not (self.changes or self.before or self.after):
            return self.text
        applied = Applied(self.changes, self.before, self.after, self.module.config_for_parsing)
        code = self.module.visit(applied).code
        return self.mark + re.sub(rf"^[ \t]*{GONE}[^\n]*\n", "", code, flags=re.MULTILINE)


class Found(NamedTuple):
    """A call, and the file that it is in."""

    source: Source
    call: cst.Call

    @property
    def line(self) -> int:
        return self.source.line(self.call)

    @property
    def kind(self) -> str:
        """ "SGD" of `torch.optim.SGD(...)`."""
        return self.source.name(self.call.func).rpartition(".")[2]

    @property
    def target(self) -> str:
        """ "self.optim" where the call is assigned to that; "" where it is not assigned."""
        parent = self.source.parents.get(self.call)
        return dotted_name(parent.target) if isinstance(parent, cst.AnnAssign) else assigned_name(parent)

    def doubt(self, write: str, why: str) -> NotCertain:
        """That an edit of this call is not certain, to be raised."""
        return self.source.doubt(self.call, write, why)

    def statement(self, write: str, what: str) -> cst.BaseSmallStatement:
        """The statement that this call (`what`: "the step") makes up alone. Raises NotCertain for a part of
        one."""
        if not isinstance(self.small, cst.Expr):
            raise self.doubt(write, f"{what} is part of a larger statement")
        return self.small

    @property
    def small(self) -> cst.BaseSmallStatement:
        small = self.source.small(self.call)
        if small is None:
            raise self.doubt("(nothing)", "the call is not part of a simple statement")
        return small

    def argument(self, name: str, place: int | None = None) -> cst.BaseExpression | None:
        return passed_argument(self.call, name, place)


def dotted_name(node: cst.CSTNode) -> str:
    """ "self.optim" of such an expression; "" of any other."""
    if isinstance(node, cst.Name):
        return str(node.value)
    if isinstance(node, cst.Attribute):
        base = dotted_name(node.value)
        return f"{base}.{node.attr.value}" if base else ""
    return ""


def assigned_name(statement: cst.CSTNode | None) -> str:
    """ "x" of the statement `x = ...`; "" of any other."""
    return dotted_name(statement.targets[0].target) if isinstance(statement, cst.Assign) else ""


def argument(call: cst.Call, name: str, place: int | None = None) -> cst.Arg | None:
    """The argument with this name, or at this position (from 0) where it is positional."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    plain = [arg for arg in call.args if arg.keyword is None]
    if place is None or not 0 <= place < len(plain) or any(arg.star for arg in plain[: place + 1]):
        return None
    return plain[place]


def passed_argument(call: cst.Call, name: str, place: int | None = None) -> cst.BaseExpression | None:
    """What a call passes for an argument. For one that only its `**options` can hold (or the configuration of Hydra's
    `instantiate`), the expression `options["name"]`, which is not in the text."""
    configured = dotted_name(call.func).rpartition(".")[2] == INSTANTIATE and bool(call.args)
    arg = argument(call, name, None if configured else place)
    packed = [call.args[0].value] if configured else [one.value for one in call.args if one.star == "**"]
    if arg is not None or len(packed) != 1:
        return arg.value if arg is not None else None
    return cst.Subscript(packed[0], [cst.SubscriptElement(cst.Index(cst.SimpleString(f'"{name}"')))])


def key_of(node: cst.Subscript) -> str:
    """The key of `x["key"]`; "" for other subscripts."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    inner = index.value if isinstance(index, cst.Index) else None
    return str(inner.evaluated_value) if isinstance(inner, cst.SimpleString) else ""


def has_star(call: cst.Call) -> bool:
    return any(arg.star for arg in call.args)


def with_argument(call: cst.Call, name: str, code: str) -> cst.Call:
    """The call with one more keyword argument, formatted like the existing ones."""
    new = cst.Arg(
        value=cst.parse_expression(code),
        keyword=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    if not call.args:
        return call.with_changes(args=[new])
    *rest, last = call.args
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if isinstance(last.comma, cst.Comma):  # a trailing comma stays one
        new = new.with_changes(comma=last.comma)
        if rest and isinstance(rest[-1].comma, cst.Comma):
            between = rest[-1].comma
    return call.with_changes(args=[*rest, last.with_changes(comma=between), new])


def without_argument(call: cst.Call, name: str) -> cst.Call:
    kept = [arg for arg in call.args if arg.keyword is None or arg.keyword.value != name]
    if kept and len(kept) < len(call.args) and kept[-1] is not call.args[-1]:
        kept[-1] = kept[-1].with_changes(comma=call.args[-1].comma)
    return call.with_changes(args=kept)
