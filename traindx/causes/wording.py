"""Words that several sentences of a diagnosis share."""


def lowered(title: str) -> str:
    """A title for the middle of a sentence: a small first letter, unless it begins with an acronym."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def certainty(probability: float) -> str:
    """A probability as an adverb; "" where it is too low to name one cause."""
    words = ((0.95, "almost certainly"), (0.65, "probably"), (0.35, "possibly"))
    return next((word for least, word in words if probability >= least), "")
