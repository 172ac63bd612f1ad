"""Faults that the run itself shows, whatever their effect on it: what the documentation of the library says
to write instead."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from traindx.vocabulary import RunDiagnosis
from traindx.vocabulary.trial import Trial

# The finding that shows the fault -> its cause, the fix, and what the documentation says.
DOCUMENTED: Mapping[str, tuple[str, str, str]] = {
    "probabilities-fed-to-cross-entropy": (
        "double-softmax", "feed-logits-to-loss",
        "the documentation of the loss: cross-entropy expects logits and applies the softmax itself",
    ),
    "gradients-accumulate-across-steps": (
        "missing-zero-grad", "zero-gradients-each-step",
        "the documentation of PyTorch: backward() adds to the gradients until zero_grad() clears them",
    ),
    "output-cannot-reach-targets": (
        "wrong-output-activation", "match-output-to-loss",
        "the definition of the last activation: the targets lie outside of what it can give",
    ),
    "evaluating-in-train-mode": (
        "train-mode-evaluation", "switch-to-eval-mode",
        "the documentation of PyTorch: call model.eval() before evaluation, because of dropout and batch norm",
    ),
    "batches-sorted-by-class": (
        "unshuffled-data", "shuffle-data",
        "the definition of stochastic gradient descent: each batch is a random sample of the data",
    ),
    "future-leaks-into-output": (
        "missing-causal-mask", "mask-the-future",
        "the documentation of PyTorch: attention sees every token unless a mask or is_causal=True is given",
    ),
}  # fmt: skip


class Documented(NamedTuple):
    """A fix, and what its correctness rests on; both empty where nothing is certain."""

    fix: str = ""
    basis: str = ""


def find_documented(diagnosis: RunDiagnosis) -> Documented:
    """The fix of the leading cause, where a finding of the run itself shows that fault."""
    leading = diagnosis.hypotheses[0].cause if diagnosis.hypotheses else ""
    for finding in diagnosis.findings:
        cause, fix, basis = DOCUMENTED.get(finding.slug, ("", "", ""))
        if cause and cause == leading:
            return Documented(fix, basis)
    return Documented()


def in_vain(trials: Sequence[Trial], base: Sequence[str], diagnosis: RunDiagnosis) -> list[Trial]:
    """The trials that did not help. Not an inconclusive one of the repair of a certain fault, made before other
    changes that may have hidden its effect: sigmoids before cross-entropy hardly matter while the rate is too low."""
    certain = find_documented(diagnosis).fix
    return [
        one
        for one in trials
        if one.verdict != "confirmed"
        and not (
            one.verdict == "inconclusive" and one.fix == certain and tuple(one.on_top_of) != tuple(base)
        )
    ]
