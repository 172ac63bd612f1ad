"""Loaders, inputs and targets."""

from functools import partial

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import Change, change, whole_number


def batch_size(text: str, name: str) -> Change:
    """A whole number, or a factor."""
    return change(text if text.startswith("*") else str(whole_number(text, name)), name, strict=True)


BATCH = Intervention(
    "batch", "data", ("32", "*4", "*0.25"), order=1, read=batch_size,
    help="""Another batch size of the training loaders: `32`, or `*4` times their own, at most the size of the data set.
    The learning rate stays (add `lr=*4` if it should follow). The loader has its new length from its first iterator on;
    a shuffled loader, and the first one that the script makes, have it before that, so that a schedule planned from the
    number of steps is right. A schedule with a fixed number of steps may end, or raise, early.

    Refused where the script makes its batches itself, for streams, and where the script's own sampler makes the
    batches: there, `accumulate=4` makes a step of more samples.""",
)  # fmt: skip

WORKERS = Intervention(
    "workers", "data", ("4", "0"), order=2, read=partial(whole_number, low=0),
    help="""Worker processes of the training loaders. What a data set draws at random is then drawn in the workers and
    differs from the plain run. Refused for streams, which every worker would repeat, and where the script makes its
    batches itself.""",
)  # fmt: skip

PREFETCH = Intervention(
    "prefetch", "data", ("4",), order=3, read=whole_number,
    help="""Batches that each worker of a training loader prepares ahead (PyTorch: 2). The batches are the same. Refused
    for a loader without workers (add `workers=`), and where the script makes its batches itself.""",
)  # fmt: skip

DATA = Intervention(
    "data", "data", ("shuffle", "fixed", "repeat-batch"), order=4,
    help="""`shuffle` makes a loader that goes through its data in a fixed order draw a new random order in each epoch,
    from a generator of traindx. `fixed` repeats the order of the first epoch in all others; the script's random numbers
    continue unchanged. Both are refused where the script makes its batches itself, for streams, and where the script's
    own sampler makes the batches.

    `repeat-batch` trains on the first training batch only: a loader still draws all its batches, and returns a copy of
    the first one in place of each. Where the script makes its batches itself, each model is called with the tensors
    of its first training pass. The losses that follow get the targets of that pass, cut or repeated to the number of
    samples that the script passes. Evaluation does not change.""",
)  # fmt: skip

LABELS = Intervention(
    "labels", "data", ("permute",), order=5,
    help="""`permute` gives each training sample the label of another one: what is still learned does not come from the
    inputs. Validation keeps its own labels.

    Where the training loader has a data set with a length, one fixed permutation over all its samples is used in every
    epoch. The label is the last part of a sample, or its key `label`, `target`, `y` or their plural. Otherwise the
    targets of the loss are permuted within each batch. Equal targets are always permuted in the same way, so that a
    full batch keeps its permutation. The fact `labels_permuted` says which of the two was done.""",
)  # fmt: skip

DROP = Intervention(
    "drop", "data", ("outliers",), order=6,
    help="""`outliers` leaves out training samples whose inputs or targets hold NaN, infinities, or a value more than 20
    robust deviations from its feature's median. The deviation is (q95 - q5) / 3.29 over the first rows seen, one
    for each table column, image channel or last dimension of a sequence. Features that are the same in 9 of 10 rows
    are not judged, nor are whole numbers, nor anything before 20 samples. Evaluation keeps all its samples.

    A loader's batches lose these samples, and empty batches are skipped. Where the script makes its batches itself,
    they must keep their size: other samples of the batch replace what would be dropped, in the inputs of the model and
    in the loss. This drops samples, not the cause of their values; the record counts them.""",
)  # fmt: skip

INPUTS = Intervention(
    "inputs", "data", ("standardize", "blank", "shuffle"), order=7,
    help="""Changes what a model is called with, whether it came from a DataLoader or not: its first tensor and all
    other floating-point tensors with as many samples, but not labels, masks, lengths and states (by the names of the
    arguments). What one model passes to the next does not change.

    `standardize` brings each feature to mean 0 and standard deviation 1 over everything seen in training so far. A
    feature is a column of a table, a channel of images, or the last dimension of sequences. Evaluation uses these
    statistics and adds nothing to them. Constant features become 0. The statistics of the first steps are rough.
    Refused for token ids.
    `blank` makes all of them 0, in evaluation, too: what is still learned does not come from the inputs.
    `shuffle` exchanges the inputs of the samples of a training batch (along the first dimension); evaluation keeps
    its own. Refused where the script calls no module.""",
)  # fmt: skip

TARGETS = Intervention(
    "targets", "data", ("standardize",), order=8,
    help="""`standardize` trains a regression (`mse_loss`, `l1_loss`, `smooth_l1_loss`, `huber_loss`) on standardized
    targets: mean 0 and standard deviation 1, column by column, over all targets seen in training so far.

    Gradients are those of the loss in standard units. Everything visible stays in the script's units: the model's
    output is multiplied back before the script gets it, in evaluation, too. The value of the training loss is that of
    the plain targets, so it can be compared with the plain run. Thresholds of `huber_loss` and
    `smooth_l1_loss` count standard units in training.

    Refused: a loss that is computed by hand, or that gets something else than the output of one model.""",
)  # fmt: skip
