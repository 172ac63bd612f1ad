"""Evidence is said in words that need no list."""

from __future__ import annotations

from traindx.causes.grades.scales import SCALES
from traindx.reports.diagnosis.evidence_words import GRADES, MEASURED, term_words
from traindx.vocabulary import EvidenceTerm

PLAIN = {"optimizer", "schedule", "normalization", "weight-decay", "dropout", "momentum", "precision", "class-weights",
         "shuffle"}  # fmt: skip


def test_terms_in_words() -> None:
    assert term_words(EvidenceTerm("loss-diverges:late", 1.0), {"loss-diverges"}) == "loss-diverges (late)"
    assert term_words(EvidenceTerm("loss-diverges", -1.0), set()) == "no loss-diverges"
    assert term_words(EvidenceTerm("fact:half-precision", 1.0), set()) == "half-precision"
    assert term_words(EvidenceTerm("loss-tail=falling", 1.0), set()) == "loss in the last quarter: falling"
    assert term_words(EvidenceTerm("weight-decay=usual", 1.0), set()) == "weight decay: usual"


def test_every_scale_says_what_it_grades() -> None:
    names = {scale.name for scale in SCALES}
    silent = names - MEASURED.keys() - PLAIN
    assert not silent, (
        f"say what {sorted(silent)} grade: a line in MEASURED of traindx/reports/diagnosis/evidence_words.py"
    )
    assert names >= MEASURED.keys()
    assert {grade for scale in SCALES for grade in scale.names} >= GRADES.keys()
