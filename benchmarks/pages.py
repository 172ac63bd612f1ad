"""`python -m benchmarks.pages FOLDER… [--out DIR]`: read every log, write its page, and name what is wrong with pages.

A folder holds logs (a file or folder each), or JSON documents with a `text_log`. What is looked for are statements
that contradict each other or the curve, words that nobody knows, and pages longer than a screen. Exit status 1 if
there is any.
"""

from __future__ import annotations

import argparse
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from traindx import pipeline, readers
from traindx.errors import TraindxError
from traindx.features.shared import Features
from traindx.readers.assembly.runs import assemble
from traindx.reports.diagnosis import text
from traindx.vocabulary.diagnosis import Document, RunDiagnosis
from traindx.vocabulary.run import STANDARD_INPUT, Run

WIDTH, LINES = 80, 36
TREES = ("catboost", "xgboost", "lightgbm", "boosting")
NETS = re.compile(
    r"\b(adamw?|sgd|momentum|dropout|warm-?up|gradient norm|clip_grad_norm_|hidden layers?|softmax)\b", re.I
)
JARGON = re.compile(r"(?<!free )\bbits\b|\ba minute\b|log-odds|posterior|entropy of| \+\d\.\d(?!\d)")
FALLING = re.compile(r"\bthe loss (goes on|was still|is still|keeps|falls)", re.I)
LEVEL = re.compile(r"level(led|s) off", re.I)
NONSENSE = re.compile(
    r"\b[Ll]ower the [\w ]+ below 0(?!\.?\d)|\b(from|to) (nan|inf)\b|from (\S+) to \3(?=[ ;,(]|\.?(?: |$))|\(0 %|\bNone\b"
)
UNTOLD = "Cannot tell the cause from this log"
LEADING = re.compile(r"(Almost certain|Probable|Possible) cause")
BLAME = re.compile(r"Most likely: |look into this: ")


def faults(page: str, diagnosis: RunDiagnosis, run: Run) -> Iterator[str]:
    """What is wrong with the page of one run."""
    words = " ".join(page.split())
    ill = diagnosis.health in ("sick", "failed")
    if ill and re.search(r"nothing is wrong|nothing wrong|no fault|no finding points", words, re.I):
        yield "ill, and nothing is wrong"
    if "CANNOT TELL" in words and re.search(
        r"[Nn]othing is wrong|[Nn]o fault|[Nn]o finding points|\bHealthy\b", words
    ):
        yield "cannot tell, and nothing is wrong"
    if diagnosis.health == "failed" and diagnosis.decision.action == "continue":
        yield "failed, and to be continued"
    if diagnosis.health == "healthy" and LEADING.search(words):
        yield "healthy, and has a cause"
    if UNTOLD in words and BLAME.search(words):
        yield "the cause is not told, and one is blamed"
    if UNTOLD in words and "Expect: " in words:
        yield "the cause is not told, and a cure is offered"
    if (found := JARGON.search(words)) is not None:
        yield f"jargon: {found[0]!r}"
    if (found := NONSENSE.search(words)) is not None:
        yield f"nonsense: {found[0]!r}"
    yield from against_the_curve(words, diagnosis, run)
    yield from in_form(page)


def against_the_curve(words: str, diagnosis: RunDiagnosis, run: Run) -> Iterator[str]:
    """Statements that the run's own facts contradict."""
    if (run.framework or run.format).lower() in TREES and (found := NETS.search(words)) is not None:
        yield f"trees have no {found[0]}"
    curve = Features(run).objective
    if curve is None or curve.n < 4:
        return
    if curve.sign < 0 and FALLING.search(words):
        yield f"{curve.name} is better when higher, and the loss is falling"
    if LEVEL.search(diagnosis.decision.reason) and not level(curve.as_loss):
        yield f"levels off, and {curve.name} gets worse or much better at the end"


def level(y: np.ndarray) -> bool:
    """Whether the halves of the last fifth of a curve differ by less than 8 % of all it moved (a line: 10 %)."""
    part = max(2, len(y) // 5)
    late, span = y[-part:], float(np.ptp(y))
    return (
        abs(float(np.median(late[-part // 2 :])) - float(np.median(late[: max(part // 2, 1)])))
        <= 0.08 * span
    )


def in_form(page: str) -> Iterator[str]:
    lines = page.splitlines()
    if len(lines) > LINES:
        yield f"{len(lines)} lines"
    if any(len(line) > WIDTH for line in lines):
        yield "wider than asked"
    sentences = [s.strip(" -.") for s in re.split(r"(?<=[.;]) ", " ".join(page.split())) if len(s) > 30]
    for twice in {s for s in sentences if sentences.count(s) > 1}:
        yield f"said twice: {twice[:60]!r}"


def runs_of(place: Path) -> tuple[Run, ...]:
    """The runs of a log, or of the text that a JSON document holds."""
    if place.suffix == ".json":
        start = place.read_bytes()
        if b'"text_log"' in start[:65536]:
            return piped(str(json.loads(start)["text_log"] or ""))
    return pipeline.read_all(place)


def piped(log: str) -> tuple[Run, ...]:
    """The runs of a pasted text."""
    logs = readers.read_source(readers.Source(STANDARD_INPUT, data=log.encode(), head=log.encode()[:65536]))
    return tuple(run for raw in readers.merge_groups(logs) for run in assemble(raw))


def pages(place: Path) -> Iterator[tuple[str, RunDiagnosis, Run]]:
    """(page, diagnosis, run) of every run in a log."""
    diagnosis = pipeline.diagnose(runs_of(place))
    for told, run in zip(diagnosis.document.runs, diagnosis.runs, strict=True):
        document = Document(traindx_version=diagnosis.document.traindx_version, runs=(told,))
        yield text.render(document, (run,), width=WIDTH), told, run


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    looked, wrong = 0, 0
    for place in sorted(p for folder in arguments.folders for p in folder.iterdir()):
        try:
            found = list(pages(place))
        except (TraindxError, ValueError) as error:
            print(f"{place.name}: not read: {error}")
            continue
        written = io.StringIO()
        for page, diagnosis, run in found:
            looked += 1
            written.write(page + "\n")
            for fault in faults(page, diagnosis, run):
                wrong += 1
                print(f"{place.name}: {fault}")
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"{place.stem}.txt").write_text(written.getvalue(), encoding="utf-8")
    print(f"{looked} pages, {wrong} faults")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
