"""`traindx demo`: train a network with a known fault, diagnose its log, and compare with the truth."""

from pathlib import Path

import msgspec

from traindx import pipeline
from traindx.cli.api import ConfigError, Output, click, emit, full_option, note, output_options, progress
from traindx.cli.demo_network import FAULTS, Fault, train
from traindx.cli.diagnosis_output import draw, render_diagnosis
from traindx.reports.labels import percent
from traindx.temporary import DEMO, temporary_folder
from traindx.vocabulary import RunDiagnosis

EXAMPLES = """\b
Examples:
  traindx demo
  traindx demo --fault overfitting
  traindx demo --fault healthy --out demo-run      keep the log
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--fault", type=click.Choice(tuple(FAULTS)), default="learning-rate-too-high", show_default=True,
    help="What is wrong with the training.",
)  # fmt: skip
@click.option("--out", "folder", metavar="DIR", help="Keep the log in DIR. Default: a temporary folder.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of data, weights and batches.")
@click.option("--figures", metavar="DIR", help="Also draw the run's figures as PNG files into DIR.")
@output_options
@full_option
def demo(fault: str, folder: str | None, seed: int, figures: str | None, out: Output, full: bool) -> int:
    """Train a small network with a known fault, and diagnose it.

    The network is really trained (numpy, a few seconds) and its log is read like any other: the
    diagnosis does not know the fault. The last line says what was wrong.
    """
    with temporary_folder(DEMO) as temporary:
        log = log_path(Path(folder) if folder else temporary)
        train_with_progress(fault, log, seed, quiet=out.quiet)
        run = pipeline.read(log)
    if not folder:
        run = msgspec.structs.replace(run, id="demo", source="metrics.csv")  # a temporary path says nothing
    diagnosis = pipeline.diagnose(run)
    emit(render_diagnosis(diagnosis, out, full=full), out.path)
    if figures is not None:
        draw(diagnosis, figures, quiet=out.quiet)
    note(describe_truth(FAULTS[fault], diagnosis.first), out.quiet)
    if folder:
        note(f"The log: {log}", out.quiet)
    return 0


def log_path(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {folder}: cannot be made: {error.strerror}") from error
    return folder / "metrics.csv"


def train_with_progress(fault: str, log: Path, seed: int, *, quiet: bool) -> None:
    recipe = FAULTS[fault].recipe
    note(f"Training a small network for {recipe.steps:,} steps, with this fault: {fault} ...", quiet)
    with progress("training", recipe.steps, show=not quiet) as at:
        train(recipe, log, seed, lambda step: at(step, f"step {step}"))


def describe_truth(fault: Fault, found: RunDiagnosis) -> str:
    """What was really wrong, and where the diagnosis ranked it."""
    ranks = [i for i, h in enumerate(found.hypotheses, start=1) if h.cause in fault.causes]
    said = f"What was wrong: {fault.truth}."
    if not ranks:
        return f"{said} The diagnosis missed it."
    rank = min(ranks)
    right = found.hypotheses[rank - 1]
    if rank == 1:
        return f"{said} The diagnosis put {right.cause} first ({percent(right.probability)})."
    first = found.hypotheses[0]
    return f"{said} The diagnosis put {first.cause} first ({percent(first.probability)}), {right.cause} only at rank {rank}."
