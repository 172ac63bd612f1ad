"""What a page must not say: contradictions, numbers that are not the log's, missing signals that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks import page_numbers, pages
from traindx import pipeline
from traindx.reports.diagnosis import text
from traindx.vocabulary.diagnosis import Document, RunDiagnosis
from traindx.vocabulary.run import Run

SIZES = re.compile(r"\d+ lines$|wider than asked")
MISSING = re.compile(
    r"(?:[Nn]o|without(?: an?)?|[Aa]dd an?|[Ll]og (?:the|an?)) "
    r"(validation loss|validation set|learning rate|gradient norm|accuracy)\b"
)
ABSENT = re.compile(r"not (?:recorded|logged)|there is no|missing")
SIGNALS = {
    "validation loss": ("val/loss",), "validation set": ("val/",), "learning rate": ("lr",),
    "gradient norm": ("grad_norm",), "accuracy": ("train/accuracy", "val/accuracy"),
}  # fmt: skip


def wrong_claims(run: Run) -> tuple[list[tuple[str, str]], set[str]]:
    """(kind, sentence) of each fault of a run's page, and the page's sentences: with # for each number, and S for
    names of signals."""
    diagnosis = pipeline.diagnose(run)
    described, run = diagnosis.first, diagnosis.runs[0]
    alone = Document(traindx_version=diagnosis.document.traindx_version, runs=(described,))
    page = text.render(alone, (run,), width=pages.WIDTH)
    found = [
        ("too long" if SIZES.search(f) else "contradiction", f) for f in pages.faults(page, described, run)
    ]
    found += [("number", words) for words in page_numbers.wrong_numbers(page, described, run)]
    found += [("missing", words) for words in missing(page, described, run)]
    return sorted(set(found)), sentences(page, run)


def missing(page: str, described: RunDiagnosis, run: Run) -> Iterator[str]:
    """Signals that are asked for or called absent, and that the run has."""
    for rule in described.not_evaluated:
        for name in rule.needs:
            if name in run.series and ABSENT.search(rule.reason) and name in rule.reason:
                yield f"{rule.slug}: {rule.reason!r}, and {name} is there"
    words = " ".join(page.split())
    for found in MISSING.finditer(words):
        for name in SIGNALS[found[1]]:
            if any((n.startswith(name) if name.endswith("/") else n == name) for n in run.series):
                yield f"{found[0]!r}, and {name} is there: {words[max(found.start() - 40, 0) : found.end() + 60]!r}"


def sentences(page: str, run: Run) -> set[str]:
    words = " ".join(page.split())
    for original in sorted({*run.series, *run.originals.values()}, key=len, reverse=True):
        words = words.replace(original, "S")
    return {
        re.sub(r"\d[\d.,e+-]*", "#", sentence).strip()
        for sentence in re.split(r"(?<=[.;:]) ", words)
        if len(sentence) > 30
    }
