"""Causes: from what the rules saw to what is probably wrong, what to do next, and how sure that is.

rank            outcomes -> hypotheses with probabilities and the evidence for and against each
without_harm    -> the hypotheses once harm was asked for
decide          -> health of the run, and continue / stop / inspect
next_measures   -> what would settle most, in bits per minute
recommend       -> what to set up better, whatever the cause
decide_memory   -> the same as decide for a run that was started to measure its memory
decide_profile  -> the same as decide for a trace, which tells of time only; profile_advice: what to do
"""

from traindx.causes.catalogue import catalogue, find, patterns
from traindx.causes.decide import decide
from traindx.causes.health import without_harm
from traindx.causes.next_measures import next_measures
from traindx.causes.profiled import ABOUT_MEMORY, decide_memory, decide_profile, profile_advice
from traindx.causes.rank import rank
from traindx.causes.recommend import recommend
from traindx.causes.shapes import pattern
from traindx.causes.undecided import undecided

__all__ = [
    "ABOUT_MEMORY",
    "catalogue",
    "decide",
    "decide_memory",
    "decide_profile",
    "find",
    "next_measures",
    "pattern",
    "patterns",
    "profile_advice",
    "rank",
    "recommend",
    "undecided",
    "without_harm",
]
