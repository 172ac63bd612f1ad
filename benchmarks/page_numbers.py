"""Check the numbers of pages against their logs: `python -m benchmarks.page_numbers FOLDER… [--show 5]`.

What is called first, last, lowest, or a value at a step is the log's own; one fact has one number, whatever the format
(text, the same in full, Markdown, HTML, JSON). FOLDER holds logs, as for `benchmarks.pages`, or `logs` and `threads`.

A claim is a number in a sentence about a signal: "from 2.31 (step 0)", "to 0.12 at step 900", "lowest at step 40
(0.3)", "is 0.42 now". Sentences that call a number a median, a mean, a trend or an estimate make no such claim.
Evidence in the JSON is checked too: a value without a unit is the one that was logged at its step.
"""

from __future__ import annotations

import argparse
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.pages import runs_of
from traindx import pipeline
from traindx.errors import TraindxError
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import Document, RunDiagnosis
from traindx.vocabulary.run import Floats, Run, Series

DIGITS = 5e-4  # relative: a page shows four digits
NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
AXIS = r"(?:step|epoch|iteration|iter|round|episode|row|batch|update|game|frame|tree)s?"
MOVED = r"\b(?:fell|rose|went|jump(?:s|ed)|spiked|dropped|improved|returned|levels? off|level)\b"
# Words that say a number is not the logged one, but derived from several, or expected.
DERIVED = re.compile(
    r"\b(medians?|means?|averages?|trends?|smoothed|noise|about|around|expect\w*|near|within|gain\w*|swing|"
    r"typical(ly)?|level around|scatters|oscillates by|likely|between|outside of|not recorded|perhaps|"
    r"Forecast|\d ?% between)\b",
    re.I,
)
CLAIMS = (
    ("at", rf"(?<![\w.])({NUMBER}) (?:at|\() ?{AXIS} ({NUMBER})"),
    ("at", rf"({NUMBER}) \({AXIS} ({NUMBER})\)"),
    ("at", rf"(?:at|by) {AXIS} (?P<step>{NUMBER}) \((?P<value>{NUMBER})\)"),
    ("lowest", rf"lowest at {AXIS} {NUMBER} \(({NUMBER})\)"),
    ("highest", rf"highest at {AXIS} {NUMBER} \(({NUMBER})\)"),
    ("last", rf"(?:is|was) ({NUMBER}) now|(?:ends|ended) at ({NUMBER})|({NUMBER}) at the end"),
    ("first", rf"(?:starts|begins|started|began) at ({NUMBER})(?! \()|({NUMBER}) at the start"),
    ("logged", rf"{MOVED}\D*?(?:{NUMBER})?\D*?\b(?:from|to|at) ({NUMBER})(?=$|[ ,;.)](?!\d))"),
    ("logged", rf"\b(?:is|highest|stayed at) ({NUMBER})(?=$|[ ,;.)](?!\d))"),
)
SMOOTH_END = re.compile(rf"\b(?:to|is|near) ({NUMBER})(?=[ ,][^.]*\((?:medians?|smoothed)\b)")
LOGGED_IN = ("", "L2", "nats", "loss", "s", "bytes")  # units of evidence that is a number of the log
COUNTED = re.compile(
    r" ?(%|x\b|times\b|of \d|points?|in \d+ rows|rows?|of its|evaluations?|validations?|samples|GiB|MiB|bytes|s\b|h\b)"
)
NAMES = {"the gradient norm": "grad_norm", "the loss scale": "loss_scale"}


class Claim(NamedTuple):
    """A number on a page: of which `signal`, what it is called (`kind`), and where (`step`: of the kind "at")."""

    signal: str
    kind: str
    value: float
    step: float | None


def wrong_numbers(page: str, diagnosis: RunDiagnosis, run: Run) -> Iterator[str]:
    """The claims of a page and of its evidence that the log contradicts, as sentences."""
    for sentence in sentences(page):
        for claim in claims(sentence, run):
            if not holds(claim, run.series[claim.signal]):
                yield f"{claim.signal} is not {claim.value:g} ({claim.kind}): {sentence[:140]!r}"
    for finding in diagnosis.findings:
        for point in finding.evidence:
            series = run.series.get(point.signal)
            if series is None or point.step is None or point.unit not in LOGGED_IN:
                continue
            if not np.isfinite(point.value) and point.step in {event.step for event in run.events}:
                continue  # the error that ended the run says so
            if not holds(Claim(point.signal, "at", point.value, point.step), series):
                yield f"evidence of {finding.slug}: {point.signal} is not {point.value:g} at {point.step:g}"


def forms(diagnosis: pipeline.Diagnosis) -> dict[str, str]:
    """A diagnosis in every format that has sentences, without markup."""
    body = re.sub(r"(?s)<(script|style|svg).*?</\1>", "", diagnosis.to_html())
    body = re.sub(r"</?(?:b|i|em|strong|code|span|a|abbr)\b[^>]*>", "", body)
    return {
        "text": diagnosis.to_text(),
        "full": diagnosis.to_text(full=True),
        "markdown": re.sub(r"[`*\\]|<[^>]+>", "", html.unescape(diagnosis.to_markdown())),
        "HTML": html.unescape(re.sub(r"<[^>]+>", "\n\n", body)),
    }


def violations(place: Path) -> tuple[int, list[tuple[str, str]]]:
    """How many pages were read of a log, and (kind, sentence) of each number on them that is not the log's."""
    try:
        runs = runs_of(place)
    except (TraindxError, ValueError):
        return 0, []
    found, read = [], 0
    diagnosis = pipeline.diagnose(runs)
    for described, run in zip(diagnosis.document.runs, diagnosis.runs, strict=True):
        alone = Document(traindx_version=diagnosis.document.traindx_version, runs=(described,))
        pages = forms(pipeline.Diagnosis(alone, (run,)))
        read += len(pages)
        wrong = {sentence for page in pages.values() for sentence in wrong_numbers(page, described, run)}
        found += [("not the log's", f"{place.name}: {words}") for words in sorted(wrong)]
        found += [("two numbers", f"{place.name}: {words}") for words in two_numbers(pages, run)]
    return read, found


def two_numbers(pages: dict[str, str], run: Run) -> Iterator[str]:
    """Facts that have different numbers on the pages of one run."""
    given: dict[tuple[str, str, float | None], dict[float, str]] = defaultdict(dict)
    for form, page in pages.items():
        for sentence in sentences(page):
            for claim in claims(sentence, run):
                if claim.kind != "logged":
                    given[claim[:2] + claim[3:]].setdefault(claim.value, f"{form}: {sentence[:100]!r}")
        yield from two_ends(page, run, form)
    for (signal, kind, _), values in given.items():
        shown = sorted(values)
        if any(not same(np.array([a]), b).all() for a, b in pairwise(shown)):
            yield f"{signal} ({kind}): " + " and ".join(values.values())


def two_ends(page: str, run: Run, form: str) -> Iterator[str]:
    """Signals whose end is given on one page as it was logged, and as a median that differs from it."""
    logged: dict[str, float] = {}
    level: dict[str, float] = {}
    for sentence in sentences(page):
        words = " ".join(sentence.split())
        for claim in claims(words, run):
            if claim.kind == "last" or (
                claim.step is not None and same(run.series[claim.signal].steps[-1:], claim.step)
            ):
                logged[claim.signal] = claim.value
        for found in SMOOTH_END.finditer(words):
            before = [name for at, name in signals(words, run) if at < found.start()]
            if before:
                level[before[-1]] = numeral(found[1])
    for signal in logged.keys() & level.keys():
        if not same(np.array([logged[signal]]), level[signal]).all():
            yield f"{form}: {signal} ends at {logged[signal]:g}, and at {level[signal]:g} (smoothed)"


def sentences(page: str) -> Iterator[str]:
    yield from (s.strip() for s in re.split(r"(?<=[.;]) +(?=\S)|(?<=[.;:])\n|\n\n|\n *- ", page))


def claims(sentence: str, run: Run) -> Iterator[Claim]:
    """The numbers that a sentence attributes to a signal without calling them derived."""
    words = " ".join(sentence.split())
    if DERIVED.search(words):
        return
    names = signals(words, run)
    taken: list[tuple[int, int]] = []
    named = [found.span() for name in run.series for found in re.finditer(re.escape(name), words)]
    for kind, pattern in CLAIMS:
        for found in re.finditer(pattern, words):
            given = found.groupdict()
            value = given.get("value") or next(g for g in found.groups() if g)
            step = given.get("step") or (found[2] if kind == "at" and not given else None)
            begin = found.start() + found[0].index(value)
            before = [name for at, name in names if at < begin]
            overlaps = any(a < begin + len(value) and begin < b for a, b in (*taken, *named))
            if before and not overlaps and measured(words[begin + len(value) :]):
                yield Claim(before[-1], kind, numeral(value), None if step is None else numeral(step))
            taken.append((begin, begin + len(value)))
            taken += [found.span(2)] if kind == "at" and not given else []


def measured(after: str) -> bool:
    """Whether a number is a value: it counts nothing (points, rows, seconds), and is no share."""
    return not COUNTED.match(after)


def numeral(text: str) -> float:
    return float(text.rstrip(".,").replace(",", ""))


def signals(words: str, run: Run) -> list[tuple[int, str]]:
    """(place, name) of every signal that a sentence names, in order; the longest name where several fit."""
    named = {name: name for name in run.series}
    named |= {spoken: name for spoken, name in NAMES.items() if name in run.series}
    objective = Features(run).objective
    if objective is not None:
        named |= dict.fromkeys(("the loss", "the score", "the reward"), objective.name)
    found: dict[int, str] = {}
    for spoken in sorted(named, key=len):
        for at in re.finditer(rf"(?<![\w/]){re.escape(spoken)}(?![\w/])", words):
            found[at.start()] = named[spoken]
    return sorted(found.items())


def holds(claim: Claim, series: Series) -> bool:
    """Whether the log has that number there."""
    values = series.values[np.isfinite(series.values)]
    if not np.isfinite(claim.value):
        return not np.isfinite(series.values).all()
    if not len(values):
        return False
    if claim.kind == "at":
        assert claim.step is not None
        values = series.values[same(series.steps, claim.step)]
    expected = {
        "last": values[-1:], "first": values[:1], "lowest": [values.min()] if len(values) else [],
        "highest": [values.max()] if len(values) else [],
    }.get(claim.kind, values)  # fmt: skip
    return bool(same(np.asarray(expected, dtype=np.float64), claim.value).any())


def same(values: Floats, shown: float) -> np.ndarray:
    """Where `values[n]` are what is shown with four digits."""
    return np.isclose(values, shown, rtol=DIGITS, atol=0) | np.isclose(values, shown, rtol=0, atol=1e-12)


def places(folder: Path) -> list[Path]:
    inside = [folder / name for name in ("logs", "threads") if (folder / name).is_dir()]
    return sorted(p for one in inside or [folder] for p in one.iterdir())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=1000, help="print so many violations of each kind")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.jobs) as pool:
        answers = list(pool.map(violations, [p for f in asked.folders for p in places(f)], chunksize=4))
    kinds = Counter(kind for _, found in answers for kind, _ in found)
    for kind in kinds:
        print(f"# {kind}: {kinds[kind]}")
        print("\n".join([words for _, found in answers for k, words in found if k == kind][: asked.show]))
    print(f"{sum(read for read, _ in answers)} pages, {sum(kinds.values())} violations")
    return int(bool(kinds))


if __name__ == "__main__":
    raise SystemExit(main())
