"""What the loss computes, and in which precision."""

from functools import partial

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import number

LOGITS = Intervention(
    "logits", "forward", ("on",), order=1,
    help="""Removes softmax and sigmoid before a loss that applies them itself or is more exact without them, in
    evaluation, too. `cross_entropy` of softmax or sigmoid and `binary_cross_entropy_with_logits` of sigmoid apply them
    twice. `nll_loss` of softmax lacks the logarithm. `binary_cross_entropy` of sigmoid becomes the same loss, computed
    without overflow. A softmax over one unit, which is always 1, is removed before either binary loss.

    The scores are the inputs of the softmax or sigmoid. If these were not seen (inside of a compiled model, or changed
    on the way) and classes sum to 1, the logarithm of the probabilities is used. It has the same softmax. What the
    script itself does with the probabilities does not change. The recorded loss is a different one, with ln k at
    chance.""",
)  # fmt: skip

CLASS_WEIGHTS = Intervention(
    "class_weights", "forward", ("balanced",), order=2,
    help="""In training, weighs each class by n / (classes x samples of the class): in `cross_entropy` and `nll_loss`
    with class numbers, and in both binary cross-entropies (each of several columns separately). The labels of the data
    set are counted where it is made of tensors. Otherwise the labels seen in training so far are counted, so that the
    first steps have other weights than later ones. The script's own weights are replaced. Balanced classes get none,
    and nothing is changed.

    The recorded training loss is weighted and cannot be compared with that of the plain run; the validation loss
    is as the script computes it. Refused: other losses.""",
)  # fmt: skip

LABEL_SMOOTHING = Intervention(
    "label_smoothing", "forward", ("0.1", "0"), order=3, read=partial(number, high=0.99),
    help="""In training, moves a share of each label's weight evenly to all classes: in `cross_entropy`, in `nll_loss`
    and in both binary cross-entropies. It replaces the `label_smoothing` that the script gives to `cross_entropy`. The
    recorded training loss is smoothed, which is higher and cannot be compared with that of the plain run; the
    validation loss is as the script computes it. Refused: other losses, and `nll_loss` with class weights.""",
)  # fmt: skip

PRECISION = Intervention(
    "precision", "forward", ("float32", "bfloat16"), order=2,
    help="""`float32` switches autocast and gradient scaling off, and makes `model.half()`, `model.bfloat16()` and
    `model.to(torch.float16)` leave models in single precision (inputs in half precision are converted).
    `bfloat16` is used wherever the script uses float16. Models in single precision that are called without autocast
    are called with it, and their output is in single precision. A model that is made in half precision
    (`torch.set_default_dtype`, `dtype=` of its modules) stays as it is.""",
)  # fmt: skip

ACCUMULATED_LOSS = Intervention(
    "loss", "backward", ("/accumulation",), order=1,
    help="""Where a script calls `backward` several times before a step, the gradients are divided by the number of
    calls: the step is then that of one large batch. The calls of the most frequent line since the last step or
    `zero_grad` are counted. Does nothing where the loss itself is already divided by that number, and where there is
    one call for each step. Refused for LBFGS.""",
)  # fmt: skip
