"""Facts about whole samples: copies, overlap with the validation data, their order."""

from traindx.survey import hashes
from traindx.survey.api import Fact, Floats, Gathered, Measured, Sample, Task, np

LEAST = 100  # rows needed to judge their order


def copies(found: Gathered, sample: Sample) -> Measured:
    """Samples that repeat an earlier one, those that do so with another target, and how many copies chance
    alone would make of features with so few values."""
    repeats, conflicting = hashes.copies(found.seen)
    marks, _, _ = found.seen.all()
    facts: dict[str, Fact] = {
        "samples_duplicates": len(repeats),
        "samples_duplicate_share": len(repeats) / max(len(marks), 1),
        "samples_duplicate_chance": by_chance(sample.features, found.rows),
        "samples_compared": len(marks),
    }
    rows = {"samples-duplicated": repeats}
    if found.table.target is not None:
        facts |= {
            "samples_conflicting_share": len(conflicting) / max(len(marks), 1),
            "samples_conflicting": len(conflicting),
        }
        rows["labels-contradict"] = conflicting
    return Measured(facts, rows)


def by_chance(features: Floats, rows: int) -> float:
    """The share of samples that would repeat another if the features were independent of each other:
    1 - exp(-rows * product of sum p^2), with the frequencies of the sample."""
    log = 0.0
    n = len(features)
    for i in range(features.shape[1]):
        _, counts = np.unique(features[:, i], return_counts=True)
        same = float((counts * (counts - 1.0)).sum()) / max(n * (n - 1.0), 1)
        log += float(np.log(max(same, 1 / max(n * n, 4))))
        if log < -50:
            return 0.0
    return float(-np.expm1(-rows * np.exp(log)))


def overlap(found: Gathered, held_out: Gathered) -> Measured:
    """Validation samples that are training samples as well."""
    both, share = hashes.shared_hashes(found.seen, held_out.seen)
    known, _, _ = found.seen.all()
    marks, _, _ = held_out.seen.all()
    return Measured(
        {
            "train_val_overlap_share": share,
            "train_val_overlap": len(both),
            "val_samples_hashed": len(np.unique(marks)),
            "train_samples_hashed": len(np.unique(known)),
        },
        {"train-and-validation-overlap": both},
    )


def order(found: Gathered, sample: Sample, task: Task) -> Measured:
    """How much more often than by chance neighbouring rows share their class (0 mixed, 1 sorted), or how
    far the target rises or falls with the row (rank correlation)."""
    lacking = {"rows_class_purity": "needs 100 samples and more with a target"}
    if found.rows < LEAST:
        return Measured(reasons=lacking)
    if task == "numbers":
        known = np.isfinite(sample.target)
        if known.sum() < LEAST:
            return Measured(reasons=lacking)
        return Measured(
            {
                "rows_target_trend": rank_correlation(
                    sample.rows[known].astype(np.float64), sample.target[known]
                )
            }
        )
    counts = np.array(list(found.classes.values()), dtype=np.float64)
    total = counts.sum()
    chance = float((counts * (counts - 1)).sum() / max(total * (total - 1), 1))
    if not found.pairs or chance >= 1:
        return Measured(reasons={"rows_class_purity": "there is one class only"} if chance >= 1 else lacking)
    purity = (found.same / found.pairs - chance) / (1 - chance)
    # What a loader yields is what training gets; a file may still be shuffled.
    name = "batch_class_purity" if found.table.origin == "loader" else "rows_class_purity"
    return Measured({name: float(np.clip(purity, -1, 1))})


def rank_correlation(a: Floats, b: Floats) -> float:
    """Spearman's rank correlation, ties in the middle of their ranks; 0 where one is constant."""
    x, y = ranks(a), ranks(b)
    return 0.0 if x.std() == 0 or y.std() == 0 else float(np.corrcoef(x, y)[0, 1])


def ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse], dtype=np.float64)
