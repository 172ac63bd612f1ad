"""Facts about the targets: classes or numbers, how many of each, and how they are written."""

from typing import Literal

import numpy as np

from traindx.redaction import round_outward
from traindx.survey.gather import Gathered, Sample
from traindx.survey.inputs import far_out
from traindx.survey.table import Codes, Measured, escape_name, list_names
from traindx.vocabulary import Fact

Task = Literal["classes", "numbers"]

FEW, MANY = 20, 1000  # integers up to FEW different ones are classes; up to MANY where none is left out
EACH = 5  # samples a class, for many integers to be classes


def task_of(found: Gathered) -> Task:
    """Whether a target is a class or a quantity. Words are classes, and so are few different integers,
    or many that run from 0 or 1 without a gap."""
    values = np.array(sorted(found.classes))
    if found.table.target_kind != "number":
        return "classes"
    if not len(values) or not (values == np.round(values)).all():
        return "numbers"
    unbroken = values[0] in (0, 1) and values[-1] - values[0] + 1 == len(values)
    many = unbroken and len(values) <= MANY and found.rows >= EACH * len(values)
    return "classes" if len(values) <= FEW or many else "numbers"


def measure_labels(
    found: Gathered, sample: Sample, task: Task, codes: Codes, held_out: Gathered | None
) -> Measured:
    """Facts about the targets of a table that has targets."""
    if task == "numbers":
        return numbers(found, sample)
    counts = found.classes
    ordered = sorted(counts.values())
    facts: dict[str, Fact] = {
        "classes": len(counts),
        "classes_seen": len(counts),
        "class_counts_max_min_ratio": ordered[-1] / ordered[0] if ordered else 0.0,
        "class_majority_share": ordered[-1] / max(sum(ordered), 1) if ordered else 0.0,
        "label_single_samples": sum(c == 1 for c in ordered),
    }
    words = codes.words(found.table.target or "")
    if found.table.target_kind == "number" and counts:
        whole = sorted(int(v) for v in counts)
        facts |= {
            "label_min": whole[0],
            "label_max": whole[-1],
            "label_gaps": whole[-1] - whole[0] + 1 - len(whole),
        }
    else:
        variants = similar_labels([words[int(c)] for c in counts if int(c) < len(words)])
        facts |= {"label_twins": len(variants), "label_twins_where": spellings(variants)}
    facts |= unseen_classes(found, held_out, words)
    return Measured(facts)


def similar_labels(words: list[str]) -> list[tuple[str, ...]]:
    """Labels that differ in case, blanks or the characters between words only."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault("".join(c for c in word.casefold() if c.isalnum()) or word, []).append(word)
    return [tuple(g) for g in groups.values() if len(g) > 1]


def spellings(variants: list[tuple[str, ...]]) -> str:
    """Groups of labels that differ in spelling only, such as "'yes' / 'Yes '"."""
    return list_names(
        [" / ".join(repr(escape_name(word)) for word in group) for group in variants],
        limit=100,
        quotes=False,
    )


def unseen_classes(found: Gathered, held_out: Gathered | None, words: list[str]) -> dict[str, Fact]:
    """Classes of the validation data that are not in the training data."""
    if held_out is None or not held_out.classes:
        return {}
    new = [c for c in held_out.classes if c not in found.classes]
    names = [words[int(c)] if int(c) < len(words) else f"{c:g}" for c in new]
    return {"label_unseen_classes": len(new), "label_unseen_where": list_names(names)}


def numbers(found: Gathered, sample: Sample) -> Measured:
    """Scale and outliers of targets that are quantities."""
    column = found.target
    far, reach = far_out(sample.target)
    facts: dict[str, Fact] = {
        "targets_mean_abs": float(abs(column.mean[0])),
        "targets_std": float(column.std[0]),
        "targets_std_max": float(column.std[0]),
        "targets_min": round_outward(float(column.low[0])),
        "targets_max": round_outward(float(column.high[0])),
        "targets_distinct": len(found.classes),
        "targets_outliers": int(far.sum()),
        "targets_outlier_share": float(far.mean()) if len(far) else 0.0,
        "targets_outlier_reach": reach,
    }
    if not np.isfinite(column.low[0]):
        facts = {"targets_distinct": 0}
    return Measured(facts, {"targets-have-outliers": sample.rows[far]})
