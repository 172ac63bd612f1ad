"""Settings of the optimizer, and another optimizer."""

from functools import partial
from typing import NamedTuple

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import Change, change, number, one_of, positive, span, whole_number
from traindx.errors import ConfigError


class Schedule(NamedTuple):
    """Learning rates that replace the script's schedule: `constant`, `cosine` (over `steps`; None: over the whole
    run), or a `sweep` from `low` to `high` in so many steps."""

    name: str
    steps: int | None = None
    low: float = 0.0
    high: float = 0.0


def learning_rate(text: str, name: str) -> Change | Schedule:
    if not text[0].isalpha():
        return change(text, name)
    schedule, *numbers = text.split(":")
    if schedule == "constant" and not numbers:
        return Schedule(schedule)
    if schedule == "cosine" and len(numbers) < 2:
        return Schedule(schedule, whole_number(numbers[0], "lr=cosine") if numbers else None)
    if schedule == "sweep" and len(numbers) == 3:
        low, high = (positive(n, "lr=sweep") for n in numbers[:2])
        return Schedule(schedule, whole_number(numbers[2], "lr=sweep", low=2), low, high)
    if schedule == "plateau":
        raise ConfigError(
            f"--with {name}={text}: it depends on the validation loss, which only the script knows"
        )
    raise ConfigError(
        f"--with {name}={text}: not a schedule; lr is a number, *factor, constant, cosine:N or sweep:A:B:N"
    )


def two_betas(text: str, name: str) -> tuple[float, ...]:
    betas = tuple(number(part.strip(), name, high=1.0) for part in text.split(","))
    if len(betas) != 2 or max(betas) == 1.0:
        raise ConfigError(f"--with {name}={text}: two numbers below 1, such as betas=0.9,0.95")
    return betas


LR = Intervention(
    "lr", "settings", ("*0.1", "0.01", "constant", "cosine:1000", "sweep:1e-7:10:100"),
    read=learning_rate, part=lambda value: isinstance(value, Change),
    help="""Another learning rate in every step of every optimizer. The script's own schedulers continue and see
    their own values: the rate is set before a step and restored after it.

    `*0.1` multiplies whatever rate the script has set. `0.01` becomes the base rate and keeps the shape of the script's
    schedule and the ratios of its groups. The base rate is the rate that the optimizer was made with (with OneCycleLR
    its `max_lr`, with several groups the highest). `constant` and `cosine:N` (to 0 over N steps; N may be left out with
    `--steps`) replace the schedule by one that starts at the base rate. `sweep:A:B:N` raises the rate exponentially
    from A to B in N steps, and then ends the script. A schedule and a value may be given together. With two optimizers
    both are changed.""",
)  # fmt: skip

WARMUP = Intervention(
    "lr.warmup", "settings", ("50", "0.02"), order=1, read=span,
    help="""Multiplies the learning rate by 1/N, 2/N ... 1 in the first N steps. A number below 1 is a share of
    all steps. Their number must then be known: from `--steps`, or from a schedule that is given its length.""",
)  # fmt: skip

WEIGHT_DECAY = Intervention(
    "weight_decay", "settings", ("0.01", "*3"), order=2, read=change,
    help="""Another weight decay in every step of every optimizer: a number, or a multiple of the script's own.
    Groups without weight decay (biases, norms) keep none, unless no group has any. It is decoupled or added to the
    gradient, as in the script's optimizer. Refused where the optimizer has none (LBFGS).""",
)  # fmt: skip

MOMENTUM = Intervention(
    "momentum", "settings", ("0.9", "0"), order=3, read=partial(number, high=1.0),
    help="""Another momentum in every step of SGD and RMSprop. Refused for optimizers that have none, or call it
    `betas` (Adam).""",
)  # fmt: skip

BETAS = Intervention(
    "betas", "settings", ("0.9,0.95",), order=4, read=two_betas,
    help="""Other `betas` in every step of Adam and similar optimizers, from the first step on. They are the decay rates
    of the mean of the gradients and of the mean of their squares. Refused for optimizers that have none.""",
)  # fmt: skip

EPS = Intervention(
    "eps", "settings", ("1e-8",), order=5, read=number,
    help="""Another `eps` (the number that keeps the denominator away from 0) in every step of Adam, RMSprop, Adagrad
    and similar optimizers. Refused for optimizers that have none.""",
)  # fmt: skip

OPTIMIZER = Intervention(
    "optimizer", "step", ("adamw", "adam", "sgd", "momentum"),
    read=partial(one_of, allowed=("sgd", "momentum", "adam", "adamw")),
    help="""SGD, SGD with momentum (0.9, or the script's own), Adam or AdamW makes the steps. The script keeps its
    optimizer: in each step, groups, learning rates, schedules and weight decay are taken from it. The other optimizer
    then updates the same parameters, while the script's own does nothing. `betas` and `eps` are the script's if it has
    both, otherwise the defaults. The learning rate stays as it is, though another optimizer usually needs another one:
    add `lr=`. The state that the script saves of its optimizer is empty, and what it loads is not used. Refused for
    LBFGS.""",
)  # fmt: skip
