"""A diagnosis as a table of its findings."""

from __future__ import annotations

from traindx.vocabulary.diagnosis import Document


def render(document: Document) -> str:
    rows = [finding.slug for run in document.runs for finding in run.findings]
    return "\n".join(["finding", *rows]) + "\n"
