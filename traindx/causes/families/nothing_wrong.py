"""The healthy run, and the benign shapes that look like trouble.

`healthy` explains no finding, so every finding counts against it by its severity (see `ranking.rank`).
The weights here are for shapes that healthy runs show as well. They were set by hand; prior 0 is the
reference for all other priors.
"""

from traindx.vocabulary import Cause, Pattern, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="healthy",
        title="Nothing is wrong",
        family="nothing-wrong",
        prior=0.0,
        page="""Most runs that somebody worries about are fine, or simply not finished. This hypothesis
gains with every rule that was evaluated and did not fire. It loses with every finding, by its severity,
except findings that healthy runs show too (a spike that recovers, a late drop, validation better than
training).

In a log: the loss falls and levels off, validation follows, and gradients stay in their usual range.

Mistaken for: a run whose log lacks the signal that would show the fault. A signal that was never logged
is no evidence of health.

Settled by: the rules that the report lists as not evaluated.""",
        weights={
            "fact:ended-in-error": W(-2.5), "loss-diverges": W(0.0, 0.2), "loss-not-finite": W(0.0, 0.2),
            "loss-flat-from-start": W(-2.5, 0.3), "loss-flat-from-start:lr-zero": W(-2.0),
            "loss-at-chance": W(-2.5, 0.2), "losses-stay-high": W(0.0, 0.3),
            "validation-gap-grows": W(0.0, 0.4), "loss-oscillates": W(0.0, 0.1),
            "loss-plateaus": W(0.0, 0.1), "loss-plateaus:low": W(0.7),
            "loss-plateaus:metric-good": W(1.0), "loss-plateaus:lr-decayed": W(0.3),
            "loss-plateaus:high": W(-1.0), "loss-plateaus:at-chance": W(-1.0),
            "loss-spikes-and-recovers": W(0.4), "loss-spikes-recur": W(0.0, 0.1),
            "loss-drops-late": W(0.8), "validation-drops-late": W(3.5),
            "validation-rises-then-falls": W(1.5), "validation-beats-training": W(0.1),
            "loss-still-falling-at-end": W(0.1), "loss-falls-slowly": W(-0.5, 0.1),
            "metric-contradicts-loss": W(0.0, 0.1), "gradient-norm-vanishes": W(0.0, 0.1),
            "fact:validation-never-improves": W(-2.0, 0.2), "fact:validation-bad-at-once": W(-3.0),
            "fact:answers-one-class": W(-2.0), "fact:clamped-loss": W(-3.5),
            "parameters-not-registered": W(-3.0),
        },
        settles=(("the rules that could not be evaluated", "traindx run -- python train.py"),),
    ),
)  # fmt: skip

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "converged",
        "Converged",
        """The loss has levelled off well below where it began, and further steps change it by less than
its noise. More of the same training brings nothing; a lower learning rate, more data or a larger model
might. A plateau at the level of guessing is never called converged.""",
    ),
    Pattern(
        "still-learning",
        "Still learning",
        """The loss is falling at the end of the log, clear of the noise. Train on; the forecast shows
how much is left.""",
    ),
    Pattern(
        "recovered-spike",
        "A spike that recovered",
        """The loss jumped (two or three times its running level is common, early also more) and came
back to its trend. One odd batch or a steep region of the loss causes this, most often without clipping.
A spike matters when it recurs at the same data, grows, or does not recover.""",
    ),
    Pattern(
        "s-curve",
        "S-curve: a flat start, then a drop",
        """The loss is flat for a while and then falls suddenly. Very deep nets, algorithmic tasks and
ternary weights do this. Wait about twice as long as the flat stretch has lasted before giving up.""",
    ),
    Pattern(
        "delayed-generalization",
        "Delayed generalization (grokking)",
        """Training was memorized long ago, and the validation loss falls much later
(https://arxiv.org/abs/2201.02177). This is known from small, structured data sets with weight decay.
Early stopping would have missed it.""",
    ),
    Pattern(
        "epoch-wise-double-descent",
        "Double descent over epochs",
        """The validation loss fell, rose around the point where the net begins to fit every sample, and
fell again (https://arxiv.org/abs/1912.02292). Do not stop at the peak. Label noise makes it higher.""",
    ),
    Pattern(
        "regularization-gap",
        "Validation better than training",
        """Dropout, augmentation and label smoothing raise the training loss above the validation loss,
and a running mean over an epoch lags behind. When both are good, nothing is wrong.""",
    ),
    Pattern(
        "warmup-phase",
        "Still in the warm-up",
        """The learning rate is still rising. Slow progress, or a small jump at its end, is normal. Judge
the run after the warm-up.""",
    ),
    Pattern(
        "restart-bump",
        "A bump at a warm restart",
        """The schedule raised the learning rate on purpose. The loss rises with it and comes back lower.""",
    ),
    Pattern(
        "adversarial-balance",
        "Losses of opponents",
        """Generator and discriminator compete: when they are balanced, both losses stay around a
constant. Judge the samples or a score such as FID, not these losses.""",
    ),
    Pattern(
        "too-short-to-tell",
        "Too short to tell",
        """There are too few points, or too small a part of the planned run, for a verdict. Everything in
this report is provisional.""",
    ),
)
