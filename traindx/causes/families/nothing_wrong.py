"""The healthy run, and the benign shapes that look like trouble.

`healthy` explains nothing, so every finding counts against it by its severity (see `rank`); the weights here are for
shapes that healthy runs show as well.
Basis: convention; prior 0 is the reference that all other priors are measured against.
"""

from __future__ import annotations

from traindx.vocabulary.cause import Cause, Pattern
from traindx.vocabulary.cause import Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="healthy",
        title="Nothing is wrong",
        family="nothing-wrong",
        prior=0.0,
        page="""Most runs that somebody worries about are fine, or simply not finished. This hypothesis gains with
everything that was looked at and found quiet, and loses with every finding, by its severity, unless the finding is
of a kind that healthy runs show as well (a spike that recovers, a late drop, validation better than training).

In a log: the loss falls and levels off, validation follows, gradients stay in their usual range.

Mistaken for: nothing; but silence about a signal that was never logged is no evidence of health.

Settled by: what the report lists as not evaluated.""",
        weights={
            "fact:ended-in-error": W(-2.5),
            "loss-diverges": W(0.0, 0.2), "loss-not-finite": W(0.0, 0.2), "loss-flat-from-start": W(-2.5, 0.3),
            "loss-flat-from-start:lr-zero": W(-2.0), "loss-at-chance": W(-2.5, 0.2), "losses-stay-high": W(0.0, 0.3),
            "validation-gap-grows": W(0.0, 0.4), "loss-oscillates": W(0.0, 0.1), "loss-plateaus": W(0.0, 0.1),
            "loss-plateaus:low": W(0.7), "loss-plateaus:metric-good": W(1.0), "loss-plateaus:lr-decayed": W(0.3),
            "loss-plateaus:high": W(-1.0), "loss-plateaus:at-chance": W(-1.0), "loss-spikes-and-recovers": W(0.4),
            "loss-spikes-recur": W(0.0, 0.1), "loss-drops-late": W(0.8), "validation-drops-late": W(3.5),
            "validation-rises-then-falls": W(1.5), "validation-beats-training": W(0.1),
            "loss-still-falling-at-end": W(0.1), "loss-falls-slowly": W(-0.5, 0.1),
            "metric-contradicts-loss": W(0.0, 0.1), "gradient-norm-vanishes": W(0.0, 0.1),
            "fact:validation-never-improves": W(-2.0, 0.2), "fact:validation-bad-at-once": W(-3.0),
            "fact:answers-one-class": W(-2.0),
            "fact:clamped-loss": W(-3.5), "parameters-not-registered": W(-3.0),
        },
        settles=(("the rules that could not be evaluated", "traindx run -- python train.py"),),
    ),
)  # fmt: skip

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "converged",
        "Converged",
        """The loss has levelled off well below where it began, and further steps change it by less than its noise.
More of the same training brings nothing; a lower learning rate, more data or a larger model might. A plateau at the
level of guessing is never called converged.""",
    ),
    Pattern(
        "still-learning",
        "Still learning",
        """The loss is falling at the end of the log, clear of the noise. Nothing needs to be done but to go on; see
the forecast for how much is left.""",
    ),
    Pattern(
        "recovered-spike",
        "A spike that recovered",
        """The loss jumped (two or three times its running level is common, early on also more) and came back to its
trend. One odd batch or a stretch of steep landscape does that, above all without clipping. It matters when it
recurs at the same data, grows, or does not come back.""",
    ),
    Pattern(
        "s-curve",
        "S-curve: a flat start, then a drop",
        """Nothing visible for a while, then a sudden fall: the net built what it needed first. Very deep nets,
algorithmic tasks and ternary weights do this. As a rule wait twice as long as the flat stretch has lasted before
giving up.""",
    ),
    Pattern(
        "delayed-generalization",
        "Delayed generalization (grokking)",
        """Training was memorized long ago, and validation comes down much later. Known from small, structured data
sets with weight decay. Early stopping would have missed it.""",
    ),
    Pattern(
        "epoch-wise-double-descent",
        "Double descent over epochs",
        """Validation fell, rose around the point where the net begins to fit every sample, and fell again. The peak
is no place to stop; label noise makes it larger.""",
    ),
    Pattern(
        "regularization-gap",
        "Validation better than training",
        """Dropout, augmentation and label smoothing make the training loss harder than the validation loss, and a
running mean over an epoch lags behind. With good numbers on both sides nothing is wrong.""",
    ),
    Pattern(
        "warmup-phase",
        "Still in the warm-up",
        """The learning rate is still rising; slow progress or a small bump at its end is to be expected. Judge
after it.""",
    ),
    Pattern(
        "restart-bump",
        "A bump at a warm restart",
        """The schedule raised the learning rate on purpose; the loss goes up with it and comes back lower.""",
    ),
    Pattern(
        "adversarial-balance",
        "Losses of opponents",
        """Generator and discriminator play against each other: when both hold still, both losses hover around a
constant. Judge samples or a score such as FID, not these losses.""",
    ),
    Pattern(
        "too-short-to-tell",
        "Too short to tell",
        """There are too few points, or too small a part of the planned run, for a verdict either way. What is said
here is provisional.""",
    ),
)
