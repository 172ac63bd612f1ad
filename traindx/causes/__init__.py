"""Causes: from what the rules found to what is probably wrong, how sure that is, and what to do next.

rank            outcomes -> hypotheses with probabilities and the evidence for and against each
without_harm    -> the same hypotheses, with `healthy` first where the recording shows no harm
harm_of         -> how probable harm is, and which findings show it
decide          -> health of the run, and continue / stop / inspect
without_alarm   -> the findings, of which those of a healthy run are at most low
next_measures   -> the measurements that narrow the causes most, in bits per minute
recommend       -> what to set up better, whatever the cause
decide_memory   -> the same as decide for a run that was started to measure its memory
decide_profile  -> the same as decide for a trace, which shows only time; profile_advice: what to do
"""

from traindx.causes.catalogue import catalogue, find, patterns
from traindx.causes.measures.next_measures import next_measures
from traindx.causes.ranking.rank import rank
from traindx.causes.verdict.advice import recommend
from traindx.causes.verdict.decision import decide, two_likeliest_faults
from traindx.causes.verdict.harm import without_alarm
from traindx.causes.verdict.health import without_harm
from traindx.causes.verdict.patterns import pattern
from traindx.causes.verdict.probability_of_harm import harm_of
from traindx.causes.verdict.profiles import ABOUT_MEMORY, decide_memory, decide_profile, profile_advice

__all__ = [
    "ABOUT_MEMORY",
    "catalogue",
    "decide",
    "decide_memory",
    "decide_profile",
    "find",
    "harm_of",
    "next_measures",
    "pattern",
    "patterns",
    "profile_advice",
    "rank",
    "recommend",
    "two_likeliest_faults",
    "without_alarm",
    "without_harm",
]
