"""What documentation settles: only a finding of the run itself, and only where its cause leads."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tests.lab.repair.descent import Descent
from tests.lab.repair.test_search import searched
from traindx.causes import find as cause
from traindx.fixes import find as fix
from traindx.lab.repair.document import what_is_left
from traindx.lab.repair.documented_faults import DOCUMENTED, Documented, find_documented, in_vain
from traindx.rules import catalogue
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.trial import Trial


def test_every_entry_names_a_rule_a_cause_and_its_fix() -> None:
    assert set(DOCUMENTED) <= {rule.slug for rule in catalogue()}
    for slug, name, _ in DOCUMENTED.values():
        found = fix(name)
        assert cause(slug) is not None
        assert found is not None
        assert slug in found.causes


def test_the_leading_cause_needs_its_finding(tmp_path: Path) -> None:
    plain = searched(tmp_path, Descent(rate=0.3)).report.diagnosis
    seen = replace(plain.findings[0], slug="probabilities-fed-to-cross-entropy")
    softmax = Hypothesis(cause="double-softmax", title="t", probability=0.9)
    other = Hypothesis(cause="label-noise", title="t", probability=0.1)
    both = replace(plain, findings=(*plain.findings, seen), hypotheses=(softmax, other))
    assert find_documented(both).fix == "feed-logits-to-loss"
    assert find_documented(replace(both, findings=plain.findings)) == Documented()
    assert find_documented(replace(both, hypotheses=(other, softmax))) == Documented()
    assert find_documented(replace(both, hypotheses=())) == Documented()


def test_a_certain_repair_is_tried_again_on_top_of_another_change(tmp_path: Path) -> None:
    plain = searched(tmp_path, Descent(rate=0.3)).report.diagnosis
    seen = replace(plain.findings[0], slug="output-cannot-reach-targets")
    leading = Hypothesis(cause="wrong-output-activation", title="t", probability=0.9)
    known, raised = replace(plain, findings=(seen,), hypotheses=(leading,)), ("lr=*10",)
    repair = Trial(fix="match-output-to-loss", verdict="inconclusive")
    other, refuted = Trial(fix="clip-gradients"), replace(repair, verdict="refuted")
    assert in_vain([repair, other], raised, known) == [other]
    assert in_vain([repair], (), known) == [repair]
    assert in_vain([refuted], raised, known) == [refuted]
    assert in_vain([replace(repair, on_top_of=raised)], raised, known)
    assert in_vain([repair], raised, plain) == [repair]


def test_what_a_fix_leaves_is_said_by_its_name_where_it_is_certain(tmp_path: Path) -> None:
    """A faster loader was headed by "fixed", while the softmax before the cross-entropy stayed."""
    plain = searched(tmp_path, Descent(rate=0.3)).report.diagnosis
    left = replace(plain.findings[0], severity="high", message="it rises.")
    certain = replace(
        left, slug="probabilities-fed-to-cross-entropy", message="the loss gets probabilities."
    )
    sick = replace(
        plain, health="sick", hypotheses=(Hypothesis(cause="double-softmax", title="t", probability=0.9),)
    )
    assert (
        what_is_left(replace(sick, findings=(left, certain)))
        == "; not repaired: the loss gets probabilities"
    )
    assert what_is_left(replace(sick, findings=(left,))) == "; the fixed run still has problems"
    assert what_is_left(replace(sick, findings=(left, certain), health="healthy")) == ""
    assert what_is_left(replace(sick, findings=(replace(left, severity="info"),))) == ""
    assert what_is_left(None) == ""
