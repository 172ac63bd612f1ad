"""`seed=0`: the seed that the script sets, or a new one after its imports.

`precision=bfloat16`: autocast to float16 becomes autocast to bfloat16; `precision=float32`: autocast is
off."""

from traindx.lab.edits.api import (
    NotCertain,
    Project,
    Source,
    argument,
    cst,
    trace,
    write_value,
    writes,
)

SEEDING = "torch.manual_seed"


@writes("seed")
def set_seed(project: Project, wanted: int) -> None:
    found = project.calls(SEEDING)
    if not found:
        return add(project, wanted)
    for one in found:
        node = one.argument("seed", 0)
        traced = trace(project, one.source, node) if node is not None else None
        if traced is None or traced.value != traced.origin.value:
            raise one.doubt(f"torch.manual_seed({wanted})", "cannot tell where the seed comes from")
        if traced.value != wanted:
            write_value(project, traced.origin, wanted, "the seed")
    return None


def add(project: Project, wanted: int) -> None:
    """`torch.manual_seed` after the last import at the top of the script."""
    source = project.main
    line = source.how_written(f"torch.manual_seed({wanted})", "torch")
    last = last_import(source)
    if not line or last is None:
        raise NotCertain(f"torch.manual_seed({wanted})", "torch is not imported in the script", source.path)
    source.insert_after(last, line, says=f"after the imports: {line}")


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


AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
HALVES = ("torch.float16", "torch.half")


@writes("precision")
def set_precision(project: Project, value: str) -> None:
    found = project.calls(*AUTOCAST)
    change = {"bfloat16": bfloat16, "float32": disable_autocast}[value]
    if not found:
        raise project.doubt(f"precision={value}", "no autocast was found")
    for source, call in found:
        change(source, call)


def bfloat16(source: Source, call: cst.Call) -> None:
    dtype = argument(call, "dtype", 1)
    if dtype is None:
        code = source.how_written("torch.bfloat16", "torch")
        if not code:
            raise source.doubt(call, "dtype=torch.bfloat16", "torch is not imported in this file")
        source.set_argument(call, "dtype", code, f"autocast: dtype={code}")
    elif source.name(dtype.value) in HALVES and isinstance(dtype.value, cst.Attribute):
        source.rename(dtype.value, "bfloat16", "autocast: bfloat16", at=call)
    elif source.name(dtype.value) != "torch.bfloat16":
        raise source.doubt(
            call, "dtype=torch.bfloat16", f"cannot tell where {source.code(dtype.value)} comes from"
        )


def disable_autocast(source: Source, call: cst.Call) -> None:
    source.set_argument(call, "enabled", "False", "autocast: enabled=False", place=2)
