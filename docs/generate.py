"""Write the docs that are made from the code, or check that they are up to date.

python -m docs.generate            # write what has changed
python -m docs.generate --check    # name what is out of date; exit status 1 if anything is
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from docs import (
    api,
    architecture,
    catalogues,
    command_line,
    curves,
    frameworks,
    indexes,
    interventions,
    modules,
)

FOLDER = Path(__file__).parent

NOTE = "<!-- Made by `python -m docs.generate` from the code: change it there. -->\n\n"

PAGES: dict[str, Callable[[], str]] = {
    "api.md": api.page,
    "architecture.md": architecture.page,
    "cli.md": command_line.cli_page,
    "frameworks.md": frameworks.page,
    "signals.md": catalogues.signals,
    "thresholds.md": catalogues.thresholds,
    "rules.md": catalogues.rules,
    "causes.md": catalogues.causes,
    "fixes.md": catalogues.fixes,
    "interventions.md": interventions.page,
    "loss-curves.md": curves.page,
    "gradients-and-activations.md": modules.page,
}

# Named from docs/, as the pages are.
INDEXES: dict[str, Callable[[], str]] = {
    "../traindx/rules/index.py": indexes.rules_index,
    "../traindx/fixes/index.py": indexes.fixes_index,
    "../traindx/readers/index.py": indexes.formats_index,
}


def made() -> dict[str, str]:
    """Every generated file, by its name under docs/, with what it should hold."""
    texts = {name: NOTE + make().rstrip() + "\n" for name, make in PAGES.items()}
    texts |= {name: make() for name, make in INDEXES.items()}
    return texts | {f"images/curves/{name}.svg": svg for name, svg in curves.figures().items()}


def stale(files: dict[str, str]) -> list[str]:
    """The files that are missing or differ, and figures that nothing refers to any more."""
    differ = [name for name, text in files.items() if not same(FOLDER / name, text)]
    figures = {f"images/curves/{path.name}" for path in (FOLDER / "images" / "curves").glob("*.svg")}
    return differ + sorted(figures - set(files))


def same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def write(files: dict[str, str], names: list[str]) -> None:
    for name in names:
        path = FOLDER / name
        if name not in files:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name], encoding="utf-8", newline="\n")


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__)
        return 2
    files = made()
    names = stale(files)
    if not arguments:
        write(files, names)
        print(f"{len(files)} files, {len(names)} written or removed")
        return 0
    for name in names:
        print(f"docs/{name} is out of date: python -m docs.generate")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
