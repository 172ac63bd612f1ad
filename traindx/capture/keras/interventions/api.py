"""What most interventions in Keras need, for one import."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Change, Span
from traindx.capture.keras.experiment import Arguments, Site
from traindx.capture.keras.facts import Loss, activation_of, plain_layers

__all__ = [
    "Any",
    "Arguments",
    "Callable",
    "Change",
    "Loss",
    "Site",
    "Span",
    "activation_of",
    "applies",
    "keras",
    "ops",
    "plain_layers",
]
