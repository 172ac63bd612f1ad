"""`seed=0`: the seed that the script sets, or a new one after its imports."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.kind import Kind
from traindx.lab.edits.origins import put, trace
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, NotCertain, Source

SEEDING = "torch.manual_seed"


def edit(project: Project, value: str) -> None:
    wanted = int(value)
    found = [Found(source, call) for source in project.sources for call in source.calls(SEEDING)]
    if not found:
        return add(project, wanted)
    for one in found:
        node = one.given("seed", 0)
        traced = trace(project, one.source, node) if node is not None else None
        if traced is None or traced.value != traced.origin.value:
            raise one.doubt(f"torch.manual_seed({wanted})", "cannot tell where the seed comes from")
        if traced.value != wanted:
            put(project, traced.origin, wanted, "the seed")
    return None


def add(project: Project, wanted: int) -> None:
    """`torch.manual_seed` after the last import at the top of the script."""
    source = project.main
    line = source.spelled(f"torch.manual_seed({wanted})", "torch")
    last = last_import(source)
    if not line or last is None:
        raise NotCertain(f"torch.manual_seed({wanted})", "torch is not imported in the script", source.path)
    source.insert_after(last, line)
    project.say(source, source.line(last), f"after the imports: {line}")


def last_import(source: Source) -> cst.BaseSmallStatement | None:
    """The last import before anything else is done at the top of a file."""
    found = None
    for line in source.module.body:
        if not isinstance(line, cst.SimpleStatementLine):
            break
        small = line.body[0]
        if isinstance(small, (cst.Import, cst.ImportFrom)):
            found = small
        elif not (isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)):
            break
    return found


KIND = Kind(edit=edit, interventions=("seed",))
