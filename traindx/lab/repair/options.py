"""What the user asked of a search."""

from typing import NamedTuple

from traindx.lab.judge.significance import FIRST, MIN_EFFECT


class Options(NamedTuple):
    """What the user asked for. `steps` of each arm (None: by the script's own speed), `seeds`: pairs for a
    verdict, `metric`: a signal and "max" or "min", `test`: whether the script's test set is kept out of
    all choices, `slices`: columns whose groups are compared before and after."""

    steps: int | None = None
    seeds: int = FIRST
    min_effect: float = MIN_EFFECT
    metric: tuple[str, str] | None = None
    test: bool = False
    slices: tuple[str, ...] = ()
