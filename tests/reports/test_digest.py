"""What reports contain, before any format."""

from __future__ import annotations

from traindx.reports.digest import grouped_findings, unchecked_rules
from traindx.vocabulary.diagnosis import Finding, NotEvaluated, Severity


def finding(slug: str, after: str | None = None, severity: Severity = "high") -> Finding:
    return Finding(code="X", slug=slug, family="X", severity=severity, onset_step=1.0, last_step=None, where=None,
                   message=slug, consequence_of=after)  # fmt: skip


def shape(*findings: Finding) -> tuple[dict[str, list[str]], list[str]]:
    seen, notes = grouped_findings(findings)
    assert [s.number for s in seen] == list(range(1, len(seen) + 1))
    return {s.finding.slug: [f.slug for f in s.consequences] for s in seen}, [n.slug for n in notes]


def test_chains_hang_on_their_first_link() -> None:
    assert shape(finding("a"), finding("b", "a"), finding("c", "b")) == ({"a": ["b", "c"]}, [])


def test_a_premise_that_was_not_found_is_no_premise() -> None:
    assert shape(finding("b", "gone")) == ({"b": []}, [])


def test_circles_lose_no_finding() -> None:
    assert shape(finding("a", "b"), finding("b", "a"), finding("c", "c")) == (
        {"a": [], "b": [], "c": []},
        [],
    )


def test_notes_are_apart_unless_something_follows_from_them() -> None:
    assert shape(finding("n", severity="info"), finding("a")) == ({"a": []}, ["n"])
    assert shape(finding("n", severity="info"), finding("a", "n")) == ({"n": ["a"]}, [])


def test_what_was_not_checked_is_grouped_by_what_is_missing() -> None:
    items = (
        NotEvaluated("A", "a", "needs act_mean/*, which was not recorded", ("act_mean/*",)),
        NotEvaluated("B", "b", "needs act_std/*, which was not recorded", ("train/loss", "act_std/*")),
        NotEvaluated("C", "c", "needs lr, which was not recorded", ("train/loss", "lr")),
        NotEvaluated("D", "d", "needs 40 points of train/loss, there are 9", ("train/loss",)),
        NotEvaluated("E", "e", "needs 50 finite points of train/loss, there are 9", ("train/loss",)),
        NotEvaluated("F", "f", "the loss is constant", ("train/loss",)),
    )
    assert [u.sentence for u in unchecked_rules(items, ["train/loss"])] == [
        "2 need per-module activations (record with traindx run)",
        "2 need more points of train/loss",
        "1 needs lr (log it)",
        "1 because the loss is constant",
    ]


def test_of_a_recorded_run_nothing_is_asked_to_be_logged() -> None:
    items = (
        NotEvaluated(
            "A", "a", "needs act_zero_fraction/*, which was not recorded", ("act_zero_fraction/*",)
        ),
        NotEvaluated("B", "b", "needs loss_scale, which was not recorded", ("loss_scale",)),
        NotEvaluated("C", "c", "needs 4 modules with a gradient, there are 2", ("grad_norm/*",)),
    )
    assert [u.sentence for u in unchecked_rules(items, ["train/loss"], captured=True)] == [
        "1 needs a kind of module that the model does not have",
        "1 needs loss_scale",
        "1 needs 4 modules with a gradient, there are 2",
    ]
