"""Score real logs against what practitioners say of them: `python -m benchmarks.readings PATH [--half development]`.

PATH holds `labels.json` (of each log: acceptable verdicts, actions and causes; symptoms that must, may and must not
be said), `says.json` (what in a diagnosis says a symptom), `logs/` and `threads/`. Two halves are told apart by the
repository a log comes from: rules are changed while looking at the development half, the other one was only counted,
until half of it was opened for development, too. What is last is still only counted, as totals.
`--rows FILE` keeps every case, of the parts asked for, with what was missed and what was wrongly said.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from traindx import pipeline
from traindx.errors import ReadError
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import Source
from traindx.vocabulary.diagnosis import SEVERITIES, Hypothesis, RunDiagnosis
from traindx.vocabulary.run import STANDARD_INPUT, Run

HALVES = ("development", "opened", "last")
LOUD = SEVERITIES[: SEVERITIES.index("low") + 1]  # said as more than a note
ALARMS = SEVERITIES[: SEVERITIES.index("medium") + 1]
# Symptoms that do no harm where they are said without need.
SOFT = {
    "no_validation", "too_short_to_tell", "good_fit", "still_improving", "crash", "metric_constant",
    "noisy_validation", "resumed_discontinuity", "collapse", "waits_for_data",
}  # fmt: skip
VERDICT = {"healthy": "fine", "watch": "watch", "sick": "sick", "failed": "failed"}
WORSE = ("cannot-tell", "fine", "watch", "sick", "failed")
SURE = 0.8  # probability from which an answer has to be right


def half_of(label: Mapping[str, Any]) -> str:
    """The part that a label belongs to: by the SHA-256 of its repository, so that new logs do not move old ones."""
    # Some labels name no repository: each of those counts as a repository of its own.
    repository = label.get("repo") or (label["source"] or label["id"]).partition(":")[0]
    first, second = hashlib.sha256(repository.strip().encode()).digest()[:2]
    return HALVES[1 + second % 2] if first % 2 else HALVES[0]


def read_runs(folder: Path, label: Mapping[str, Any]) -> list[Run]:
    """The runs of a log (alone in its folder) or of a pasted text. Raises ReadError where there is none."""
    path = folder / label["path"]
    if label["path"].startswith("threads/"):
        text = json.loads(path.read_text())["text_log"].encode()
        return [
            run
            for log in read_source(Source(STANDARD_INPUT, data=text, head=text[:65536]))
            for run in assemble(log)
        ]
    with tempfile.TemporaryDirectory() as alone:
        copy = Path(alone) / path.name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
        return list(pipeline.read_all(copy))


def diagnosed(folder: Path, label: Mapping[str, Any]) -> list[RunDiagnosis] | None:
    """What is said of a log or a pasted text; None where it is refused with a reason."""
    try:
        return list(pipeline.diagnose(read_runs(folder, label)).document.runs)
    except ReadError:
        return None


def symptoms(run: RunDiagnosis, says: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Every symptom that a diagnosis amounts to."""
    rules, events = {f.slug for f in run.findings}, {str(e["kind"]) for e in run.run.events}
    top = run.hypotheses[0]

    def said(what: Mapping[str, Any]) -> bool:
        return bool(
            set(what.get("rules", ())) & rules
            or top.pattern in what.get("patterns", ())
            or set(what.get("events", ())) & events
            or run.health in what.get("health", ())
            or (top.cause in what.get("causes", ()) and top.probability >= 0.5)
        )

    return {symptom for symptom, what in says.items() if said(what)}


def false_statements(
    run: RunDiagnosis, says: Mapping[str, Mapping[str, Any]], allowed: set[str]
) -> set[str]:
    """Rules of findings that are more than notes, and none of whose symptoms the label allows."""
    meant: dict[str, set[str]] = {}
    for symptom, what in says.items():
        for slug in what.get("rules", ()):
            meant.setdefault(slug, set()).add(symptom)
    loud = {f.slug for f in run.findings if f.severity in LOUD}
    return {r for r in loud if meant.get(r, set()) - SOFT and not meant[r] & allowed}


def score(
    label: Mapping[str, Any], runs: Sequence[RunDiagnosis] | None, says: Mapping[str, Any]
) -> dict[str, Any]:
    """One case: counts under the names of `COLUMNS`, and what was missed, wrong and said."""
    must, verdicts = label["must"], set(label["verdict"])
    if not runs:
        right = runs is None and "cannot-tell" in verdicts
        counts = {} if right else {"must": len(must), "verdict of": 1, "action of": 1}
        return {"counts": {"n": 1, "refused": 1, **counts}}
    said = set().union(*(symptoms(r, says) for r in runs))
    wrong = set().union(
        *(false_statements(r, says, {*label["may"], *(s for g in must for s in g)}) for r in runs)
    )
    missed = [group for group in must if not set(group) & said]
    given = {VERDICT[r.health] for r in runs}
    given |= {"cannot-tell" for r in runs if r.hypotheses[0].pattern == "too-short-to-tell"}
    worst = max(given, key=WORSE.index)
    right = worst in verdicts or "cannot-tell" in given & verdicts
    actions = {r.decision.action for r in runs}
    alarms = {f.slug for r in runs for f in r.findings if f.severity in ALARMS} - {"validation-missing"}
    counts = {
        "n": 1, "must": len(must), "must said": len(must) - len(missed), "false": len(wrong),
        "verdict of": 1, "verdict": right, "action of": 1, "action": bool(actions & set(label["action"])),
    }  # fmt: skip
    if verdicts == {"fine"}:
        counts |= {"fine": 1, "alarmed": bool(alarms)}
    if not verdicts & {"fine", "watch", "cannot-tell"}:
        counts |= {"bad": 1, "bad called fine": worst == "fine"}
    if len(runs) == 1:
        counts |= causes(label, runs[0].hypotheses)
    return {
        "counts": counts, "missed": missed, "false": sorted(wrong), "verdict": worst, "verdict right": right,
        "action": sorted(actions), "alarms": sorted(alarms),
        "causes": [(h.cause, round(h.probability, 2)) for h in runs[0].hypotheses[:3]],
        "findings": [f"{f.slug} ({f.severity})" for r in runs[:3] for f in r.findings],
    }  # fmt: skip


def causes(label: Mapping[str, Any], ranked: Sequence[Hypothesis]) -> dict[str, int]:
    """Counts on the causes of a log that holds one run."""
    three, counts = [h.cause for h in ranked[:3]], {}
    for name, want in (("cause", label["causes"]), ("settled", label["confirmed"])):
        if want:
            counts |= {
                f"{name} of": 1,
                f"{name} first": three[0] in want,
                f"{name} three": bool({*three} & {*want}),
            }
    if label["causes"] and ranked[0].probability >= SURE:
        counts |= {"sure of": 1, "sure": three[0] in label["causes"]}
    return counts


# What is printed: a name, what is counted and of how many.
COLUMNS = (
    ("demanded and said", "must said", "must"),
    ("false statements a log", "false", "n"),
    ("verdict acceptable", "verdict", "verdict of"),
    ("action acceptable", "action", "action of"),
    ("fine runs alarmed", "alarmed", "fine"),
    ("bad runs called fine", "bad called fine", "bad"),
    ("acceptable cause first", "cause first", "cause of"),
    ("in three", "cause three", "cause of"),
    ("settled cause first", "settled first", "settled of"),
    ("right when at least 80 % sure", "sure", "sure of"),
    ("refused", "refused", "n"),
)


def table(labels: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: files and threads, all of them and each part."""
    lines = ["| | all | " + " | ".join(HALVES) + " |", "|---" * (2 + len(HALVES)) + "|"]
    for kind, begins in (("files", "logs/"), ("threads", "threads/")):
        mine = [
            (half_of(e), row) for e, row in zip(labels, rows, strict=True) if e["path"].startswith(begins)
        ]
        sums = [
            total(row for half, row in mine if half in halves)
            for halves in (HALVES, *((h,) for h in HALVES))
        ]
        lines.append(f"| **{kind}** | " + " | ".join(f"{s['n']}" for s in sums) + " |")
        for name, count, of in COLUMNS:
            cells = (f"{s[count]}/{s[of]} ({s[count] / max(s[of], 1):.2f})" for s in sums)
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def total(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows:
        found.update({name: int(count) for name, count in row["counts"].items()})
    return found


def one(work: tuple[Path, Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
    folder, label, says = work
    return score(label, diagnosed(folder, label), says)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path)
    parser.add_argument(
        "--half", choices=HALVES, nargs="+", default=HALVES, help="only these (the rest is empty)"
    )
    parser.add_argument("--rows", type=Path, help="keep every case there, as JSON")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    says = {k: v for k, v in json.loads((asked.path / "says.json").read_text()).items() if k != "_"}
    labels = json.loads((asked.path / "labels.json").read_text())
    labels = [e for e in labels if half_of(e) in asked.half]
    with ProcessPoolExecutor(asked.jobs) as pool:
        rows = list(pool.map(one, [(asked.path, e, says) for e in labels], chunksize=4))
    print(table(labels, rows))
    if asked.rows:
        kept = [
            {"id": e["id"], "half": half_of(e), **r, "wanted": e} for e, r in zip(labels, rows, strict=True)
        ]
        asked.rows.write_text(json.dumps(kept, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
