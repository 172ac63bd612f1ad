"""The shapes of a proof: what was tried on the user's script, and what came of it.

Field names are those of the JSON documents `traindx.fix/1` and, for `Trial`, `traindx.diagnosis/1`. A gain
is the natural logarithm of before over after (of the loss, of the errors left, of the seconds): 0.69 is half
of it, 0 nothing, below 0 worse.
"""

from typing import Literal

import msgspec

from traindx.vocabulary.diagnosis import Recommendation, RunDiagnosis
from traindx.vocabulary.edit import Advice

FIX_SCHEMA = "traindx.fix/1"

Verdict = Literal["confirmed", "refuted", "inconclusive", "harmful"]
Outcome = Literal["fixed", "nothing-to-fix", "not-fixed"]
Interval = tuple[float, float]


class Objective(msgspec.Struct, frozen=True, kw_only=True):
    """What arms are compared by: a signal of the run, which way is better, and why this one. `scale`: how
    two levels become a gain: "error" (1 - level), "ratio" (of levels above 0), "share" (difference over
    `unit`), or "steps": the level is the step at which the signal, whose better way is `rises`, comes to
    `unit`; fewer are better."""

    signal: str
    direction: Literal["lower", "higher"]
    scale: Literal["error", "ratio", "share", "steps"] = "ratio"
    unit: float = 1.0
    rises: bool = False
    why: str = ""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The objective's level over the seeds of one arm, in its own unit, with a 95 % interval (None with one
    seed)."""

    mean: float
    n: int
    interval: Interval | None = None
    values: tuple[float, ...] = ()


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One change that was tried, with the same seeds and steps with it and without it. `fix` or `experiment`
    names it (the other is None), `cause` is what it is to cure, `on_top_of` the interventions that both arms
    had. `effect` is the mean gain with its interval; `p_value` is exact, of the signs of the pairs, after
    Holm; `why` says in words what the verdict rests on."""

    fix: str | None = None
    experiment: str | None = None
    cause: str = ""
    interventions: tuple[str, ...] = ()
    on_top_of: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    before: Side | None = None
    after: Side | None = None
    effect: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    verdict: Verdict = "inconclusive"
    why: str = ""
    gains: tuple[float, ...] = ()
    seconds: float = 0.0


class Ablation(msgspec.Struct, frozen=True, kw_only=True):
    """What one part of the fixed run contributes: the share of the whole gain that is lost without it."""

    fix: str
    interventions: tuple[str, ...]
    share: float
    interval: Interval | None = None


class Untried(msgspec.Struct, frozen=True):
    """A fix that was not tried, and why."""

    fix: str
    cause: str
    change: str
    why: str


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The weights that the fixed script ended with at full length, by its first seed: a safetensors file
    whose header, shapes and numbers were looked at. `path` is None where there is none, and `why` says
    why."""

    path: str | None = None
    sha256: str = ""
    bytes: int = 0
    tensors: int = 0
    why: str = ""


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """How fast the fixed model answers, in evaluation mode on the machine of the trials, after calls to warm
    up: seconds of a call with one sample (None: what one sample is was not clear) and with a batch of the
    training. `throughput`: samples a second in such batches. `utilization`: the share of the time of its
    training steps in which the accelerator computes, in a separate start (None: there is no accelerator,
    or no edited script that could be traced). `why` says what kept it from being measured."""

    p50: float | None = None
    p95: float | None = None
    batch: int | None = None
    batch_p50: float | None = None
    batch_p95: float | None = None
    throughput: float | None = None
    utilization: float | None = None
    threads: int | None = None
    device: str | None = None
    why: str = ""


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """A signal of the script's own test set, at full length: it was no part of any choice."""

    signal: str
    direction: str
    before: Side | None = None
    after: Side | None = None


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """A group of the held-out data by a column (`--slices`), over the seeds of the proof: accuracy, or mean
    squared error. The verdict is about the group alone: "harmful" where it pays for the gain of others."""

    column: str
    group: str
    samples: int
    measure: str
    before: Side | None = None
    after: Side | None = None
    verdict: Verdict = "inconclusive"


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to stop debugging: the most promising `fix` that is left ("": none), its `chance` to be
    confirmed, the `gain` expected of it (chance x the gain of one that is), the `seconds` of its proof, and
    all that in words."""

    stop: bool
    fix: str = ""
    chance: float = 0.0
    gain: float = 0.0
    seconds: float = 0.0
    why: str = ""


class FixReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `traindx fix --format json` prints. `command` reproduces the fixed run, `patch` is the path of
    the source edit or None, `diff` its text. `patch_basis` says what an edit rests on that no trial has
    proven, `by_hand` what to write where no edit was certain. `diagnosis` is that of the script as it was,
    `after_fix` that of the fixed run where there is one."""

    schema: str = FIX_SCHEMA
    traindx_version: str
    verdict: Outcome
    reason: str
    applied: tuple[str, ...] = ()
    interventions: tuple[str, ...] = ()
    command: str = ""
    patch: str | None = None
    diff: str = ""
    patch_basis: str = ""
    by_hand: Advice | None = None
    objective: Objective | None = None
    before: Side | None = None
    after: Side | None = None
    trials: tuple[Trial, ...] = ()
    ablation: tuple[Ablation, ...] = ()
    test: tuple[Tested, ...] = ()
    slices: tuple[Slice, ...] = ()
    checkpoint: Checkpoint | None = None
    answering: Answering | None = None
    recommendations: tuple[Recommendation, ...] = ()
    stopping: Stopping | None = None
    untried: tuple[Untried, ...] = ()
    diagnosis: RunDiagnosis
    after_fix: RunDiagnosis | None = None
    belief: tuple[tuple[str, dict[str, float]], ...] = ()
    notes: tuple[str, ...] = ()
    folder: str = ""
    steps: int | None = None
    seconds: float = 0.0
    plain_seconds: float = 0.0
