"""What a proof returns in addition to the fix: its final weights, its quality on the script's own test set,
and how fast the fixed model answers."""

import hashlib
import math
import re
import shutil
import time
import zipfile
from pathlib import Path

import numpy as np

from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.checkpoints import SECONDS, inspect
from traindx.lab.conduct.parallel import threads_each
from traindx.lab.judge.objectives import arm_levels
from traindx.lab.repair.bench import Arm, Bench
from traindx.lab.repair.search import Search
from traindx.vocabulary import direction_of
from traindx.vocabulary.trial import Answering, Checkpoint, Tested

MODEL = "model.safetensors"
MODELS = (MODEL, "model.keras")
TEST = "test/"
PRINTED, LINES = "stdout.log", 200  # of the end of what was printed
# "test_acc 0.91", "Test set accuracy: 91.0%", "test/loss=0.3"
SAID = re.compile(
    r"\btest(?:ing)?(?:[ _/-]set)?[ _/-]([a-z]\w*?)\b(?:[ _](?:is|of|score))?\s*[:=]?\s*"
    r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b\s*(%?)",
    re.IGNORECASE,
)
LONG = {"acc": "accuracy"}
CHUNK = 1 << 20


def checkpoint(bench: Bench, final: Arm, folder: Path) -> Checkpoint:
    """The weights of the fixed run at full length, as a file in `folder`, if its header, shapes and numbers
    are sound and its digest is the one that the training wrote down."""
    kept = (bench.records / final.record / name for name in MODELS)
    file = next((one for one in kept if final.record and one.is_file()), None)
    facts = {} if final.run is None else final.run.setup.facts
    if file is None:
        why = facts.get("model_not_kept") or "the fixed script was not run to its end in a trial"
        return Checkpoint(why=str(why))
    what, digest = why_file_is_broken(file), sha256(file)
    if what:
        return Checkpoint(why=f"the weights of the fixed run are not returned: {what}")
    if digest != facts.get("model_sha256"):
        return Checkpoint(
            why="the weights of the fixed run are not returned: their digest differs from the training's"
        )
    place = folder / file.name
    shutil.copyfile(file, place)
    tensors = int(facts.get("model_tensors") or 0)
    return Checkpoint(path=str(place), sha256=digest, bytes=place.stat().st_size, tensors=tensors)


def why_file_is_broken(file: Path) -> str:
    """What is wrong with a file of weights, or "". Of a Keras archive only the parts are verified; its
    numbers are in HDF5, which is not read."""
    if file.suffix == ".keras":
        try:
            with zipfile.ZipFile(file) as archive:
                return f"{found} is damaged" if (found := archive.testzip()) else ""
        except (zipfile.BadZipFile, OSError) as error:
            return str(error)
    looked = inspect(file, time.monotonic() + SECONDS)
    if looked.bad:
        return f"not finite: {', '.join(looked.bad[:3])}"
    return looked.broken or ("" if looked.known else "their format is unknown")


def sha256(file: Path) -> str:
    """The digest of a file, in hexadecimal."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_weights(bench: Bench) -> None:
    """Remove the weights of the arms."""
    for name in MODELS:
        for file in bench.records.glob(f"*/{name}"):
            file.unlink()


def test_metrics(search: Search, seeds: tuple[int, ...]) -> tuple[Tested, ...]:
    """The reported test metrics at full length, unchanged and with the fix, over the seeds of the proof."""
    bench = search.bench
    wanted = [((way, seed), bench.whole) for seed in seeds for way in ((), search.base)]
    bench.arms([], longest=wanted)
    ends = [last_test_values(bench, bench.known[one]) for one in wanted]
    before, after = ends[::2], ends[1::2]
    names = sorted({name for end in ends for name in end})
    if not names:
        search.notes.append("--test: the script reports no test set (names that begin with `test`)")
    return tuple(
        Tested(
            signal=name,
            direction=direction_of(name) or "lower",
            before=arm_levels([end.get(name, math.nan) for end in before], name),
            after=arm_levels([end.get(name, math.nan) for end in after], name),
        )
        for name in names
    )


def last_test_values(bench: Bench, arm: Arm) -> dict[str, float]:
    """The last value of every signal of the test set: recorded ones, and those that the script printed only
    once, which make no curve."""
    series = {} if arm.run is None else arm.run.series
    found = {name: float(s.values[-1]) for name, s in series.items() if name.startswith(TEST) and len(s)}
    log = bench.records / arm.record / PRINTED
    for line in (
        log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES:] if log.is_file() else ()
    ):
        for name, value, percent in SAID.findall(line):
            found.setdefault(
                TEST + LONG.get(name.lower(), name.lower()), float(value) / (100 if percent else 1)
            )
    return found


def measured_latency(tried: Attempt, threads: int | None) -> Answering:
    """What a start of the fixed script with the latency probe measured."""
    if tried.run is None:
        return Answering(why=tried.why)
    setup = tried.run.setup
    if "latency_batch_p50" not in setup.facts:
        return Answering(why=str(setup.facts.get("latency_not_checked", "no model was called")))

    def seconds(name: str) -> float | None:
        value = setup.facts.get(name)
        return float(value) if isinstance(value, int | float) and np.isfinite(value) else None

    samples = setup.facts.get("latency_samples")
    return Answering(
        p50=seconds("latency_p50"),
        p95=seconds("latency_p95"),
        batch=int(samples) if isinstance(samples, int | float) else None,
        batch_p50=seconds("latency_batch_p50"),
        batch_p95=seconds("latency_batch_p95"),
        throughput=seconds("inference_throughput"),
        threads=threads,
        device=setup.device,
    )


def busy_share(tried: Attempt) -> float | None:
    """The share of a traced start's steps in which the accelerator computes. None without one."""
    series = None if tried.run is None else tried.run.series.get("util/device")
    known = series.values[np.isfinite(series.values)] if series is not None else np.zeros(0)
    return float(np.median(known)) if len(known) else None


def arm_threads(bench: Bench) -> int | None:
    """As many threads as the arms have, because another number rounds differently."""
    return threads_each(bench.jobs) if bench.jobs > 1 else None
