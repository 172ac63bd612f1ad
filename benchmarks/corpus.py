"""Score a labelled folder of real logs: `python -m benchmarks.corpus PATH [--table FILE]`.

The folder has `labels.json` (a list of {path, labels, onset_step, ...}), `labels-to-rules.json` (which rules,
patterns, events or health say a label), and perhaps `threads/*.json` (pasted logs with facts and a confirmed cause).

A log counts as read when a run with signals, or with the events that say why it has none, comes out of it; refused
when ReadError says why. Labels of all runs of a file are taken together. Threads: `--causes FILE` maps a thread's
name to the cause slugs that count as its confirmed cause; by default benchmarks/thread_causes.json is used.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from traindx import pipeline
from traindx.config import Config
from traindx.errors import ReadError
from traindx.readers import read_source
from traindx.readers.assemble import assemble
from traindx.readers.raw import Source
from traindx.vocabulary.diagnosis import SEVERITIES, RunDiagnosis

HARMLESS = {
    "healthy",
    "converged",
    "no_validation",
    "too_short_to_tell",
    "resumed_discontinuity",
    "spike_recovered",
    "slow_convergence",
    "s_curve_or_grokking",
    "double_descent",
}


@dataclass
class Scored:
    """One log: what its reader said of it, what traindx said, and whether it could be read."""

    path: str
    wanted: set[str]
    said: set[str] = field(default_factory=set)
    outcome: str = "read"
    alarms: list[str] = field(default_factory=list)
    note: str = ""


def diagnose_file(path: Path) -> list[RunDiagnosis]:
    runs = pipeline.read_all(path)
    return list(pipeline.diagnose(runs).document.runs)


def labels_said(diagnoses: list[RunDiagnosis], mapping: dict[str, dict], wanted: set[str]) -> set[str]:
    """The labels that a diagnosis amounts to, by the corpus's own mapping. What already answers to a
    wanted label is not counted again as a wrong one (one rule may stand for several labels)."""
    rules = {f.slug for d in diagnoses for f in d.findings}
    patterns = {h.pattern for d in diagnoses for h in d.hypotheses if h.cause == "healthy" and h.pattern}
    events = {str(e["kind"]) for d in diagnoses for e in d.run.events}
    health = {d.health for d in diagnoses}
    said = set()
    answered = {r for label in wanted for r in mapping.get(label, {}).get("rules", ())}
    for label, what in mapping.items():
        if label.startswith("_"):
            continue
        counted = rules if label in wanted else rules - answered
        if (
            set(what.get("rules", ())) & counted
            or set(what.get("pattern", ())) & patterns
            or set(what.get("events", ())) & events
            or ("health" in what and health <= set(what["health"]))
        ):
            said.add(label)
    return said


def alarms_of(diagnoses: list[RunDiagnosis]) -> list[str]:
    worrying = set(SEVERITIES[: SEVERITIES.index("medium") + 1])
    return [f"{f.slug}({f.severity})" for d in diagnoses for f in d.findings if f.severity in worrying]


def score_log(folder: Path, row: dict, mapping: dict[str, dict]) -> Scored:
    scored = Scored(row["path"], set(row["labels"]))
    try:
        diagnoses = diagnose_file(folder / row["path"])
    except ReadError as error:
        scored.outcome, scored.note = "refused", str(error)
        return scored
    scored.said = labels_said(diagnoses, mapping, scored.wanted)
    # "converged" is another word for a healthy end: said by the pattern, or by health where it was asked for.
    also = mapping.get("converged", {}).get("also", {}).get("health", ())
    if "converged" in scored.wanted and {d.health for d in diagnoses} <= set(also):
        scored.said.add("converged")
    scored.alarms = alarms_of(diagnoses) if "healthy" in scored.wanted and not faults(scored.wanted) else []
    scored.note = "; ".join(f"{d.health}" for d in diagnoses[:6])
    return scored


def faults(wanted: set[str]) -> set[str]:
    """Labels beside `healthy` that a finding of medium severity may answer to."""
    return wanted - HARMLESS


def f1(rows: list[Scored]) -> tuple[float, float, float, dict[str, Counter]]:
    """Micro precision, recall and F1 over labels, and the counts by label."""
    by: dict[str, Counter] = {}
    for row in rows:
        if row.outcome == "refused":
            continue
        for label in row.wanted | row.said:
            key = "tp" if label in row.wanted & row.said else ("fn" if label in row.wanted else "fp")
            by.setdefault(label, Counter())[key] += 1
    tp, fp, fn = (sum(c[k] for c in by.values()) for k in ("tp", "fp", "fn"))
    precision, recall = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9), by


def score_threads(
    folder: Path, causes: dict[str, list[str]], facts: bool
) -> list[tuple[str, str, int | None, list[str]]]:
    """(thread, confidence, rank of the confirmed cause or None, first causes) of every thread with a
    known cause."""
    out = []
    for path in sorted((folder / "threads").glob("*.json")):
        thread = json.loads(path.read_text())
        wanted = causes.get(path.stem)
        if not wanted:
            continue
        text = thread["text_log"].encode()
        try:
            logs = read_source(Source(path.stem, data=text, head=text[:65536]))
            runs = [r for log in logs for r in assemble(log)]
            given = dict(thread.get("given", {})) if facts else {}
            diagnosis = pipeline.diagnose(runs, Config(facts=given)).document.runs[-1]
        except ReadError as error:
            out.append((path.stem, thread["cause_confidence"], None, [f"refused: {error.why}"]))
            continue
        ranked = [h.cause for h in diagnosis.hypotheses]
        rank = next((i + 1 for i, c in enumerate(ranked) if c in wanted), None)
        out.append(
            (
                path.stem,
                thread["cause_confidence"],
                rank,
                [f"{h.cause} {h.probability:.2f}" for h in diagnosis.hypotheses[:4]],
            )
        )
    return out


def table(rows: list[Scored], threads: list) -> str:
    """The whole score as Markdown."""
    precision, recall, score, by = f1(rows)
    outcomes = Counter(r.outcome for r in rows)
    healthy = [r for r in rows if "healthy" in r.wanted and not faults(r.wanted)]
    false_alarms = [r for r in healthy if r.alarms]
    lines = [
        f"Files: {len(rows)}, read {outcomes['read']}, refused with a reason {outcomes['refused']}.",
        f"Labels: precision {precision:.3f}, recall {recall:.3f}, micro-F1 {score:.3f}.",
        f"Healthy runs with an alarm at medium or above: {len(false_alarms)} of {len(healthy)}.",
        "",
        "| label | right | missed | wrongly said |",
        "|---|---|---|---|",
        *(f"| {k} | {c['tp']} | {c['fn']} | {c['fp']} |" for k, c in sorted(by.items())),
        "",
        "| log | labels | said | alarms |",
        "|---|---|---|---|",
    ]
    for r in rows:
        missed = ", ".join(f"**{x}**" if x not in r.said else x for x in sorted(r.wanted))
        extra = ", ".join(sorted(r.said - r.wanted))
        said = (
            r.note
            if r.outcome == "refused"
            else f"{', '.join(sorted(r.said & r.wanted))}{' + ' + extra if extra else ''}"
        )
        lines.append(f"| {r.path} | {missed} | {said} | {', '.join(r.alarms)} |")
    if threads:
        settled = [t for t in threads if t[1] in ("confirmed", "explained")]
        hits = sum(t[2] is not None and t[2] <= 3 for t in settled)
        lines += [
            "",
            f"Threads with a confirmed or explained cause: {hits} of {len(settled)} have it among the first three.",
            "",
        ]
        lines += ["| thread | confidence | rank | first causes |", "|---|---|---|---|"]
        lines += [f"| {name} | {sure} | {rank or '-'} | {', '.join(first)} |" for name, sure, rank, first in threads]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--table", type=Path, help="write the Markdown table there instead of to the terminal")
    parser.add_argument("--causes", type=Path, default=Path(__file__).with_name("thread_causes.json"))
    arguments = parser.parse_args()
    mapping = json.loads((arguments.path / "labels-to-rules.json").read_text())
    labels = json.loads((arguments.path / "labels.json").read_text())
    rows = [score_log(arguments.path, row, mapping) for row in labels]
    causes = json.loads(arguments.causes.read_text()) if arguments.causes.exists() else {}
    text = table(rows, score_threads(arguments.path, causes, facts=True) if causes else [])
    arguments.table.write_text(text) if arguments.table else print(text)


if __name__ == "__main__":
    main()
