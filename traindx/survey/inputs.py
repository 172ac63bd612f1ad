"""Facts about the features: what is missing, their scale, extreme values, constants and copies."""

import numpy as np

from traindx.redaction import round_outward
from traindx.survey.gather import Gathered, Sample
from traindx.survey.table import Field, Measured, escape_name, list_names, quote_name
from traindx.vocabulary import Bools, Fact, Floats, Ints

FAR, FAR_LOG = 10.0, 3.0  # times the distance that 95 % of the values keep to
INNER = 0.95
LEAST = 20  # values needed to estimate a spread
COMPARED = 512  # features that are compared with each other
SAME = 1e-9  # 1 - |r| of features that are the same but for offset and scale


def measure_inputs(found: Gathered, sample: Sample) -> Measured:
    """Every fact about the inputs of a table that has rows and features."""
    made = Measured()
    for part in (measure_missing(found), scale(found), outliers(found, sample), measure_idle(found, sample)):
        made.add(part)
    return made


def measure_missing(found: Gathered) -> Measured:
    columns, fields = found.columns, found.table.fields
    cells = max(columns.rows * len(fields), 1)
    facts: dict[str, Fact] = {
        "inputs_nonfinite": int(columns.nonfinite.sum()),
        "inputs_missing": int(columns.missing.sum()),
        "inputs_missing_share": float(columns.missing.sum() / cells),
        "inputs_missing_worst_share": float(columns.missing.max() / max(columns.rows, 1)),
        "inputs_missing_where": name_features(fields, columns.missing),
        "inputs_nonfinite_where": name_features(fields, columns.nonfinite),
        "inputs_inconvertible": found.inconvertible,
        "rows_malformed": len(found.table.facts.get("rows_malformed", ())),
    }
    if found.table.target is not None:
        facts["targets_missing"] = int(found.target.missing[0] + found.target.nonfinite[0])
    rows = {
        "values-missing": np.array(found.rows_missing),
        "inputs-not-finite": np.array(found.rows_nonfinite),
    }
    return Measured(facts, rows)


def name_features(fields: tuple[Field, ...], counts: Ints | Floats) -> str:
    """The names of the features with a count, the largest first."""
    order = [i for i in np.argsort(-counts, kind="stable") if counts[i] > 0]
    return list_names([fields[i].name for i in order])


def numeric(found: Gathered) -> Bools:
    return np.array([f.kind == "number" for f in found.table.fields], dtype=bool)


def scale(found: Gathered) -> Measured:
    """Mean and spread over the features that are numbers."""
    columns, which = found.columns, numeric(found) & (found.columns.count > 0)
    if not which.any():
        return Measured(reasons={"inputs_std_max": "no feature is a number"})
    mean, std = np.abs(columns.mean[which]), columns.std[which]
    varied = std[~columns.constant[which]]
    return Measured(
        {
            "inputs_features": len(found.table.fields),
            "inputs_mean_abs": float(mean.mean()),
            "inputs_mean_abs_max": float(mean.max()),
            "inputs_std_mean": float(std.mean()),
            "inputs_std_min": float((varied if len(varied) else std).min()),
            "inputs_std_max": float(std.max()),
            "inputs_min": round_outward(float(columns.low[which].min())),
            "inputs_max": round_outward(float(columns.high[which].max())),
            "inputs_samples_read": columns.rows,
        }
    )


def outliers(found: Gathered, sample: Sample) -> Measured:
    """Values far from the bulk of their feature, in the sample."""
    which = np.flatnonzero(numeric(found))
    counts, reach = np.zeros(len(found.table.fields)), 0.0
    rows = np.zeros(len(sample.rows))
    for i in which:
        far, furthest = far_out(sample.features[:, i])
        counts[i] = far.sum()
        rows[far] += 1
        reach = max(reach, furthest)
    cells = max(len(which) * len(sample.rows), 1)
    facts: dict[str, Fact] = {
        "inputs_outliers": int(counts.sum()),
        "inputs_outlier_share": float(counts.sum() / cells),
        "inputs_outlier_reach": reach,
        "inputs_outlier_where": name_features(found.table.fields, counts),
    }
    order = np.argsort(-rows, kind="stable")[: int((rows > 0).sum())]
    return Measured(facts, {"inputs-have-outliers": sample.rows[order]})


def far_out(values: Floats) -> tuple[Bools, float]:
    """Which of `values[n]` are more than FAR times as far from the median as 95 % of them, and the largest
    such ratio (0 without one). The most frequent value is excluded if it is over half of all (sparse
    features). Positive values must also be far out as logarithms, because heavy tails are not outliers."""
    nothing = np.zeros(len(values), dtype=bool)
    usable = np.isfinite(values)
    distinct, counts = np.unique(values[usable], return_counts=True)
    if len(distinct) and counts.max() > usable.sum() / 2:
        usable &= values != distinct[counts.argmax()]
    kept = values[usable]
    if len(kept) < LEAST:
        return nothing, 0.0
    ratio = distance(kept)
    far = ratio > FAR
    if far.any() and kept.min() > 0:
        far &= distance(np.log(kept)) > FAR_LOG
    nothing[np.flatnonzero(usable)[far]] = True
    return nothing, float(ratio[far].max(initial=0.0))


def distance(values: Floats) -> Floats:
    """Distance from the median over the distance that INNER of the values keep to; 0 where that is 0."""
    apart = np.abs(values - np.median(values))
    inner = np.quantile(apart, INNER)
    return np.asarray(apart / inner if inner > 0 else np.zeros(len(values)))


def measure_idle(found: Gathered, sample: Sample) -> Measured:
    """Features that never change, and features that repeat another."""
    constant, fields = found.columns.constant, found.table.fields
    twins = duplicated_features(found, sample, constant)
    return Measured(
        {
            "inputs_constant_features": int(constant.sum()),
            "inputs_features": len(fields),
            "inputs_constant_where": name_features(fields, constant.astype(np.int64)),
            "inputs_duplicate_features": len(twins),
            "inputs_duplicate_where": list_names(
                [
                    f"{quote_name(escape_name(fields[b].name))} = {quote_name(escape_name(fields[a].name))}"
                    for a, b in twins
                ],
                limit=100,
                quotes=False,
            ),
        }
    )


def duplicated_features(found: Gathered, sample: Sample, constant: Bools) -> list[tuple[int, int]]:
    """Pairs (first, copy) of features that are equal in every row, or up to offset and scale in the
    sample."""
    first: dict[int, int] = {}
    pairs = []
    for i in np.flatnonzero(~constant):
        twin = first.setdefault(int(found.columns.bits[i]), int(i))
        if twin != i:
            pairs.append((twin, int(i)))
    left = [i for i in first.values() if found.table.fields[i].kind == "number"][:COMPARED]
    values = sample.features[:, left]
    if len(left) < 2 or len(values) < LEAST or not np.isfinite(values).all():
        return pairs
    spread = values.std(0)
    left = [i for i, s in zip(left, spread, strict=True) if s > 0]
    values = (values[:, spread > 0] - values[:, spread > 0].mean(0)) / spread[spread > 0]
    equal = np.abs(values.T @ values) / len(values) > 1 - SAME
    later = [(left[a], left[b]) for b in range(len(left)) for a in [int(equal[:, b].argmax())] if a < b]
    return pairs + later
