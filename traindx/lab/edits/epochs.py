"""The loop of epochs, and what is known at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, dotted
from traindx.lab.edits.training import backwards

HELD, MEAN = "val|valid|validation|test|eval|dev|v", "avg|mean|average|epoch|total|running"
VALIDATION = re.compile(
    rf"(({MEAN})_)?({HELD})_?loss(_({MEAN}))?|(({MEAN})_)?loss_?({HELD})|({HELD})_({MEAN})_loss",
    re.IGNORECASE,
)
SCORE = re.compile(
    rf"(({MEAN})_)?({HELD})_?(acc|accuracy|f1|auc|iou|dice|r2)|(acc|accuracy|f1|auc)_?({HELD})",
    re.IGNORECASE,
)
UNKNOWN = "after the validation of each epoch", "cannot tell which name holds the validation loss"
LABEL = re.compile(
    r"([A-Za-z][A-Za-z _./-]*?)\s*[:=]?\s*$"
)  # the words in front of a number that is printed


class Measured(NamedTuple):
    """What a validation gives at the end of an epoch, as code, whether it should be high, and where it is."""

    code: str
    higher: bool
    at: cst.CSTNode


def epochs(project: Project) -> tuple[Source, cst.For]:
    """The outermost loop of the training. Where the loop of batches is in a separate function, the loop that
    calls it. Raises NotCertain where there is not exactly one."""
    found: list[tuple[Source, cst.For]] = []
    for back in backwards(project):
        loops = [one for one in back.source.loops(back.call) if isinstance(one, cst.For)]
        function = back.source.function(back.call)
        outer = called_in_loop(project, function.name.value) if function is not None else None
        if outer is not None:
            found.append(outer)
        elif loops:
            found.append((back.source, loops[-1]))
    if len({id(loop) for _, loop in found}) != 1:
        raise project.doubt("the change goes to the loop of epochs", "cannot tell which loop that is")
    return found[0]


def called_in_loop(project: Project, name: str) -> tuple[Source, cst.For] | None:
    """The outermost loop around the only call of a function."""
    calls = [(s, c) for s in project.sources for c in s.calls() if dotted(c.func).rpartition(".")[2] == name]
    if len(calls) != 1:
        return None
    source, call = calls[0]
    loops = [one for one in source.loops(call) if isinstance(one, cst.For)]
    return (source, loops[-1]) if loops else None


def validation_loss(source: Source, loop: cst.For) -> tuple[str, cst.BaseSmallStatement]:
    """The name that holds the validation loss at the end of an epoch, and the statement that assigns it.
    Raises NotCertain where there is not one."""
    found = {code: at for name, code, at in assigned(source, loop) if VALIDATION.fullmatch(name)}
    if len(found) != 1:
        raise source.doubt(loop, *UNKNOWN)
    return next(iter(found.items()))


def validation(source: Source, loop: cst.For) -> Measured:
    """The validation loss, or else a score, that an epoch assigns to a name or prints under one. Raises
    NotCertain where there is none."""
    found = [*assigned(source, loop), *printed(source, loop)]
    for pattern in (VALIDATION, SCORE):
        named = [(code, at) for name, code, at in found if pattern.fullmatch(name)]
        if named:
            return Measured(named[-1][0], pattern is SCORE, named[-1][1])
    raise source.doubt(loop, *UNKNOWN)


def assigned(source: Source, loop: cst.For) -> Iterator[tuple[str, str, cst.BaseSmallStatement]]:
    """The names that an epoch assigns in the body of its loop: name, code, statement."""
    for line in loop.body.body:
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        inner = [small] if small is not None else smalls(line) if isinstance(line, cst.With) else []
        for one in inner:
            targets = [t.target for t in one.targets] if isinstance(one, cst.Assign) else []
            targets += [one.target] if isinstance(one, cst.AugAssign) else []
            for target in targets:
                parts = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
                yield from ((dotted(p).rpartition(".")[2], dotted(p), one) for p in parts if dotted(p))


def printed(source: Source, loop: cst.For) -> Iterator[tuple[str, str, cst.CSTNode]]:
    """The expressions that an epoch writes after a label into a text, in the body of its loop."""
    for text in source.all(cst.FormattedString):
        if source.loops(text)[:1] != [loop]:
            continue
        for before, part in pairwise(text.parts):
            if isinstance(before, cst.FormattedStringText) and isinstance(
                part, cst.FormattedStringExpression
            ):
                label = LABEL.search(before.value)
                if label is not None:
                    yield re.sub(r"[ ./-]+", "_", label[1].strip()), source.code(part.expression), text


def smalls(block: cst.With) -> list[cst.BaseSmallStatement]:
    lines = block.body.body
    return [line.body[0] for line in lines if isinstance(line, cst.SimpleStatementLine)]
