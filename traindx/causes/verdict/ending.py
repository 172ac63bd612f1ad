"""The error in a log that ended the run, and what to do about the commonest ones."""

import re

import numpy as np

from traindx.features.shared import Features
from traindx.vocabulary import Event, Run, threshold

ENDED_BADLY = {
    "crash": "the run ended with an error",
    "out-of-memory": "the device ran out of memory",
}

# What to do about an error, by what its message says: the documentation of PyTorch, TensorFlow and Python.
REMEDIES: tuple[tuple[str, str], ...] = (
    (
        r"t >= 0 && t < n_classes|target -?\d+ is out of bounds|label value of \S+ which is outside",
        "Number the labels from 0, and give the model one output for each class",
    ),
    (
        r"index out of range in self|srcIndex < srcSelectDimSize",
        "Give each embedding more rows than the largest index that it receives",
    ),
    (
        r"input_val >= zero|all elements of (?:input|target) should be between 0 and 1",
        "Plain binary cross-entropy needs outputs and targets from 0 to 1: put a sigmoid before it, or use its variant "
        "for logits",
    ),
    (
        r"device-side assert",
        "Often a label or an index is out of range: run it again on the CPU, where the message names the line",
    ),
    (
        r"illegal memory access",
        "Run it again with CUDA_LAUNCH_BLOCKING=1, so that the traceback shows the operation",
    ),
    (r"on the same device", "Move the model and each batch to one device before the forward pass"),
    (
        r"more than 1 value per channel",
        "Batch normalization needs several samples: drop the last incomplete batch (drop_last=True)",
    ),
    (
        r"backward through the graph a second time",
        "Detach what is kept from one step to the next (hidden states, running losses), or sum the losses and call "
        "backward once",
    ),
    (
        r"modified by an inplace operation",
        "Replace the operation that changes a tensor in place; torch.autograd.set_detect_anomaly(True) shows where it is",
    ),
    (
        r"does not require grad and does not have a grad_fn|no gradients provided for any",
        "The loss does not depend on any trainable parameter: look for detach(), no_grad() and frozen layers",
    ),
    (
        r"returned nan values in its",
        "An operation in the backward pass gives NaN: keep logarithms, square roots and divisions away from 0",
    ),
    (
        r"Expected to have finished reduction",
        "Some parameters do not reach the loss: use all, or set find_unused_parameters=True",
    ),
    (
        r"stack expects each tensor to be equal size",
        "Resize or pad the samples to one shape, or collate them yourself",
    ),
    (r"loading state_dict", "Build the model as it was saved, or load only the weights that fit"),
    (
        r"shapes cannot be multiplied|is invalid for input of size|size mismatch|must match the size"
        r"|shapes? .{1,60} incompatible|must be equal, but",
        "Print the shapes before that line, and change the layer or the input that does not fit",
    ),
    (
        r"scalar type|same dtype|found dtype",
        "Convert the inputs and targets to the types that the operation names",
    ),
    (
        r"cannot identify image|truncated (?:image|file)|image file is truncated|corrupt",
        "Find and remove the unreadable file, or skip such samples while loading",
    ),
    (
        r"signal:? (?:1|15)\b|sighup|sigterm",
        "It was ended from outside (a closed terminal, a time limit): resume from the last checkpoint",
    ),
    (r"\bkilled\b|sigkill", "Something outside ended the process, most often because main memory ran out"),
    (
        r"insufficient shared memory|bus error|DataLoader worker",
        "Use fewer workers to load data (num_workers=0 shows the error itself), or give the container more shared memory",
    ),
    (
        r"codec can't encode character",
        "A character could not be written: set PYTHONUTF8=1, or print ASCII, and resume from the last checkpoint",
    ),
    (r"No module named", "Install that package for the Python that runs the training"),
    (
        r"No such file or directory|does not appear to have a file|DatasetNotFoundError|Dataset \S+ not found",
        "Check that path or name, as the machine that runs the training sees it",
    ),
    (
        r"not compiled with (?:GPU|CUDA)|CUDA-enabled build|no kernel image is available|CUDA driver version is insufficient",
        "Install a build for this GPU and driver, or train on the CPU",
    ),
    (r"No space left on device", "Make room on the disk, and keep fewer checkpoints"),
    (
        r"collective operation timeout|watchdog",
        "Find the process that was late or had stopped: the first error among all processes counts",
    ),
    (
        r"contains NaN|infinity or a value too large",
        "Look for NaN and infinite values in the inputs and the targets",
    ),
)

PLACE = re.compile(r"\[\d\d:\d\d:\d\d\]\s*|(?<!\S)\S*/\S+\.(?:h|hpp|cuh?|cc|cpp|c):\d+[:\]]\s*")


def remedy(message: str) -> str:
    """What to do about an error, or that it comes first."""
    return next(
        (text for words, text in REMEDIES if re.search(words, message, re.IGNORECASE)), "Fix that first"
    )


def ended_badly(
    run: Run,
    features: Features,
    *,
    survived: bool = False,
    more: float = threshold(
        5, "points", basis="convention", source="other processes still print a few lines"
    ),
) -> Event | None:
    """The first error with no further start and hardly any point after it. An out-of-memory error counts
    unless the run `survived` it."""
    last = max((i for i, e in enumerate(run.events) if e.kind == "resume"), default=-1)
    kinds = set(ENDED_BADLY) - ({"out-of-memory"} if survived else set())
    steps = np.empty(0) if features.objective is None else features.objective.raw.steps
    found = (e for e in run.events[last + 1 :] if e.kind in kinds)
    return next((e for e in found if e.step is None or np.count_nonzero(steps > e.step) <= more), None)


def shorten_message(
    message: str,
    *,
    most: float = threshold(100, "characters", basis="convention", source="one line of a report"),
) -> str:
    """The beginning of a message, in whole words, without the clock time and the source line of compiled code
    (`[08:34:48] /build/src/common.h:153: not compiled with GPU support`), which would fill it."""
    message = PLACE.sub("", message).strip() or message
    if len(message) <= most:
        return message.rstrip(".")
    return f"{message[: int(most)].rsplit(' ', 1)[0]} …"
