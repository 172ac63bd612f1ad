"""A folder is read by the names that the formats give their files."""

from __future__ import annotations

from pathlib import Path

from traindx import readers
from traindx.readers.raw import source_of

LOGS = Path(__file__).parents[1] / "logs"


def test_every_log_is_found_in_its_folder() -> None:
    unseen = [p for p in sorted(LOGS.rglob("*")) if p.is_file() and not readers.looks_like_log(p)]
    for path in (p for p in unseen if p.suffix not in (".py", ".yaml")):
        source = source_of(path)
        for module in (m for m in readers.claimants(source) if m.sniff(source) >= readers.SURE):
            home = module.__name__.replace(".", "/")
            raise AssertionError(
                f'{path.name} is not found in folders: add FILES = ("*{path.suffix}",) to {home}.py'
            )
