"""The loop of epochs, and what is known at its end."""

from __future__ import annotations

import re

import libcst as cst

from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Source, dotted
from traindx.lab.edits.training import backwards

VALIDATION = re.compile(
    r"(val|valid|validation|test|eval|dev|v)_?loss|loss_?(val|valid|test|eval|dev)", re.IGNORECASE
)


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
    found: dict[str, cst.BaseSmallStatement] = {}
    for line in loop.body.body:
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        inner = [small] if small is not None else smalls(line) if isinstance(line, cst.With) else []
        for one in inner:
            if isinstance(one, cst.Assign):
                for target in one.targets:
                    parts = target.target.elements if isinstance(target.target, cst.Tuple) else [target]
                    names = [dotted(p.value if isinstance(p, cst.Element) else p.target) for p in parts]  # type: ignore[union-attr]
                    found |= {n: one for n in names if n and VALIDATION.fullmatch(n.rpartition(".")[2])}
    if len(found) != 1:
        raise source.doubt(
            loop, "after the validation of each epoch", "cannot tell which name holds the validation loss"
        )
    return next(iter(found.items()))


def smalls(block: cst.With) -> list[cst.BaseSmallStatement]:
    lines = block.body.body
    return [line.body[0] for line in lines if isinstance(line, cst.SimpleStatementLine)]
