"""Causes in regularization and capacity (where the numbers come from: see `optimization`)."""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="weight-decay-too-high",
        title="The weight decay is too high",
        family="regularization",
        prior=-4.0,
        page="""The decay pulls the weights to zero as strongly as the data pull them away, so the net
cannot keep what it learns.

In a log: the loss falls at first, then levels off high or returns to ln k. The weight norm falls all the
time, where it is logged. Training and validation agree.

Mistaken for: a rate that is too low, too little capacity, dead units.

Settled by: weight decay 0 for a short run. The loss gets lower.""",
        weights={
            "predictions-collapse": W(0.8), "losses-stay-high": W(0.9, -0.4), "loss-plateaus": W(0.3),
            "loss-plateaus:high": W(0.5), "loss-at-chance": W(0.4), "loss-diverges": W(0.6),
            "weights-collapse": W(5.0, -1.5), "loss-diverges:from-start": W(0.5),
            "weights-grow-unbounded": W(-2.0), "gradient-norm-vanishes": W(0.2),
            "validation-gap-grows": W(-1.8, 0.1), "loss-not-finite": W(-2.0),
            "fact:high-weight-decay": W(4.0, -1.5), "activations-collapse:later": W(1.0),
            "gradients-imbalanced": W(0.5), "updates-too-large:lasting": W(0.8),
            "loss-flat-from-start": W(0.5),
        },
        settles=(("the weight decay", "--fact weight_decay=0.0001"),),
    ),
    Cause(
        slug="dropout-too-high",
        title="The dropout is too high",
        family="regularization",
        prior=-4.2,
        page="""So many units are dropped that the remaining net is too small to learn the task.

In a log: validation is clearly and steadily better than training, and both are poor. If both are good,
dropout works as intended and nothing is wrong.

Mistaken for: too little capacity, a benign regularization gap.

Settled by: the training loss of one batch with dropout off.""",
        weights={
            "validation-beats-training": W(1.8, -0.8), "validation-beats-training:large": W(0.6),
            "losses-stay-high": W(1.2, -0.5), "loss-plateaus:high": W(0.4),
            "validation-gap-grows": W(-2.5), "loss-not-finite": W(-2.0),
            "fact:high-dropout": W(3.5, -2.0), "relu-units-dead:later": W(0.6),
            "activations-collapse:later": W(0.5), "loss-flat-from-start": W(0.5),
            "loss-at-chance": W(0.5),
        },
        settles=(("the dropout", "--fact dropout=0.5"),),
    ),
    Cause(
        slug="insufficient-regularization",
        title="The model overfits: too little regularization",
        family="regularization",
        prior=-1.9,
        page="""The net can memorize the training set, and nothing keeps it from doing so.

In a log: the validation loss reaches a minimum and then rises while the training loss keeps falling.
Accuracy often stays good longer, because the net first becomes overconfident.

Mistaken for: too little data (more data cures what regularization only eases), validation data prepared
differently (a gap from the first evaluation), noisy labels, grokking (validation recovers much later).

Settled by: the best checkpoint plus weight decay, dropout or augmentation. Validation improves.""",
        weights={
            "validation-gap-grows": W(4.0, -2.2), "validation-gap-grows:strong": W(0.5),
            "validation-gap-grows:test-set": W(-4.0),
            "validation-gap-grows:metric-improves": W(-0.3), "fact:validation-never-improves": W(-1.6),
            "fact:validation-bad-at-once": W(-3.0), "metric-contradicts-loss:overconfidence": W(0.8),
            "model-larger-than-data": W(0.8), "losses-stay-high": W(-2.0), "loss-plateaus:high": W(-0.5),
            "loss-flat-from-start": W(-2.0), "validation-beats-training": W(-1.5),
            "validation-drops-late": W(-3.0), "validation-rises-then-falls": W(-1.8),
            "loss-not-finite": W(-2.5), "loss-diverges": W(-2.0), "loss-at-chance": W(-1.5),
            "loss-near-zero-early": W(0.3), "fact:parameters-exceed-data": W(0.8, -0.3),
            "fact:small-dataset": W(0.2), "fact:no-regularization": W(0.9),
            "fact:rewards-logged": W(-2.5),
        },
        settles=(
            ("validation loss and training loss", "evaluate every few hundred steps and log val/loss"),
        ),
    ),
    Cause(
        slug="insufficient-capacity",
        title="The model is too small for the task",
        family="regularization",
        prior=-3.2,
        page="""The net cannot represent the answer: it is too narrow, too shallow, has a bottleneck, or
is linear for a nonlinear problem.

In a log: training and validation loss level off together at the same high value, with healthy gradients
and no gap.

Mistaken for: a rate that is too low, weight decay, features without information, noisy labels.

Settled by: four times the width. The loss gets lower. A net that cannot even overfit one batch has
another fault as well.""",
        weights={
            "losses-stay-high": W(2.8, -0.6), "losses-stay-high:above-start": W(-1.5),
            "loss-plateaus": W(0.6, -0.1), "loss-plateaus:high": W(0.9), "loss-plateaus:low": W(-1.2),
            "loss-plateaus:metric-good": W(-1.5), "loss-plateaus:at-chance": W(-1.2),
            "loss-plateaus:norm-tiny": W(-0.3), "validation-gap-grows": W(-2.2, 0.1),
            "loss-flat-from-start": W(-2.5), "loss-flat-from-start:never-moved": W(-2.0),
            "gradient-is-zero": W(-1.5), "loss-at-chance": W(-0.8), "loss-near-zero-early": W(-2.0),
            "loss-diverges": W(-2.5), "loss-not-finite": W(-3.0), "loss-still-falling-at-end": W(-0.8),
            "updates-too-small": W(-0.8), "fact:parameters-exceed-data": W(-1.2, 0.3),
            "fact:rewards-logged": W(-0.8), "relu-units-dead": W(-1.0),
        },
        settles=(
            ("whether the model can overfit a single batch", "traindx check -- python train.py"),
            ("the loss of a model four times as wide", "one short run of the wider model"),
        ),
    ),
)  # fmt: skip
