"""What a captured script logged itself, next to its record: numbers it logged, and what it printed.

The record counts steps; a script's own lines count epochs, steps or nothing. They are laid over the
record's steps, and only what the record lacks is taken: it is the better witness of all it has.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from traindx.errors import ReadError
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary import Floats, Run, Series, series

Read = Callable[[Path], list[RawLog]]
LOGGED = "logged/"  # names under which capture keeps what the script handed to a logger
PRINTED = ("stdout.log", "stderr.log")
MOST_BYTES = 64 << 20  # of a file next to the record are read
# Of these the record has none: what agents, games and preference tuning log next to their losses.
SPLITS = ("train/", "val/", "test/")
# Parts of the loss of a model with latent variables.
PARTS = frozenset({"rec", "recon", "reconstruction", "nll", "kld", "elbo"})
KINDS = ("losses/", "charts/", "rollout/", "objective/", "logps/", "kl", "reward_std")
TERMS = ("kld", "kl_loss", "value_loss", "entropy_loss")  # what a printed loss is the sum of
LOSS, SUM = "train/loss", "train/total_loss"
FEW = 2  # points below which a printed signal is no curve


def complete_run(run: Run, folder: Path, read_file: Read) -> Run:
    """The run with every signal that it lacked and that the script logged or printed."""
    own = {name: s for name, s in run.series.items() if not name.startswith(LOGGED)}
    logged = {name: s for name, s in run.series.items() if name.startswith(LOGGED)}
    found = dict(own)
    originals = {n: o for n, o in run.originals.items() if n in own}
    for name, original, curve in logged_signals(logged):
        if name not in found:
            found[name], originals[name] = curve, original
    home, turn, records = trainings(folder)
    for file in files(run, home):
        printed = runs_in(file, read_file)
        if records > 1:  # each training has the lines that it printed, where they are as many runs
            printed = printed[turn : turn + 1] if len(printed) == records else ()
        for other in printed:
            for name, curve in align_signals(other, own).items():
                # A printed sum of terms has the samples of the printed terms; the recorded loss may have others.
                kept = SUM if name == LOSS and any(n.endswith(TERMS) for n in other.series) else name
                if kept not in found:
                    found[kept], originals[kept] = curve, f"{other.originals.get(name, name)} ({file.name})"
    return msgspec.structs.replace(run, series=dict(sorted(found.items())), originals=originals)


def trainings(folder: Path) -> tuple[Path, int, int]:
    """(folder of the script, number of this record from 0, number of records)."""
    home = folder.parent if folder.match("model-[0-9]*") else folder
    records = [home, *later_records(home)]
    return home, records.index(folder), len(records)


def later_records(home: Path) -> list[Path]:
    """A script that trains several models one after the other has a record of each, the later ones in `model-2` and
    so on. One that was cut off before its first step has none."""
    found = (one for one in home.glob("model-[0-9]*") if any(one.glob("steps-*.arrows")))
    return sorted(found, key=lambda one: (len(one.name), one.name))


def logged_signals(logged: Mapping[str, Series]) -> Iterator[tuple[str, str, Series]]:
    """Numbers that went to TensorBoard, W&B or MLflow, under canonical names."""
    if not logged:
        return
    raw = RawLog("logged", "logged", axis_kind="step")
    for name, curve in logged.items():
        rows = np.searchsorted(np.unique(curve.steps), curve.steps)
        raw.columns[name.removeprefix(LOGGED)] = RawColumn(curve.values, rows, curve.steps, curve.times)
    for run in assemble(raw):
        for name, curve in run.series.items():
            yield name, run.originals.get(name, name), curve


def files(run: Run, folder: Path) -> Iterator[Path]:
    """What was printed, and the tables that the script wrote with the csv module."""
    yield from (folder / name for name in PRINTED)
    for name, value in run.setup.facts.items():
        if name.startswith("log_file/"):
            yield Path(str(value))


def runs_in(file: Path, read_file: Read) -> tuple[Run, ...]:
    """The runs of a file; none where it holds no log."""
    try:
        if not file.is_file() or not 0 < file.stat().st_size <= MOST_BYTES:
            return ()
        return tuple(run for log in read_file(file) for run in assemble(log))
    except (ReadError, OSError):
        return ()  # most scripts print no log, and that is no damage to the record


def align_signals(run: Run, own: Mapping[str, Series]) -> dict[str, Series]:
    """The signals of a script's own log on the steps of the record."""
    last = max((float(s.steps[-1]) for s in own.values() if len(s)), default=0.0)
    ends = evaluations(own)
    found = {}
    for name, curve in run.series.items():
        steps = place_steps(curve.steps, run.axis, last, ends)
        wanted = name.startswith((*SPLITS, *KINDS)) or not PARTS.isdisjoint(
            re.split(r"[\W_]+", name.lower())
        )
        if steps is not None and wanted and len(curve) >= FEW:
            found[name] = series(steps, curve.values, None)
    return found


def counts_steps(steps: Floats, last: float, *, missed: float = 3.0) -> bool:
    """Whether the numbers of a script's lines can be steps of the record. A counter that goes up evenly, and
    ends more than `missed` lines before the record does, counts epochs or rounds: "[25/25]" after step 1,075."""
    if not len(steps) or steps[0] < 0 or steps[-1] > last + 1:
        return False
    apart = np.diff(steps)
    uneven = len(apart) < FEW or np.ptp(apart) > 0
    return bool(uneven or steps[-1] + missed * apart[-1] >= last)


def evaluations(own: Mapping[str, Series]) -> Floats | None:
    """The steps at which the record saw evaluations."""
    steps = [s.steps for n, s in own.items() if n.startswith("val/") and len(s) > 1]
    return max(steps, key=len) if steps else None


def place_steps(steps: Floats, axis: str, last: float, ends: Floats | None) -> Floats | None:
    """Steps of a log as steps of the record; None where they cannot be laid over it.

    A log that counts steps keeps them. Lines that are as many as the evaluations belong to those;
    other lines are spread evenly: an epoch is as long as another."""
    if axis in ("step", "iteration") and counts_steps(steps, last):
        return steps
    if ends is not None and len(ends) == len(steps):
        return ends
    if not last or not len(steps):
        return None
    first = float(steps[0])
    count = float(steps[-1]) - first + 1 if axis == "epoch" else float(len(steps))
    place = steps - first + 1 if axis == "epoch" else np.arange(1.0, len(steps) + 1)
    return np.asarray(place * (last / count)) if count > 0 else None
