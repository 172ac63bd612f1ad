"""The page of the house: who imports whom, drawn from the code, and where to put what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "traindx"

Edges = set[tuple[str, str]]

ROOMS = ("readers", "causes", "lab", "capture/torch")


def page() -> str:
    """The whole page."""
    pictures = ["## The floors\n\n" + picture(between(imports(PACKAGE), 1))]
    pictures += [f"## `{PACKAGE}/{room}`\n\n" + picture(within(room)) for room in ROOMS]
    folder = Path(__file__).parent
    before = (folder / "templates" / "capture-before.mmd").read_text(encoding="utf-8").rstrip()
    template = (folder / "templates" / "architecture.md").read_text(encoding="utf-8")
    return template.format(
        pictures="\n".join(pictures), before=f"```mermaid\n{before}\n```", after=picture(within("capture"))
    )


def imports(package: str, root: Path = ROOT) -> Edges:
    """Which module imports from which other one of the package, also inside of functions and for types."""
    files = {name_of(path, root): path for path in sorted((root / package).rglob("*.py"))}
    found: Edges = set()
    for name, path in files.items():
        for wanted in wanted_by(ast.parse(path.read_text(encoding="utf-8"))):
            target = next((t for t in (wanted, wanted.rpartition(".")[0]) if t in files), None)
            if target is not None and target != name:
                found.add((name, target))
    return found


def name_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def wanted_by(tree: ast.Module) -> Iterator[str]:
    """The full names that a module imports: `package.module.name`, or `package.module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def between(edges: Edges, depth: int, inside: str = PACKAGE) -> Edges:
    """The edges between the neighbours of a room, `depth` names below the package."""
    found: Edges = set()
    for one, other in edges:
        names = [name.split(".") for name in (one, other)]
        if all(
            name.startswith(inside + ".") and len(parts) > depth
            for name, parts in zip((one, other), names, strict=True)
        ):
            a, b = (parts[depth] for parts in names)
            if a != b:
                found.add((a, b))
    return found


def within(room: str) -> Edges:
    """The edges between the neighbours in a room."""
    inside = f"{PACKAGE}.{room.replace('/', '.')}"
    return between(imports(PACKAGE), inside.count(".") + 1, inside)


def picture(edges: Edges) -> str:
    """A diagram in Mermaid's language: which module imports which."""
    return "```mermaid\n" + "\n".join(lines(edges)) + "\n```\n"


def lines(edges: Edges) -> Iterable[str]:
    """Of a room without circles, the arrows that do not follow from others."""
    yield "flowchart TD"
    direct: dict[str, set[str]] = {}
    for one, other in edges:
        direct.setdefault(one, set()).add(other)
    for one, other in sorted(edges):
        if not any(other in reached(direct, step) for step in direct[one] - {other}):
            yield f"    {one} --> {other}"


def reached(direct: dict[str, set[str]], start: str) -> set[str]:
    """Everything that is imported from `start` on."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for step in direct.get(waiting.pop(), set()) - found:
            found.add(step)
            waiting.append(step)
    return found


if __name__ == "__main__":
    print(page())
