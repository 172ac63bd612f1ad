"""Causes that lie in the data and how they reach the model (basis of the numbers: see `optimization`)."""

from __future__ import annotations

from traindx.vocabulary.cause import Cause
from traindx.vocabulary.cause import Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="unnormalized-inputs",
        title="The inputs are not normalized",
        family="data",
        prior=-2.8,
        page="""Features in raw units (0-255 pixels, 1e3 next to 1e-3): the first layer's gradient dwarfs the rest,
units saturate, and any usual learning rate is too high for it. Scaling twice (dividing by 255 two times) starves
it.

In a log: a huge first loss, early NaN, or a net that predicts only the majority class.

Mistaken for: a learning rate that is too high, bad initialization.

Settled by: mean and scale per feature; normalized inputs at the same rate.""",
        weights={
            "curvature-beyond-stability": W(1.2), "predictions-collapse": W(0.6),
            "inputs-not-normalized": W(5.5, -3.0), "inputs-have-outliers": W(0.5), "loss-not-finite:early": W(0.9),
            "loss-not-finite": W(0.2), "loss-not-finite:late": W(-1.5), "loss-diverges:from-start": W(0.8),
            "loss-diverges:early": W(0.3), "loss-flat-from-start": W(0.5, -0.3),
            "loss-flat-from-start:above-chance": W(0.4), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-at-chance": W(0.5, -0.2), "fact:answers-one-class": W(0.6), "loss-plateaus:high": W(0.3),
            "losses-stay-high": W(0.5), "loss-spikes-and-recovers:early": W(0.3), "validation-gap-grows": W(-1.2),
            "fact:starts-above-chance": W(1.6, -0.6), "fact:finetuning": W(-1.2), "updates-too-large": W(1.0),
            "weights-grow-unbounded": W(0.8), "relu-units-dead": W(0.8), "activations-collapse": W(0.6),
            "activations-saturate": W(1.2), "activations-saturate:first-layer": W(0.8), "gradient-norm-spikes": W(0.5),
            "gradient-norm-explodes": W(0.5), "activations-not-finite": W(0.5), "gradient-not-finite": W(0.5),
            "updates-too-small": W(0.6), "loss-diverges": W(0.5), "loss-spikes-then-fails": W(0.5),
            "learning-rate-never-warms-up": W(0.5), "loss-oscillates": W(0.5), "gradient-norm-grows": W(0.5),
            "metric-constant-or-impossible": W(0.5),
        },
        settles=(("mean and scale of every input feature", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="unnormalized-targets",
        title="The regression targets are not normalized",
        family="data",
        prior=-3.8,
        page="""Targets in the hundreds with a head that starts at zero: the first loss is E[y^2], gradients are as
large, and the net spends its time on the offset.

In a log: a loss in the thousands and more from the start, early NaN, R2 below 0.

Mistaken for: a learning rate that is too high.

Settled by: standardized targets at the same rate.""",
        weights={
            "curvature-beyond-stability": W(1.2),
            "targets-not-normalized": W(5.5, -3.0), "fact:huge-loss": W(2.6, -1.2), "loss-not-finite:early": W(0.5),
            "loss-diverges:early": W(0.4), "loss-at-chance": W(-1.5), "losses-stay-high": W(0.5),
            "updates-too-large": W(1.0), "weights-grow-unbounded": W(0.8), "relu-units-dead": W(0.6),
            "activations-collapse": W(0.5), "activations-not-finite": W(0.5), "gradient-not-finite": W(0.6),
            "loss-not-finite": W(0.5), "gradient-norm-explodes": W(0.6), "gradient-norm-spikes": W(0.5),
        },
        settles=(("mean and scale of the targets", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="class-imbalance",
        title="The classes are imbalanced",
        family="data",
        prior=-3.4,
        page="""With ten and more samples of one class to one of another, always answering the frequent class is a good
start and often the end.

In a log: an accuracy stuck at a constant above 1/k (the majority's share), a loss that flattens early.

Mistaken for: too little capacity, a net that learns nothing.

Settled by: counts per class, recall per class; class weights raise the minority's recall.""",
        weights={
            "metric-constant-or-impossible": W(1.2),
            "predictions-collapse": W(1.6),
            "classes-imbalanced": W(3.5, -3.0), "fact:answers-one-class": W(2.2), "metric-contradicts-loss": W(0.5),
            "metric-contradicts-loss:overconfidence": W(-0.6), "loss-plateaus": W(0.2), "losses-stay-high": W(0.3),
            "loss-not-finite": W(-1.5), "loss-diverges": W(-1.0),
        },
        settles=(("samples per class and recall per class", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="label-noise",
        title="Many labels are wrong",
        family="data",
        prior=-3.3,
        page="""A share of the labels contradicts the inputs: the net first learns what agrees, then memorizes the
rest.

In a log: a training floor, validation loss (on clean labels) at times better than training, late overfitting with a
falling metric.

Mistaken for: too little capacity, plain overfitting, misaligned labels.

Settled by: the samples whose loss never shrinks; training without them.""",
        weights={
            "labels-look-noisy": W(4.0, -2.5), "labels-contradict": W(2.5, -0.3), "labels-ill-formed": W(1.5, -0.1),
            "validation-gap-grows": W(0.9, -0.3),
            "fact:validation-never-improves": W(-0.5), "metric-contradicts-loss:overconfidence": W(0.3),
            "losses-stay-high": W(0.6), "loss-plateaus:high": W(0.4), "validation-beats-training": W(0.5),
            "validation-beats-training:large": W(1.2),
            "loss-not-finite": W(-1.5), "loss-diverges": W(-1.5), "loss-at-chance": W(-0.3),
        },
        settles=(("the samples whose loss stays high", "look at the 100 training samples with the highest loss"),),
    ),
    Cause(
        slug="corrupt-samples",
        title="Some samples are corrupt",
        family="data",
        prior=-3.0,
        page="""A few samples are broken: NaN cells, absurd values, empty targets, undecodable files, a pocket of
garbage text.

In a log: loss spikes that come back at the same place of every epoch; one spike out of nowhere that recovers; NaN
at a fixed batch while the norm was normal.

Mistaken for: an unstable operation, a learning rate that is too high, exploding recurrence.

Settled by: the batch at the spike; training without it.""",
        weights={
            "fact:labels-out-of-range": W(5.0),
            "inputs-not-finite": W(5.5, -1.5, "theory"), "inputs-have-outliers": W(5.0, -0.5),
            "files-unreadable": W(5.0, -0.3), "values-missing": W(4.0, -0.3), "targets-have-outliers": W(4.0, -0.3),
            "loss-spikes-recur": W(1.5, -0.3), "loss-spikes-recur:periodic": W(1.7),
            "loss-spikes-and-recovers": W(1.4, -0.2), "loss-spikes-and-recovers:single": W(0.4),
            "loss-spikes-and-recovers:with-norm": W(0.4), "loss-spikes-and-recovers:early": W(-1.2),
            "loss-spikes-then-fails": W(0.8), "loss-not-finite": W(1.2, -0.2), "loss-not-finite:early": W(-0.5),
            "loss-not-finite:recovered": W(1.5), "loss-not-finite:norm-normal-before": W(1.2),
            "loss-not-finite:norm-grew-before": W(-1.0), "loss-not-finite:from-start": W(1.4),
            "fact:clamped-loss": W(1.5), "gradient-norm-spikes": W(1.0, -0.2), "gradient-not-finite": W(0.5),
            "loss-diverges": W(-0.3), "loss-oscillates": W(-0.5), "loss-plateaus": W(-0.5),
            "loss-flat-from-start": W(-0.8), "validation-gap-grows": W(-0.5), "updates-too-large": W(0.8),
            "weights-grow-unbounded": W(0.8), "relu-units-dead:later": W(0.6), "activations-collapse:later": W(0.6),
            "loss-at-chance": W(0.5), "losses-stay-high": W(0.5), "activations-not-finite": W(0.8),
            "activations-not-finite:first-module": W(0.5), "gradient-norm-explodes": W(0.5),
            "validation-distribution-differs": W(0.5),
        },
        settles=(
            ("the samples of the batch at the spike", "log the ids of the samples of each batch"),
            ("values in the data that are not finite, or extreme", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="misaligned-labels",
        title="Labels do not belong to their inputs",
        family="data",
        prior=-3.4,
        page="""Inputs and labels were shuffled, sorted or filtered apart: on the training set there is nothing but
memorizing.

In a log: training falls slowly (by memory), validation stays at chance from the start.

Mistaken for: overfitting (there validation is good first), a learning rate that is too low.

Settled by: a control with permuted labels: if that learns as fast, the real ones carry nothing.""",
        weights={
            "fact:labels-out-of-range": W(6.5),
            "validation-gap-grows": W(0.5), "fact:validation-never-improves": W(2.6, -0.4),
            "fact:validation-bad-at-once": W(0.5),
            "loss-at-chance": W(0.9, -0.4), "loss-falls-slowly": W(0.5), "loss-flat-from-start": W(0.5),
            "loss-flat-from-start:norm-healthy": W(0.3), "loss-flat-from-start:never-moved": W(-1.0),
            "loss-flat-from-start:lr-zero": W(-3.0), "losses-stay-high": W(0.4),
            "validation-distribution-differs": W(-1.0), "loss-not-finite": W(-2.0), "loss-diverges": W(-1.0),
            "loss-plateaus:metric-good": W(-2.0), "fact:rewards-logged": W(-3.0), "input-has-no-effect": W(-2.0),
            "activations-collapse": W(-1.5),
        },
        settles=(("whether permuted labels learn as fast as the real ones", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="unshuffled-data",
        title="The training data are not shuffled",
        family="data",
        prior=-3.5,
        page="""Batches in the order of the file (by class, by time, by source), or only whole batches shuffled: the
net follows what it saw last.

In a log: a saw-tooth with the period of an epoch, or a loss near chance with validation stuck at one class.

Mistaken for: a learning rate that is too high (its swings have no fixed period).

Settled by: the classes of a batch; shuffling.""",
        weights={
            "predictions-collapse": W(0.8),
            "loss-repeats-each-epoch": W(4.0, -1.2), "batches-sorted-by-class": W(5.5, -2.5),
            "loss-oscillates:periodic": W(0.9), "loss-at-chance": W(0.6), "fact:answers-one-class": W(1.8),
            "loss-flat-from-start": W(0.3), "loss-flat-from-start:never-moved": W(-1.0),
            "loss-flat-from-start:lr-zero": W(-3.0), "loss-spikes-recur:periodic": W(0.6), "loss-not-finite": W(-2.0),
            "fact:shuffle-off": W(3.2, -2.5), "rows-sorted-by-class": W(0.8, -0.2),
            "relu-units-dead:later": W(0.8), "activations-collapse:later": W(0.8),
            "loss-diverges": W(0.5), "losses-stay-high": W(0.5), "weights-grow-unbounded": W(0.5),
        },
        settles=(
            ("whether the training data are shuffled", "--fact shuffle=true"),
            ("the classes within one batch", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="train-val-leakage",
        title="Validation data leak into training",
        family="data",
        prior=-4.2,
        page="""The same samples (or near copies, or a feature made from the answer) are on both sides, so validation
measures memory.

In a log: validation as good as training while training is memorized; far worse results on a real test.

Mistaken for: a healthy run; that is the danger.

Settled by: hashes of the samples of both sets.""",
        weights={
            "train-and-validation-overlap": W(6.0, -2.5, "theory"), "feature-predicts-target": W(5.0, -0.3),
            "samples-duplicated": W(0.8),
            "validation-beats-training": W(0.6), "loss-near-zero-early": W(0.4), "validation-gap-grows": W(-1.5, 0.2),
            "loss-flat-from-start": W(-1.5), "losses-stay-high": W(-1.2), "loss-not-finite": W(-2.0),
        },
        settles=(("samples that both sets share", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="val-preprocessing-mismatch",
        title="Validation data are prepared differently",
        family="data",
        prior=-3.5,
        page="""Another scale, channel order, crop, tokenizer or label map in the validation pipeline.

In a log: validation is bad from the very first evaluation and stays so, while training is fine.

Mistaken for: overfitting (validation is good at first), stale batch-norm statistics.

Settled by: evaluating on training samples through the validation pipeline.""",
        weights={
            "validation-gap-grows": W(0.6), "fact:validation-never-improves": W(3.2, -1.4),
            "fact:validation-bad-at-once": W(3.5), "validation-distribution-differs": W(5.5, -2.0),
            "labels-ill-formed:unseen": W(2.0),
            "metric-contradicts-loss": W(0.2), "validation-beats-training": W(-0.3), "losses-stay-high": W(-0.6),
            "loss-not-finite": W(-1.5), "loss-at-chance": W(0.2), "predictions-collapse": W(0.3),
            "metric-constant-or-impossible": W(0.5),
        },
        settles=(("training samples through the validation pipeline", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="fully-masked-labels",
        title="All labels of a batch are masked",
        family="data",
        prior=-4.2,
        page="""Every target equals the ignore index (a truncated prompt, a wrong template): the mean over nothing is
NaN, or 0.

In a log: a loss of exactly 0 or NaN at once, or in isolated steps, with the weights unharmed.

Mistaken for: an unstable operation, a memorized training set.

Settled by: counting the targets that are not ignored.""",
        weights={
            "metric-constant-or-impossible": W(0.8),
            "loss-near-zero-early": W(2.6, -0.8), "loss-not-finite:from-start": W(2.0), "loss-not-finite": W(0.3),
            "loss-not-finite:recovered": W(1.2), "loss-not-finite:norm-grew-before": W(-2.0),
            "loss-not-finite:loss-grew-before": W(-1.5), "loss-flat-from-start:never-moved": W(0.8),
            "loss-diverges": W(-2.0), "gradient-is-zero": W(0.8), "fact:rewards-logged": W(-2.0),
            "targets-out-of-range:all-masked": W(7.0), "targets-out-of-range": W(0.0, -1.5),
            "graph-detached:all-zero": W(1.0), "activations-not-finite": W(0.5), "losses-stay-high": W(0.5),
        },
        settles=(("how many targets of a batch are not ignored", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="too-little-data",
        title="There are too few training data for this model",
        family="data",
        prior=-2.6,
        page="""Too few samples to pin down so many weights; regularization softens it, more data cure it.

In a log: training goes to zero, validation rises early, and seeds differ much.

Mistaken for: overfitting with data enough but no regularization.

Settled by: parameters against samples (over 10 to 1 for nets trained from scratch), and a learning curve over
growing parts of the data.""",
        weights={
            "validation-gap-grows": W(3.1, -1.8), "validation-gap-grows:strong": W(0.4),
            "fact:validation-never-improves": W(-0.8), "model-larger-than-data": W(1.6, -1.0),
            "loss-near-zero-early": W(0.6), "losses-stay-high": W(-1.5), "loss-flat-from-start": W(-1.5),
            "validation-drops-late": W(-2.5), "loss-not-finite": W(-2.0), "loss-diverges": W(-1.5),
            "fact:small-dataset": W(2.2, -1.5), "fact:parameters-exceed-data": W(1.6, -0.8),
            "fact:rewards-logged": W(-3.0),
        },
        settles=(("the size of the training set and of the model", "--fact dataset_size=50000 --fact parameters=1e6"),),
    ),
)  # fmt: skip
