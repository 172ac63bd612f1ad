"""What the outputs of training batches and of evaluations say by themselves."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family(
    "answers",
    (
        "outputs_sample_spread", "outputs_majority_share", "outputs_accuracy", "outputs_balanced_accuracy",
        "outputs_cross_entropy", "outputs_contradict_share", "outputs_explained", "val_outputs_majority_share",
    ),
    "scalar", "sample", Cost(150.0, value=2.0), apart=2, optional=True,
    asks=("class-imbalance", "misaligned-labels", "label-noise", "wrong-loss", "double-softmax"),
)  # fmt: skip
