"""GRD006 gradient-not-finite."""

import re

from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    Features,
    Iterator,
    Run,
    Severity,
    api,
    np,
    rule,
    threshold,
)

COUNT, NORM = re.compile(r"\d+"), re.compile(r"norm is (?:nan|inf)", re.IGNORECASE)


@rule(
    code="GRD006",
    needs=("grad_norm|event:skipped-step",),
    min_points=0,
    severity="high",
    persistence="at-once",
    message="the gradient norm is NaN or infinite in {count} of {rows} rows, {since} step {step:g}",
    follows=("loss-not-finite",),
)
def gradient_not_finite(
    run: Run,
    features: Features,
    *,
    opening: float = threshold(0.05, "of the rows", "convention", "the search for the first loss scale"),
    search: float = threshold(20, "rows", "theory", "halvings from 2**32 to the range of fp16 gradients"),
    isolated: float = threshold(2, "rows in a row", "convention", "one overflow between two logs"),
    many: float = threshold(0.1, "of the rows", "convention", "more than any loss scale causes"),
    often: float = threshold(0.02, "of the rows", "convention", "a dynamic scale overflows in 1 of 2,000"),
) -> Iterator[Evidence]:
    """The global gradient norm is NaN or infinite more often than a loss scale explains.

    ## What it sees
    Rows whose norm is not finite. The first rows are skipped if finite ones follow. Severity is high if it
    lasts to the end, for more than two rows, or in more than 2 % of the rows. It is medium if a tenth of the
    rows is not finite. It is also medium if no row of a short log (20 rows) is finite, because the loss
    scale may still be adjusting. It is low if single rows recover, and a note in fp16.

    ## Why it matters
    One optimizer step with such a gradient ruins the weights. With a gradient scaler the step is skipped,
    but a run that skips every step learns nothing.

    ## When it is wrong
    Mixed precision starts with a loss scale that is too high on purpose, and tries a higher one about every
    2,000 steps.

    ## What to try
    Find the first module whose gradient is not finite. Look at the norm just before.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, arXiv:1710.03740. PyTorch, `GradScaler`:
    https://docs.pytorch.org/docs/stable/amp.html.
    """
    if (curve := features.curve("grad_norm")) is None:
        return (yield from skipped_norms(run, int(isolated)))
    raw, n = curve.raw, len(curve.raw)
    if n < 2:
        raise CannotJudge("a single norm may be from the first steps of mixed precision")
    found = api.stretches(~np.isfinite(raw.values))
    if found and is_scale_search(*found[0], n, max(min(search, n // 3), opening * n, 1)):
        found = found[1:]
    if not found:
        return
    count, longest = sum(b - a for a, b in found), max(b - a for a, b in found)
    to_end = found[-1][1] == n and found[-1][1] - found[-1][0] > 1
    lasting = to_end or longest > isolated or (count > often * n and len(found) > isolated)
    searching = count == n <= search and moves(features.curve("train/loss"))
    repeated = len(found) >= isolated and count >= many * n
    grave, kind = (
        lasting and not searching,
        "persistent" if to_end else "recurrent" if lasting else "isolated",
    )
    first, mild = found[-1][0] if to_end else found[0][0], severity_of_single(run)
    step, before = float(raw.steps[first]), float(raw.values[first - 1]) if first > 0 else None
    yield Evidence(
        onset=step,
        last=float(raw.steps[found[-1][1] - 1]),
        strength=1.0 if grave else 0.5,
        severity="high" if grave else "medium" if searching or repeated else mild,
        aspects=(kind, *["from-start"][first:]),
        values=counted_rows(curve, step if to_end and len(found) == 1 else None),
        points=(api.EvidencePoint("grad_norm", step, float(raw.values[first]), before, "L2"),),
    )


def counted_rows(curve: Curve, lasting: float | None) -> dict[str, object]:
    """What the message says: also the first rows count, which a reader of the log sees. `lasting`: the step from which
    on no norm is finite, if there are no others."""
    bad = ~np.isfinite(curve.raw.values)
    first = float(curve.raw.steps[np.argmax(bad)])
    since = "from" if lasting == first else "first at"
    return {"count": int(bad.sum()), "rows": len(bad), "since": since, "step": first}


def severity_of_single(run: Run) -> Severity:
    """The severity of single overflows: the loss scale of fp16 causes them from time to time on purpose."""
    return (
        "info"
        if run.setup.word("precision").lower() in ("fp16", "float16", "half", "16", "16-mixed")
        else "low"
    )


def skipped_norms(run: Run, isolated: int) -> Iterator[Evidence]:
    """Steps that the log reports as skipped because their norm was not finite."""
    found = [e for e in run.events if e.kind == "skipped-step" and NORM.search(e.message)]
    count = sum(int(m[0]) if (m := COUNT.match(e.message)) else 1 for e in found)
    if count > isolated:
        yield Evidence(
            onset=run.first_step,
            last=run.last_step,
            message=f"the gradient norm was NaN or infinite in {count} steps, which were skipped",
            points=(
                api.EvidencePoint("event:skipped-step", run.last_step, float(count), isolated, "steps"),
            ),
        )


def is_scale_search(start: int, stop: int, rows: int, most: float) -> bool:
    """Whether the stretch from `start` to `stop` is the search for the first loss scale: it begins the run,
    has `most` rows or fewer, and a finite norm follows."""
    return start == 0 and stop <= most and stop < rows


def moves(loss: Curve | None) -> bool:
    """Whether a loss is finite and positive in every row. Some logs print 0 in place of NaN."""
    return loss is not None and bool(np.all(np.isfinite(loss.raw.values) & (loss.raw.values > 0)))
