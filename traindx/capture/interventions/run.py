"""The run as a whole: its length and its seed."""

from functools import partial

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import whole_number

STEPS = Intervention(
    "steps", "start", ("500",), read=whole_number,
    help="""Ends the script after that many steps of its first optimizer, as `--steps` does.""",
)  # fmt: skip

SEED = Intervention(
    "seed", "start", ("0",), order=1, read=partial(whole_number, low=0),
    help="""Seeds the generators of Python, NumPy and PyTorch when torch is imported, and replaces the script's own
    seeds. The first seed that the script sets becomes this one; later seeds keep their distance from it (1 and 3
    become 0 and 2). Separate generators (`torch.Generator`, `numpy.random.default_rng`), the seeds of loader workers
    and the order of sets (PYTHONHASHSEED) do not change.""",
)  # fmt: skip
