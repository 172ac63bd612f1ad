"""Causes in the data and in how they reach the model (where the numbers come from: see `optimization`)."""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="unnormalized-inputs",
        title="The inputs are not normalized",
        family="data",
        prior=-2.8,
        page="""The features are in raw units (0-255 pixels, 1e3 next to 1e-3). The gradient of the first
layer dwarfs the rest, units saturate, and any usual learning rate is too high. Scaling twice (dividing
by 255 two times) makes the inputs too small.

In a log: a huge first loss, early NaN, or a net that predicts only the majority class.

Mistaken for: a learning rate that is too high, bad initialization.

Settled by: mean and scale per feature, and normalized inputs at the same rate.""",
        weights={
            "program-shows-mistake:inputs-not-scaled": W(3.5),
            "curvature-beyond-stability": W(1.2), "predictions-collapse": W(0.6),
            "inputs-not-normalized": W(5.5, -3.0), "inputs-have-outliers": W(0.5),
            "loss-not-finite:early": W(0.9), "loss-not-finite": W(0.2), "loss-not-finite:late": W(-1.5),
            "loss-diverges:from-start": W(0.8), "loss-diverges:early": W(0.3),
            "loss-flat-from-start": W(0.5, -0.3), "loss-flat-from-start:above-chance": W(0.4),
            "loss-flat-from-start:lr-zero": W(-3.0), "loss-at-chance": W(0.5, -0.2),
            "fact:answers-one-class": W(0.6), "loss-plateaus:high": W(0.3), "losses-stay-high": W(0.5),
            "loss-spikes-and-recovers:early": W(0.3), "validation-gap-grows": W(-1.2),
            "fact:starts-above-chance": W(1.6, -0.6), "fact:finetuning": W(-1.2),
            "updates-too-large": W(1.0), "weights-grow-unbounded": W(0.8), "relu-units-dead": W(0.8),
            "activations-collapse": W(0.6), "activations-saturate": W(1.2),
            "activations-saturate:first-layer": W(0.8), "gradient-norm-spikes": W(0.5),
            "gradient-norm-explodes": W(0.5), "activations-not-finite": W(0.5),
            "gradient-not-finite": W(0.5), "updates-too-small": W(0.6), "loss-diverges": W(0.5),
            "loss-spikes-then-fails": W(0.5), "learning-rate-never-warms-up": W(0.5),
            "loss-oscillates": W(0.5), "gradient-norm-grows": W(0.5),
            "metric-constant-or-impossible": W(0.5),
        },
        settles=(("mean and scale of every input feature", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="unnormalized-targets",
        title="The regression targets are not normalized",
        family="data",
        prior=-3.8,
        page="""The targets are in the hundreds and the output starts near zero. The first loss is
E[y^2], the gradients are as large, and the net spends its time learning the offset.

In a log: a loss in the thousands or more from the start, early NaN, R2 below 0.

Mistaken for: a learning rate that is too high.

Settled by: standardized targets at the same rate.""",
        weights={
            "curvature-beyond-stability": W(1.2), "targets-not-normalized": W(5.5, -3.0),
            "fact:huge-loss": W(2.6, -1.2), "loss-not-finite:early": W(0.5),
            "loss-diverges:early": W(0.4), "loss-at-chance": W(-1.5), "losses-stay-high": W(0.5),
            "updates-too-large": W(1.0), "weights-grow-unbounded": W(0.8), "relu-units-dead": W(0.6),
            "activations-collapse": W(0.5), "activations-not-finite": W(0.5),
            "gradient-not-finite": W(0.6), "loss-not-finite": W(0.5), "gradient-norm-explodes": W(0.6),
            "gradient-norm-spikes": W(0.5),
        },
        settles=(("mean and scale of the targets", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="class-imbalance",
        title="The classes are imbalanced",
        family="data",
        prior=-3.4,
        page="""With ten or more samples of one class for each sample of another, always predicting the
frequent class gives a low loss, and training often stops there.

In a log: an accuracy that is constant above 1/k (the majority's share), and a loss that levels off
early.

Mistaken for: too little capacity, a net that learns nothing.

Settled by: counts per class and recall per class. Class weights raise the recall of the rare classes.""",
        weights={
            "metric-constant-or-impossible": W(1.2), "predictions-collapse": W(1.6),
            "classes-imbalanced": W(3.5, -3.0), "fact:answers-one-class": W(2.2),
            "loss-at-chance:rare-class": W(4.0),
            "fact:answers-rare-class": W(-4.0),  # what the most frequent class gets right is its share
            "metric-contradicts-loss": W(0.5), "metric-contradicts-loss:overconfidence": W(-0.6),
            "loss-plateaus": W(0.2), "losses-stay-high": W(0.3), "loss-not-finite": W(-1.5),
            "loss-diverges": W(-1.0),
        },
        settles=(("samples per class and recall per class", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="label-noise",
        title="Many labels are wrong",
        family="data",
        prior=-3.3,
        page="""A share of the labels contradicts the inputs. The net first learns the consistent labels,
then memorizes the others.

In a log: a training loss that levels off high, a validation loss (on clean labels) that is sometimes
better than training, late overfitting with a falling metric.

Mistaken for: too little capacity, plain overfitting, misaligned labels.

Settled by: the samples whose loss never shrinks, and training without them.""",
        weights={
            "labels-look-noisy": W(4.0, -2.5), "labels-contradict": W(2.5, -0.3),
            "labels-ill-formed": W(1.5, -0.1), "validation-gap-grows": W(0.9, -0.3),
            "fact:validation-never-improves": W(-0.5), "metric-contradicts-loss:overconfidence": W(0.3),
            "losses-stay-high": W(0.6), "loss-plateaus:high": W(0.4), "validation-beats-training": W(0.5),
            "validation-beats-training:large": W(1.2), "loss-not-finite": W(-1.5),
            "loss-diverges": W(-1.5), "loss-at-chance": W(-0.3),
        },
        settles=(
            ("the samples whose loss stays high", "look at the 100 training samples with the highest loss"),
        ),
    ),
    Cause(
        slug="corrupt-samples",
        title="Some samples are corrupt",
        family="data",
        prior=-3.0,
        page="""A few samples are broken: NaN cells, absurd values, empty targets, undecodable files,
garbage text.

In a log: loss spikes at the same place of every epoch, a sudden spike that recovers, or NaN at a fixed
batch after a normal gradient norm.

Mistaken for: an unstable operation, a learning rate that is too high, exploding recurrence.

Settled by: inspecting the batch at the spike, and training without it.""",
        weights={
            "fact:labels-out-of-range": W(5.0), "inputs-not-finite": W(5.5, -1.5, "theory"),
            "inputs-have-outliers": W(5.0, -0.5), "files-unreadable": W(5.0, -0.3),
            "values-missing": W(4.0, -0.3), "targets-have-outliers": W(4.0, -0.3),
            "loss-spikes-recur": W(1.5, -0.3), "loss-spikes-recur:periodic": W(1.7),
            "loss-spikes-and-recovers": W(1.4, -0.2), "loss-spikes-and-recovers:single": W(0.4),
            "loss-spikes-and-recovers:with-norm": W(0.4), "loss-spikes-and-recovers:early": W(-1.2),
            "loss-spikes-then-fails": W(0.8), "loss-not-finite": W(1.2, -0.2),
            "loss-not-finite:early": W(-0.5), "loss-not-finite:recovered": W(1.5),
            "loss-not-finite:norm-normal-before": W(1.2), "loss-not-finite:norm-grew-before": W(-1.0),
            "loss-not-finite:from-start": W(1.4), "fact:clamped-loss": W(1.5),
            "gradient-norm-spikes": W(1.0, -0.2), "gradient-not-finite": W(0.5), "loss-diverges": W(-0.3),
            "loss-oscillates": W(-0.5), "loss-plateaus": W(-0.5), "loss-flat-from-start": W(-0.8),
            "validation-gap-grows": W(-0.5), "updates-too-large": W(0.8),
            "weights-grow-unbounded": W(0.8), "relu-units-dead:later": W(0.6),
            "activations-collapse:later": W(0.6), "loss-at-chance": W(0.5), "losses-stay-high": W(0.5),
            "activations-not-finite": W(0.8), "activations-not-finite:first-module": W(0.5),
            "gradient-norm-explodes": W(0.5), "validation-distribution-differs": W(0.5),
        },
        settles=(
            ("the samples of the batch at the spike", "log the ids of the samples of each batch"),
            ("values in the data that are not finite, or extreme", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="misaligned-labels",
        title="Labels do not match their inputs",
        family="data",
        prior=-3.4,
        page="""Inputs and labels were shuffled, sorted or filtered separately, so the net can only
memorize the training set.

In a log: the training loss falls slowly (by memorizing), and validation stays at chance from the start.

Mistaken for: overfitting (there validation is good at first), a learning rate that is too low.

Settled by: a control run with permuted labels. If it learns as fast, the real labels carry no
information.""",
        weights={
            "preferences-turn-around": W(5.5), "preferences-turn-around:train": W(-1.0),
            "fact:labels-out-of-range": W(6.5), "validation-gap-grows": W(0.5),
            "fact:validation-never-improves": W(2.6, -0.4), "fact:validation-bad-at-once": W(0.5),
            "loss-at-chance": W(0.9, -0.4), "loss-at-chance:frequencies": W(3.0), "loss-falls-slowly": W(0.5),
            "loss-flat-from-start": W(0.5),
            "loss-flat-from-start:norm-healthy": W(0.3), "loss-flat-from-start:never-moved": W(-1.0),
            "loss-flat-from-start:lr-zero": W(-3.0), "losses-stay-high": W(0.4),
            "validation-distribution-differs": W(-1.0), "loss-not-finite": W(-2.0),
            "loss-diverges": W(-1.0), "loss-plateaus:metric-good": W(-2.0),
            "fact:rewards-logged": W(-3.0), "input-has-no-effect": W(-2.0),
            "activations-collapse": W(-1.5),
            "weights-collapse": W(2.5),  # targets that do not depend on the inputs
        },
        settles=(
            ("whether permuted labels learn as fast as the real ones", "traindx check -- python train.py"),
        ),
    ),
    Cause(
        slug="unshuffled-data",
        title="The training data are not shuffled",
        family="data",
        prior=-3.5,
        page="""Batches come in the order of the file (by class, time or source), or only whole batches
are shuffled. The net follows what it saw last.

In a log: a saw-tooth with the period of an epoch, or a loss near chance with validation predictions of
one class.

Mistaken for: a learning rate that is too high (its oscillations have no fixed period).

Settled by: the classes in a batch, and shuffling.""",
        weights={
            "program-shows-mistake:batches-in-file-order": W(3.5),
            "predictions-collapse": W(0.8), "loss-repeats-each-epoch": W(4.0, -1.2),
            "batches-sorted-by-class": W(5.5, -2.5), "loss-oscillates:periodic": W(0.9),
            "loss-at-chance": W(0.6), "fact:answers-one-class": W(1.8), "loss-flat-from-start": W(0.3),
            "loss-flat-from-start:never-moved": W(-1.0), "loss-flat-from-start:lr-zero": W(-3.0),
            "loss-spikes-recur:periodic": W(0.6), "loss-not-finite": W(-2.0),
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
        page="""The same samples (or near copies, or a feature derived from the target) are in both sets,
so validation measures memorization.

In a log: validation is as good as training although training is memorized. Results on a real test set
are far worse.

Mistaken for: a healthy run.

Settled by: comparing hashes of the samples of both sets.""",
        weights={
            "program-shows-mistake:validates-on-training-data": W(6.5),
            "train-and-validation-overlap": W(6.0, -2.5, "theory"),
            "feature-predicts-target": W(5.0, -0.3), "samples-duplicated": W(0.8),
            "validation-beats-training": W(0.6), "loss-near-zero-early": W(0.4),
            "validation-gap-grows": W(-1.5, 0.2), "validation-gap-grows:test-set": W(6.5),
            "loss-flat-from-start": W(-1.5), "losses-stay-high": W(-1.2), "loss-not-finite": W(-2.0),
        },
        settles=(("samples that both sets share", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="val-preprocessing-mismatch",
        title="Validation data are prepared differently",
        family="data",
        prior=-3.5,
        page="""The validation pipeline uses another scale, channel order, crop, tokenizer or label map.

In a log: validation is bad from the very first evaluation and stays bad, while training is fine.

Mistaken for: overfitting (validation is good at first), stale batch-norm statistics.

Settled by: evaluating training samples through the validation pipeline.""",
        weights={
            "validation-gap-grows": W(0.6), "fact:validation-never-improves": W(3.2, -1.4),
            "fact:validation-bad-at-once": W(3.5), "validation-distribution-differs": W(5.5, -2.0),
            "labels-ill-formed:unseen": W(2.0), "metric-contradicts-loss": W(0.2),
            "validation-beats-training": W(-0.3), "losses-stay-high": W(-0.6), "loss-not-finite": W(-1.5),
            "loss-at-chance": W(0.2), "predictions-collapse": W(0.3),
            "metric-constant-or-impossible": W(0.5),
        },
        settles=(("training samples through the validation pipeline", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="fully-masked-labels",
        title="All labels of a batch are masked",
        family="data",
        prior=-4.2,
        page="""Every target equals the ignore index (a truncated prompt, a wrong template), so the mean
over no elements is NaN, or 0.

In a log: a loss of exactly 0 or NaN at once, or in isolated steps, with undamaged weights.

Mistaken for: an unstable operation, a memorized training set.

Settled by: counting the targets that are not ignored.""",
        weights={
            "metric-constant-or-impossible": W(0.8), "loss-near-zero-early": W(2.6, -0.8),
            "loss-not-finite:from-start": W(2.0), "loss-not-finite": W(0.3),
            "loss-not-finite:recovered": W(1.2), "loss-not-finite:norm-grew-before": W(-2.0),
            "loss-not-finite:loss-grew-before": W(-1.5), "loss-flat-from-start:never-moved": W(0.8),
            "loss-diverges": W(-2.0), "gradient-is-zero": W(0.8), "fact:rewards-logged": W(-2.0),
            "targets-out-of-range:all-masked": W(7.0), "targets-out-of-range": W(0.0, -1.5),
            "graph-detached:all-zero": W(1.0), "activations-not-finite": W(0.5),
            "losses-stay-high": W(0.5),
        },
        settles=(("how many targets of a batch are not ignored", "traindx check -- python train.py"),),
    ),
    Cause(
        slug="too-little-data",
        title="There is too little training data for this model",
        family="data",
        prior=-2.6,
        page="""There are too few samples to determine so many weights. Regularization eases it; more
data cure it.

In a log: the training loss goes to zero, validation rises early, and seeds differ much.

Mistaken for: overfitting with enough data but no regularization.

Settled by: parameters per sample (over 10 for nets trained from scratch), and a learning curve over
growing parts of the data.""",
        weights={
            "validation-gap-grows": W(3.1, -1.8), "validation-gap-grows:strong": W(0.4),
            "validation-gap-grows:test-set": W(-4.0),
            "fact:validation-never-improves": W(-0.8), "model-larger-than-data": W(1.6, -1.0),
            "loss-near-zero-early": W(0.6), "losses-stay-high": W(-1.5), "loss-flat-from-start": W(-1.5),
            "validation-drops-late": W(-2.5), "loss-not-finite": W(-2.0), "loss-diverges": W(-1.5),
            "fact:small-dataset": W(2.2, -1.5), "fact:parameters-exceed-data": W(1.6, -0.8),
            "fact:rewards-logged": W(-3.0),
        },
        settles=(
            ("the size of the training set and of the model",
             "--fact dataset_size=50000 --fact parameters=1e6"),
        ),
    ),
)  # fmt: skip
