"""What a log says whose learning rate was raised until the loss diverged."""

from traindx.causes.verdict.health import Case
from traindx.features.comparisons.rate_sweep import range_test_of, read
from traindx.vocabulary import Decision, Health


def choose_rate(case: Case, health: Health) -> Decision | None:
    """A range test is no training: it diverges by design, and shows which rates are safe."""
    sweep = range_test_of(case.run)
    if sweep is None:
        return None
    known = "the learning rate rises exponentially to the end: this is a range test, not a training"
    found = read([sweep])
    if isinstance(found, str):
        return Decision("inspect", f"{known}. {found.capitalize()}", 0.9)
    rates = f"The loss was lowest at a rate of {found.reading.lowest:.2g}; train with about {found.reading.suggested:.2g}"
    return Decision("inspect", f"{known}. {rates}", 0.9)
