"""How titles, probabilities and places in a log are written in a sentence: the same on every page."""

import math


def lower_first(title: str) -> str:
    """A title for the middle of a sentence: a small first letter, unless it begins with an acronym."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def certainty(probability: float) -> str:
    """A probability as an adverb; "" where it is too low to name one cause."""
    words = ((0.95, "almost certainly"), (0.65, "probably"), (0.35, "possibly"))
    return next((word for least, word in words if probability >= least), "")


def format_step(value: float) -> str:
    """A step or an epoch with all its digits, as it can be found in the log: 12,000 or 2.25."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{round(value, 3):,.6g}" if math.isfinite(value) else str(value)
