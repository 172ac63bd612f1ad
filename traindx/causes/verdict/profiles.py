"""Verdicts on runs that were started to measure their time or memory, not what they learn."""

from collections.abc import Sequence

from traindx.vocabulary import Decision, Finding, Health, Memory, Profile, Recommendation

ABOUT_MEMORY = ("memory-too-small", "out-of-memory")  # the rules for a run that measures memory
GRAVE = ("critical", "high", "medium")
MEASURED, LIKELY = 0.9, 0.7  # confidence with several steps, and with one

ADVICE: dict[str, str] = {
    "step-waits-for-data": "give the data loader more workers, or load and decode less per batch",
    "host-waits-for-accelerator": "read numbers back (.item(), .cpu(), printing, a mask as an index) only "
    "every n-th step",
    "step-idles": "find what runs between the operators below (logging, checkpoints, metrics in Python, "
    "tokenizing), and move it out of the step or do it more rarely",
    "operators-are-tiny": "do more in each operator: a larger batch, torch.compile, foreach or fused "
    "variants instead of loops over tensors",
    "copies-take-time": "create tensors where they are used, in the number format and memory layout they "
    "are used in; pin memory and copy with non_blocking=True",
    "optimizer-takes-time": "set fused=True or foreach=True in the optimizer, or use more samples per step",
    "accelerator-underused": "find what the host does meanwhile in the table of the step",
}


def decide_profile(findings: Sequence[Finding], profile: Profile) -> tuple[Health, Decision]:
    """Health and decision of a run whose time alone was measured."""
    sure = MEASURED if profile.steps > 1 else LIKELY
    grave = [f for f in findings if f.severity in GRAVE]
    if grave:
        return "watch", Decision("inspect", grave[0].message, sure)
    largest = max(profile.parts, key=lambda part: part.seconds)
    return "healthy", Decision(
        "continue", f"no part of a step takes unusually long; the longest is {largest.part}", sure
    )


def decide_memory(findings: Sequence[Finding], memory: Memory) -> tuple[Health, Decision]:
    """Health and decision of a run whose memory alone was measured."""
    if findings:
        return "watch", Decision("inspect", findings[0].message, MEASURED)
    return "healthy", Decision("continue", "the memory is sufficient for a step", MEASURED)


def profile_advice(findings: Sequence[Finding]) -> tuple[Recommendation, ...]:
    """What to do about each finding, in their order."""
    return tuple(
        Recommendation("speed", ADVICE[f.slug], f.message)
        for f in findings
        if f.slug in ADVICE and f.severity != "info"
    )
