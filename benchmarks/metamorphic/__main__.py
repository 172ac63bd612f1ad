"""Try on many logs what must not change a verdict: `python -m benchmarks.metamorphic FOLDER… [--show KIND]`.

Each log is read, diagnosed, changed as each relation says, and diagnosed again (see `relations`; names of relations and
what each promises are printed with the table). Of two halves, by repository or program, one is for developing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import warnings
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.metamorphic.cases import HALVES, Case, cases
from benchmarks.metamorphic.claims import wrong_claims
from benchmarks.metamorphic.columns import Exempt
from benchmarks.metamorphic.formats import FORMATS
from benchmarks.metamorphic.relations import RELATIONS, Subject, same_in_formats
from traindx.errors import TraindxError

PAGE_KINDS = ("contradiction", "number", "missing", "too long")
MOST_LOGS = 4  # of one folder
COMMON = 0.6  # of the pages, from which a sentence is what every run would get


def tried(case: Case, only: str = "") -> list[dict[str, Any]]:
    """The outcomes for the logs of a case, each of one run; none where it cannot be read."""
    rows = []
    with contextlib.suppress(TraindxError):
        for number, raw in enumerate(case.read()[:MOST_LOGS]):
            with contextlib.suppress(Exempt):
                subject = Subject(raw, f"{case.name}#{number + 1}" if number else case.name)
                rows.append({"half": case.half, **outcomes(subject, only)})
    return rows


def outcomes(subject: Subject, only: str) -> dict[str, Any]:
    """The outcome of every relation on one log: kinds of differences, or "exempt: …"."""
    outcome: dict[str, list[str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a relation does to infinities
        for relation in RELATIONS:
            if only in relation.name:
                try:
                    outcome[relation.name] = relation.check(subject)
                except Exempt as reason:
                    outcome[relation.name] = [f"exempt: {reason}"]
        if any(only in f"as {name}" for name in FORMATS):
            outcome |= {f"as {name}": kinds for name, kinds in same_in_formats(subject).items()}
        sentences: set[str] = set()
        if only in "page":
            claims, sentences = wrong_claims(subject.run)
            outcome |= {f"page: {k}": [words for kind, words in claims if kind == k] for k in PAGE_KINDS}
    base = subject.base._asdict()
    return {"name": subject.name, "outcome": outcome, "said": sorted(sentences), "base": base}


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Markdown: for each relation and half the logs that it was tried on, and violations by kind."""
    tries: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    kinds: dict[str, Counter[str]] = {}
    for row in rows:
        for name, found in row["outcome"].items():
            if any(kind.startswith("exempt") for kind in found):
                continue
            tries[name, row["half"]] += 1
            wrong[name, row["half"]] += bool(found)
            own = kinds.setdefault(name, Counter())
            own.update({"violation"} if name.startswith("page") and found else found)
    lines = ["| relation | " + " | ".join(HALVES) + " | kinds |", "|---" * (2 + len(HALVES)) + "|"]
    for name in dict.fromkeys(n for n, _ in tries):
        cells = (f"{wrong[name, half]}/{tries[name, half]}" for half in HALVES)
        shown = ", ".join(f"{kind} {n}" for kind, n in kinds.get(name, Counter()).most_common())
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {shown} |")
    total = [f"{sum(n for (_, h), n in wrong.items() if h == half)}" for half in HALVES]
    return "\n".join([*lines, f"| **all** | {' | '.join(total)} | |"])


def common(rows: list[dict[str, Any]]) -> str:
    """Sentences that most pages have."""
    counts = Counter(sentence for row in rows for sentence in row["said"])
    often = [(n, sentence) for sentence, n in counts.most_common() if n > COMMON * max(len(rows), 1)]
    return "\n".join(f"said on {n} of {len(rows)} pages: {sentence!r}" for n, sentence in often)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument(
        "--show", metavar="KIND", help="list the logs that violate relations with this in their name"
    )
    parser.add_argument("--only", default="", help="only relations with this in their name")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--rows", type=Path, help="keep every outcome there, a line of JSON each")
    parser.add_argument("--every", type=int, default=1, help="only every n-th case")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    wanted = [c for folder in asked.folders for c in cases(folder) if asked.half in (None, c.half)]
    wanted = wanted[:: asked.every]
    rows, unread = [], 0
    with ProcessPoolExecutor(asked.jobs) as pool, contextlib.ExitStack() as stack:
        out = stack.enter_context(asked.rows.open("w")) if asked.rows else None
        for found in pool.map(tried, wanted, [asked.only] * len(wanted)):
            rows += found
            unread += not found
            if out is not None:
                out.writelines(json.dumps(row) + "\n" for row in found)
                out.flush()
    print(f"{len(rows)} logs of one run; {unread} cases not read, or of several runs\n")
    for relation in RELATIONS:
        print(f"- {relation.name}: {relation.promise}")
    print("- as each format, against a table of the same numbers: health, cause, onset\n")
    print(table(rows))
    print(common(rows))
    if asked.show:
        show(rows, asked.show)
    return 0


def show(rows: list[dict[str, Any]], wanted: str) -> None:
    for row in rows:
        for name, found in row["outcome"].items():
            if wanted in name and found and not found[0].startswith("exempt"):
                base = row["base"]
                print(
                    f"{row['half']} {row['name']}: {name}: {', '.join(found)} ({base['health']}, {base['cause']})"
                )


if __name__ == "__main__":
    raise SystemExit(main())
