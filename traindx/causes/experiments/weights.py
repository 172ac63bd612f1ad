"""Weights of the experiments and probes of `traindx check` for the causes, set by hand.

They are kept apart from the causes because no log has them: an ordinary diagnosis is not affected.
"""

from collections.abc import Mapping

from traindx.vocabulary import Weight as W

# A net that fits one batch has a working graph, rate and output, so a rule that does not fire is
# evidence against faults in them.
FLAT, FLOOR, WORSE = "one-batch-not-fitted:flat", "one-batch-not-fitted:floor", "one-batch-not-fitted:worse"
FITS = "one-batch-not-fitted"

EXPERIMENT_WEIGHTS: Mapping[str, Mapping[str, W]] = {
    "learning-rate-too-high": {
        WORSE: W(1.5), FLAT: W(0.4), FITS: W(0.1, -0.5), "loss-sums-over-batch": W(0.5),
    },
    "learning-rate-too-low": {FLAT: W(1.2), FITS: W(0.1, -1.2), WORSE: W(-2.0)},
    "clip-too-tight": {FLAT: W(1.0), FITS: W(0.1, -1.0)},
    "missing-zero-grad": {WORSE: W(0.8)},
    "bad-initialization": {FLAT: W(0.7), FITS: W(0.1, -0.8), "first-loss-far-from-guessing": W(1.2, -0.2)},
    "saturating-activations": {FLAT: W(0.7), FITS: W(0.1, -0.8)},
    "dead-relus": {FLAT: W(0.7), FITS: W(0.1, -0.8)},
    "detached-graph": {FLAT: W(0.5), FLOOR: W(0.5), FITS: W(0.1, -0.4)},
    "params-not-in-optimizer": {
        FLAT: W(0.8), FITS: W(0.1, -0.8), "parameters-not-registered": W(7.0, -0.2, "theory"),
    },
    "missing-optimizer-step": {FLAT: W(0.8), FITS: W(0.1, -3.0, "theory")},
    "frozen-parameters": {FLAT: W(0.4), FLOOR: W(0.4), FITS: W(0.1, -0.4)},
    "double-softmax": {FLOOR: W(1.0), FITS: W(0.1, -0.8)},
    "wrong-output-activation": {
        FLOOR: W(0.8), FLAT: W(0.3), FITS: W(0.1, -0.5), "input-has-no-effect:blank": W(0.5),
    },
    "wrong-loss": {
        "loss-has-no-floor": W(5.0),
        FLOOR: W(0.8), FITS: W(0.1, -0.5),
        "loss-sums-over-batch": W(0.3), "input-has-no-effect:blank": W(0.5),
    },
    "insufficient-capacity": {FLOOR: W(0.8), FITS: W(0.1, -0.5)},
    "misaligned-labels": {"labels-make-no-difference": W(6.0, -3.0)},
    "label-noise": {"labels-make-no-difference": W(1.5, -0.3)},
    "stale-normalization-statistics": {"modes-disagree": W(5.0, -1.5)},
    "train-mode-evaluation": {"modes-disagree": W(0.3)},
    "unnormalized-inputs": {"first-loss-far-from-guessing": W(0.8, -0.2)},
    "unnormalized-targets": {"first-loss-far-from-guessing": W(0.4)},
    "device-fallback": {"accelerator-missing": W(3.0, -1.5)},
    "out-of-memory": {"memory-too-small": W(2.5, -0.3)},
}  # fmt: skip
