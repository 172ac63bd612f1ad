"""A folder is read by the names that the formats give their files."""

from __future__ import annotations

from pathlib import Path

from traindx import readers
from traindx.readers.raw import source_of

WRITTEN_BY_TESTS = {
    "traindx",
    "torch-trace",
    "xplane",
    "xla-trace",
    "wandb-summary",
    "notebook",
}  # see tests/readers/formats
LOGS = Path(__file__).parents[1] / "logs"


def test_every_format_has_a_log() -> None:
    """Formats whose logs are folders, or are written by the tests, are exempt."""
    left = {m.NAME: m for m in readers.catalogue() if hasattr(m, "sniff") and m.NAME not in WRITTEN_BY_TESTS}
    for path in (p for p in sorted(LOGS.rglob("*")) if p.is_file()):
        surest = next(iter(readers.claiming_formats(source_of(path))), None)
        left.pop(getattr(surest, "NAME", ""), None)
    for name, module in left.items():
        file = module.__name__.replace(".", "/") + ".py"
        raise AssertionError(f"no log of {name} ({file}): add a log that the tool wrote, under tests/logs")


def test_every_log_is_found_in_its_folder() -> None:
    unseen = [p for p in sorted(LOGS.rglob("*")) if p.is_file() and not readers.looks_like_log(p)]
    for path in (p for p in unseen if p.suffix not in (".py", ".yaml")):
        source = source_of(path)
        for module in (m for m in readers.claiming_formats(source) if m.sniff(source) >= readers.SURE):
            home = module.__name__.replace(".", "/")
            raise AssertionError(
                f'{path.name} is not found in folders: add FILES = ("*{path.suffix}",) to {home}.py'
            )
