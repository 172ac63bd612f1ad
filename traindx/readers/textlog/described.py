"""What the author of a question says or shows of a program that is a known fault, whatever the log shows.

Each is named by the rule that would see it in a recording, and counts as evidence for the causes of that rule. What a
rule can say of the text itself, without a recording, is in `listing`.
"""

import re

RARELY = r"\b(?:no|not|never|without|remov\w+|instead of|\w+n't)\b[^.?!\n]{0,30}"


LOOP = (r"^\s*for\b.*:\s*$", r"\.backward\(")
# slug, what has to be there, what must not be there
FAULTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("output-cannot-reach-targets", (
        r"\b(?:last|final|output|ends?)\b[^.?!\n]{0,40}\brelu\b"
        r"|\brelu (?:as|in|at|on|for) (?:the |my )?(?:last|final|output)\b",
        r"cross_?entropy|\bBCE"), rf"{RARELY}\brelu\b"),
    ("loss-does-not-fit-targets",
     (r"\bMSELoss|mean_squared_error|\bmse\b|squared error", r"\bclassif|\bclasses\b"), r"regress|autoenc"),
    ("training-in-eval-mode", (*LOOP, r"\.eval\(\)"), r"\.train\("),
    ("modes-disagree", (
        r"\beval(?:\(\)|uation)?(?: mode)?\b[^.?!\n]{0,60}\b(?:worse|bad|huge|wrong|terrible|drops?|random|constant)\b",
        r"batch ?norm|\bBN\b"), ""),
    ("graph-is-kept", (r"\.backward\(", r"\.append\(loss\)|\bloss\w* ?\+= ?loss\s*$"), r"\.detach\("),
    ("train-and-validation-overlap", (
        r"\bvalidation (?:data\w*|set)\b[^.?!\n]{0,30}\bsame as\b[^.?!\n]{0,20}\btrain"
        r"|\baugment\w*[^.?!\n]{0,40}\b(?:then|before) (?:I )?(?:train.?test )?split",), ""),
    ("step-waits-for-data", (
        r"\bwait\w* (?:for|on) (?:the )?(?:data|batch)|\bdata ?load\w*[^.?!\n]{0,30}\b(?:slow|bottleneck|most of)"
        r"|\bGPU[- ]?(?:util\w*|usage|load)[^.?!\n]{0,40}(?:\blow\b|\b1?\d ?%|\bzero\b)|\blow GPU|\bGPU[^.?!\n]{0,20}\bidle",
    ), ""),
    ("inputs-not-finite", (
        r"\b(?:missing|nan|null) (?:values?|entries)\b|\b(?:data\w*|columns?|features?|inputs?)\b[^.?!\n]{0,30}"
        r"\b(?:contain\w*|ha[sd]|have|with)\b[^.?!\n]{0,20}\b(?:nans?|infs?)\b",),
     rf"{RARELY}\b(?:nans?|missing|null|infs?)\b|\b(?:fill|drop|replac|imput|interpolat)\w*"),
    ("half-precision-overflows", (
        r"\b(?:fp32|float32|full precision|without (?:amp|fp16|mixed precision))\b[^.?!\n]{0,30}"
        r"\b(?:works?|fine|ok|normal|no nans?)\b",), rf"{RARELY}\b(?:work|fine)"),
    ("batches-sorted-by-class", (r"\b(?:sorted|ordered|grouped) by (?:the )?(?:class|label|categor)",), ""),
    ("labels-make-no-difference", (
        r"\bshuffl\w+[^.?!\n]{0,40}\bseparately|\blabels? (?:are|were|got|might be|may be) (?:shuffled|mixed|mis)",), ""),
)  # fmt: skip
COMPILED = tuple(
    (slug, tuple(re.compile(p, re.I | re.M) for p in needs), re.compile(lacks or r"(?!)", re.I | re.M))
    for slug, needs, lacks in FAULTS
)


def described_in(text: str) -> dict[str, None]:
    """The rules that would see what a text says of its program, in a fixed order."""
    return dict.fromkeys(
        slug
        for slug, needs, lacks in COMPILED
        if all(need.search(text) for need in needs) and not lacks.search(text)
    )
