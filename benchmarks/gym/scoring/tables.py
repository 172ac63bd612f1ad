"""The scorer's tables: each a function of the scored material, Markdown as text."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchmarks.gym.scoring.diagnoses import LEVELS, Record
from traindx.causes.catalogue import catalogue

WHOLE = ("all a log holds", "the same, half of the skill lost")
SEVERE = 0.5
PLAIN = ("train/loss", "train/loss_estimate")
SPEAKS = 0.5  # log-odds from which a rule counts as one of a cause's


class Material(NamedTuple):
    """Labelled rows, diagnoses of the readable ones, the unreadable ones with the reason, records by level."""

    labelled: Sequence[dict[str, Any]]
    scored: Sequence[Record]
    unread: Sequence[tuple[dict[str, Any], str]]
    levels: Counter[str]

    @property
    def own(self) -> list[Record]:
        """One diagnosis of each log: from all that it holds."""
        return [r for r in self.scored if r.own]


def markdown(head: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in body])


def share(part: int, whole: int) -> str:
    """`12 of 40 (30 %)`"""
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "-"


def of_level(m: Material, level: str) -> list[Record]:
    """The diagnoses at a level; for the last of `WHOLE` without the faults that did less harm."""
    if level not in WHOLE:
        return [r for r in m.scored if r.level == level]
    return [r for r in m.own if level == WHOLE[0] or not r.hurt or (r.row["harm"] or 1.0) >= SEVERE]


def verdicts(m: Material) -> str:
    counts = Counter(row["verdict"] for row in m.labelled)
    read = len({r.row["id"] for r in m.scored})
    return (
        ", ".join(f"{n} {v}" for v, n in counts.most_common()) + f"; {read} logs read, {len(m.unread)} not"
    )


def ranking(m: Material) -> str:
    """Top-1 and top-3 of a right cause, over faults that hurt, by level."""
    body = []
    for level in (*LEVELS, *WHOLE):
        at = [r for r in of_level(m, level) if r.hurt]
        ranks = [r.rank() for r in at]
        strict = sum(r.causes[0][0] == r.row["cause"] for r in at)
        body.append((level, len(at), *(share(sum(k is not None and k <= n for k in ranks), len(at)) for n in (1, 3)),
                     share(strict, len(at))))  # fmt: skip
    return markdown(
        ("level", "faulty logs", "right cause first", "among three", "first, and the very fault"), body
    )


def health(m: Material) -> str:
    body = []
    for level in (*LEVELS, *WHOLE):
        at = of_level(m, level)
        well, ill = [r for r in at if r.healthy], [r for r in at if r.hurt]
        spared = [r for r in at if r.row["verdict"] == "harmless"]
        body.append(
            (
                level,
                share(sum(r.called_sick for r in well), len(well)),
                share(sum(bool(r.alarms) for r in well), len(well)),
                share(sum(r.causes[0][0] != "healthy" for r in well), len(well)),
                share(sum(r.health == "healthy" for r in ill), len(ill)),
                share(sum(not r.called_sick for r in ill), len(ill)),
                share(sum(r.called_sick for r in spared), len(spared)),
            )
        )
    head = ("level", "healthy called sick", "healthy with an alarm", "healthy, first cause a fault",
            "faulty called healthy", "faulty not called sick", "harmless called sick")  # fmt: skip
    return markdown(head, body)


def alarms(m: Material) -> str:
    well = [r for r in m.own if r.healthy]
    fired = Counter(f["slug"] for r in well for f in r.alarms)
    where: dict[str, Counter[str]] = defaultdict(Counter)
    for r in well:
        for f in r.alarms:
            where[f["slug"]][r.row["setting"]] += 1
    body = [(slug, share(n, len(well)), ", ".join(f"{s} {k}" for s, k in where[slug].most_common(4)))
            for slug, n in fired.most_common()]  # fmt: skip
    return markdown(("rule", "healthy runs", "settings"), body)


def by_cause(m: Material) -> str:
    groups: dict[str, list[Record]] = defaultdict(list)
    for r in m.own:
        if r.hurt:
            groups[r.row["cause"]].append(r)
    body = []
    for cause, found in sorted(groups.items()):
        ranks = [r.rank() for r in found]
        wrong = Counter(r.causes[0][0] for r in found if r.rank() != 1)
        body.append((cause, len(found), sum(k == 1 for k in ranks), sum(k is not None and k <= 3 for k in ranks),
                     sum(r.called_sick for r in found),
                     ", ".join(f"{c} {n}" for c, n in wrong.most_common(3))))  # fmt: skip
    return markdown(("cause", "runs", "first", "in three", "called sick", "wrong first answers"), body)


def confusion(m: Material) -> str:
    """The most frequent pairs of fault and wrong first answer."""
    pairs = Counter((r.row["cause"], r.causes[0][0]) for r in m.own if r.hurt and r.rank() != 1)
    answers = Counter(r.causes[0][0] for r in m.own if r.hurt and r.rank() != 1)
    body = [(true, said, n) for (true, said), n in pairs.most_common(25)]
    often = ", ".join(f"{c} {n}" for c, n in answers.most_common(10))
    return markdown(("fault", "first answer", "runs"), body) + f"\n\nWrong first answers in all: {often}"


def unseen(m: Material) -> str:
    """Faults whose runs were all left without an alarm, or nearly."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for r in m.own:
        if r.hurt:
            groups[(r.row["cause"], r.row["fault"])].append(r)
    body = [(cause, fault, share(sum(not r.alarms for r in rs), len(rs)),
             f"{median(r.row['harm'] or 0 for r in rs):.2f}")
            for (cause, fault), rs in sorted(groups.items())
            if sum(not r.alarms for r in rs) >= len(rs) / 2]  # fmt: skip
    return markdown(("cause", "fault", "runs without an alarm", "median harm"), body)


def detection(m: Material) -> str:
    at = [r.sick_at for r in m.own if r.hurt and r.sick_at is not None]
    if not at:
        return "not asked for"
    late = [max(0.0, r.sick_at - (r.row["onset"] or 0.0)) for r in m.own if r.hurt and r.sick_at is not None]
    by = Counter(at)
    return (
        f"Of {len(at)} faults called sick: median {100 * median(at):.0f} % of the run "
        f"({100 * median(late):.0f} % after the fault began). First called sick at: "
        + ", ".join(f"{100 * s:.0f} %: {by[s]}" for s in sorted(by))
    )


def calibration(m: Material) -> str:
    """Expected calibration error of the first answer's probability, ten bins."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for r in m.own:
        cause, p = r.causes[0]
        bins[min(9, int(p * 10))].append((p, cause in r.row["causes"]))
    total = sum(map(len, bins.values()))
    error, body = 0.0, []
    for b in sorted(bins):
        told = sum(p for p, _ in bins[b]) / len(bins[b])
        right = sum(ok for _, ok in bins[b]) / len(bins[b])
        error += len(bins[b]) / total * abs(told - right)
        body.append((f"{b / 10:.1f}-{(b + 1) / 10:.1f}", len(bins[b]), f"{told:.2f}", f"{right:.2f}"))
    return (
        markdown(("probability", "logs", "told", "right"), body)
        + f"\n\nExpected calibration error {error:.3f}"
    )


def rules(m: Material) -> str:
    """Each rule: fired on faulty runs of its causes, on all faulty, on healthy (any severity; medium or worse)."""
    own_causes: dict[str, set[str]] = defaultdict(set)
    for cause in catalogue():
        for key, weight in cause.weights.items():
            if weight.fired >= SPEAKS and cause.slug != "healthy":
                own_causes[key.split(":")[0]].add(cause.slug)
    well, ill = [r for r in m.own if r.healthy], [r for r in m.own if r.hurt]
    body = []
    for slug in sorted({f["slug"] for r in m.own for f in r.findings}):
        its = [r for r in ill if r.row["cause"] in own_causes[slug]]
        fires = [sum(any(f["slug"] == slug for f in r.findings) for r in rs) for rs in (its, ill, well)]
        loud = sum(any(f["slug"] == slug for f in r.alarms) for r in well)
        lift = math.log((fires[1] + 0.5) / (len(ill) + 1) / ((fires[2] + 0.5) / (len(well) + 1)))
        body.append((slug, share(fires[0], len(its)), share(fires[1], len(ill)), share(fires[2], len(well)),
                     share(loud, len(well)), f"{lift:+.1f}"))  # fmt: skip
    head = ("rule", "of its causes", "of all faulty", "of healthy", "healthy, medium or worse", "log ratio")
    return markdown(head, body)


def reading(m: Material) -> str:
    """What readers made of each style: one run is in each log, with a training loss, and validation where told."""
    styles = sorted({str(r["style"]) for r in m.labelled if r["style"]})
    body = []
    for style in styles:
        at = [r for r in m.own if r.row["style"] == style]
        lost = [r for r in at if r.row.get("validated") and not any(n.startswith("val/") for n in r.signals)]
        odd = Counter(n for r in at for n in r.signals if n.startswith("train/") and n not in PLAIN)
        body.append((style, len(at), sum(r.runs > 1 for r in at), len(lost),
                     ", ".join(f"{n} {k}" for n, k in odd.most_common(4))))  # fmt: skip
    return markdown(
        ("style", "logs read", "cut into several runs", "validation lost", "other names in train/"), body
    )


def unread(m: Material) -> str:
    by: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row, why in m.unread:
        by[(str(row["style"]), why)].append(row["id"])
    body = [(style, why, len(ids), ids[0]) for (style, why), ids in sorted(by.items())]
    return markdown(("style", "why", "logs", "for example"), body) if body else "none"
