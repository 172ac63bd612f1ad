"""`traindx memory`: the memory that a training step of an unmodified script needs, and what would fit."""

import re
from typing import Any

from traindx import pipeline
from traindx.capture.framework import frameworks
from traindx.capture.launch.command import Request
from traindx.capture.launch.stages import has_records, note_end, why_nothing
from traindx.checks.facts import memory_for
from traindx.cli.api import Config, Output, click, config_options, emit, full_option, note, output_options
from traindx.cli.diagnosis_output import render_diagnosis, status
from traindx.cli.script_start import Start, start_options
from traindx.lab.conduct import environment
from traindx.vocabulary import Fact, Run
from traindx.vocabulary.memory import SIZES

EXAMPLES = """\b
Examples:
  traindx memory -- python train.py
  traindx memory --limit 24GB -- python train.py --batch-size 8     what would fit on another device
  traindx memory -f json -o memory.json -- python -m project.train

\b
The script runs in a scratch copy of the folder: your files stay as they are, what it writes is thrown
away, and it can write nowhere else (--writable PATH allows a place).

\b
The script runs for a few optimizer steps. Then its model runs forward and backward on the last batch
and on half of it. The peak of the allocator at these two sizes gives the cost of a sample, and from it
the memory of other batch sizes. Weights, gradients and the optimizer's state are counted; bfloat16 is
measured, too. Start with a batch that fits. If the script runs out of memory, the same
table is filled from the numbers in the error message.

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  error: no such program, or nothing could be measured (one sentence says why)
"""


def size(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    """Bytes, in any usual unit: 24GB, 16 GiB, 8e9."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*([KMGT]?i?B?)\s*", text, re.IGNORECASE)
    unit = None if found is None else SIZES.get(found[2].lower())
    try:
        count = float(found[1]) * unit if found is not None and unit is not None else 0.0
    except ValueError:
        count = 0.0
    if not 0 < count < float("inf"):
        raise click.BadParameter(f"{text!r} is not a size: write 24GB or 16GiB")
    return count


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@start_options()
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Steps before the measurement.",
)
@click.option(
    "--limit", callback=size, metavar="SIZE", help="The memory to fit into. Default: that of the device."
)
@output_options
@config_options
@full_option
def memory(
    command: tuple[str, ...], config: Config, out: Output, steps: int, limit: float | None, folder_name: str | None,
    full: bool, **reach: Any,
) -> int:  # fmt: skip
    """Measure the memory that a step needs, and what would fit.

    COMMAND is what you would type without traindx: python script.py, python -m module.
    """
    start = Start(command, folder_name)
    folder = start.folder
    ended = start.launch_apart(Request(folder, steps, probes="room"), out, **reach)
    if not has_records(folder):
        unmeasured = why_nothing(folder, command, ended, frameworks("memory"))
        return start.nothing(f"nothing was measured: {unmeasured}", ended)
    note_end(folder, ended)
    runs = [with_limit(run, limit) for run in pipeline.read_capture(folder, mapping=config.aliases)]
    diagnosis = pipeline.diagnose(runs, config)
    if diagnosis.first.memory is None:
        why = runs[0].setup.known("room_not_checked") or runs[0].setup.known("memory_not_checked")
        return start.nothing(
            f"the memory of a step could not be measured: {why or describe_progress(runs[0])}", ended
        )
    emit(render_diagnosis(diagnosis, out, full=full), out.path)
    note(f"The record: {folder}", out.quiet)
    return status(diagnosis, config)


def describe_progress(run: Run) -> str:
    return (
        f"the script ended after {run.points} steps"
        if run.complete is not False
        else "the script ended with an error"
    )


def with_limit(run: Run, limit: float | None) -> Run:
    """The run, with the memory that there is: asked for, of the accelerator, or of the machine."""
    there, whose = (limit, "device") if limit else memory_for(run.setup)
    if there is None:
        there = environment.host_memory()
    facts: dict[str, Fact] = {"measured_for": "memory", "memory_of": whose}
    if there is not None:
        facts["memory_available"] = there
    needed = [run.setup.number(f"memory_{kind}") for kind in ("weights", "optimizer", "step")]
    if None not in needed:
        facts["memory_needed"] = sum(n for n in needed if n is not None)
    return pipeline.with_facts(run, facts)
