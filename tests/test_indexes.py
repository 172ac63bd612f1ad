"""Rules, fixes and formats are known from indexes: the same as from their modules, and no worse without them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from traindx import fixes, readers, rules
from traindx.installed import index_rows
from traindx.readers.raw import HEAD_BYTES, Source
from traindx.vocabulary.rule import Rule

LOGS = Path(__file__).parent / "logs"


def facts(rule: Rule) -> tuple[Any, ...]:
    return (rule.code, rule.slug, rule.needs, rule.min_points, rule.severity, rule.message, rule.follows)


STALE = "traindx/{}/index.py is stale: run `python -m docs.generate`"


def test_listed_rules_are_the_rules() -> None:
    homes = {row[0] for row in index_rows("traindx.rules")}
    own = {r.check.__module__ for r in rules.catalogue() if r.check.__module__.startswith("traindx.rules.")}
    assert homes == own, STALE.format("rules")
    assert [facts(r) for r in rules.list_entries()] == [facts(r) for r in rules.catalogue()], STALE.format(
        "rules"
    )
    assert [r.loaded for r in rules.list_entries()] == list(rules.catalogue())
    assert rules.list_entries()[0].thresholds == rules.catalogue()[0].thresholds


def test_listed_fixes_and_formats_are_those() -> None:
    known = {(f.home, f.applicability, f.causes) for f in fixes.catalogue()}
    assert {(e.home, e.applicability, e.causes) for e in fixes.list_entries()} == known, STALE.format(
        "fixes"
    )
    assert {row[0] for row in index_rows("traindx.fixes")} == {home for home, _, _ in known}, STALE.format(
        "fixes"
    )
    formats = set(map(readers.facts_of, readers.catalogue()))
    assert set(readers.list_entries()) == formats, STALE.format("readers")
    assert {row[0] for row in index_rows("traindx.readers")} == {one.home for one in formats}, STALE.format(
        "readers"
    )


@pytest.mark.parametrize("room", [rules, fixes, readers], ids=["rules", "fixes", "readers"])
def test_an_index_that_names_other_files_is_not_believed(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = room.list_entries()
    for wrong in ((), index_rows(room.__name__)[1:]):
        room.list_entries.cache_clear()
        monkeypatch.setattr(room, "index_rows", lambda _package, wrong=wrong: wrong)
        again = room.list_entries()
        if room is rules:
            assert [facts(r) for r in again] == [facts(r) for r in before]
        else:
            assert set(again) == set(before)
    monkeypatch.undo()
    room.list_entries.cache_clear()


def variants_of(head: bytes) -> list[bytes]:
    """The beginning of a file as it is, cut short, without its start, and as Windows writes text."""
    made = [head, head[: len(head) // 2], head[len(head) // 3 :], b"\xef\xbb\xbf\r\n " + head]
    return [*made, head[:2000].decode().encode("utf-16")] if head[:2000].isascii() else made


@pytest.mark.parametrize("folder", ["logs", "pastes"])
def test_the_surest_format_is_first_as_if_all_were_asked(folder: str) -> None:
    """What a format declares (`MOST`, `BEGINS`, `HOLDS`) saves asking it and never changes who reads a file."""
    sniffers = [m for m in readers.catalogue() if hasattr(m, "sniff")]
    files = [p for p in sorted((LOGS.parent / folder).rglob("*")) if p.is_file() and p.stat().st_size]
    for i, path in enumerate(files):
        with open(path, "rb") as stream:
            forms = variants_of(stream.read(HEAD_BYTES))
        for head in {forms[0], forms[i % len(forms)]}:
            source = Source(str(path), path, head=head)
            claims = sorted((-claim, m.NAME) for m in sniffers if (claim := m.sniff(source)) > 0)
            assert [m.NAME for m in readers.claiming_formats(source)] == [name for _, name in claims], path
            most = {m.NAME: getattr(m, "MOST", 1.0) for m in sniffers}
            assert all(-claim <= most[name] for claim, name in claims), path


def test_little_is_imported_for_a_usual_log(tmp_path: Path) -> None:
    log = tmp_path / "trainer_state.json"
    rows = ", ".join(f'{{"step": {5 * i}, "loss": {2 / i}, "learning_rate": 1e-4}}' for i in range(1, 61))
    log.write_text(f'{{"global_step": 300, "max_steps": 300, "log_history": [{rows}]}}')
    program = (
        "import sys; from traindx import pipeline\n"
        f"pipeline.diagnose(pipeline.read_all({str(log)!r})).to_text()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {"numpy.ma", "numpy.polynomial", "importlib.metadata", "email", "sqlite3", "tempfile"} & set(
        loaded
    )
    assert sum(m.startswith("traindx.readers.formats.") for m in loaded) <= 2
    assert sum(m.startswith("traindx.rules.") for m in loaded) < len(rules.list_entries()) / 2


def test_what_rules_share_is_loaded_without_them(tmp_path: Path) -> None:
    """`traindx.rules.api` must not load for every log what few rules need."""
    log = tmp_path / "log.csv"
    log.write_text("step,loss\n" + "\n".join(f"{i},{2 / (i + 1)}" for i in range(60)))
    program = (
        "import sys; from traindx import pipeline; from traindx.config import Config\n"
        f"pipeline.diagnose(pipeline.read_all({str(log)!r}), Config(select=('loss-scale-collapses',))).to_text()\n"
        "print(*(m for m in sys.modules if m.startswith('traindx.rules.') and m.count('.') == 3))\n"
        "before = set(sys.modules); import traindx.rules.api; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "traindx.rules.api"]
