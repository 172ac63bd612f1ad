"""`traindx run`: an unmodified training script under capture, then its diagnosis."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from traindx import pipeline
from traindx.capture.interventions import parse
from traindx.capture.launch.command import Ended, Request
from traindx.capture.launch.signals import end_by_signal
from traindx.capture.launch.stages import (
    PRINTED,
    describe_end,
    experiment_stopped,
    has_records,
    last_output,
    note_end,
    read_stop_reason,
    why_nothing,
)
from traindx.capture.session import STOPPED
from traindx.cli.api import (
    Config,
    ConfigError,
    Output,
    click,
    config_options,
    emit,
    full_option,
    note,
    output_options,
)
from traindx.cli.cause_experiments import Settling
from traindx.cli.diagnosis_output import draw, render_diagnosis, status
from traindx.cli.live_judge import Judging, live_options
from traindx.cli.script_start import Start, start_options
from traindx.live.status import printed_progress
from traindx.vocabulary import Run

EXAMPLES = """\b
Examples:
  traindx run train.py --epochs 3
  traindx run -- python -m project.train
  traindx run --steps 200 -- python -m project.train                    in a scratch copy
  traindx run --with "lr=*0.1" --with clip=1.0 -- python train.py       in a scratch copy
  traindx run --with "lr=*0.1" --in-place -- python train.py            here: its files replace older ones
  traindx run --settle 60 -- python train.py
  traindx run --out runs/exp1 -- torchrun --nproc_per_node 2 train.py
  traindx run -f html -o report.html -- python train.py
  traindx run --stop-on high --events events.jsonl -- python train.py

\b
The script runs as it would without traindx: same output, same signals, bit-identical results.
Its output goes to stdout before the report; for JSON, Markdown or HTML on stdout it goes to
stderr instead, so that stdout holds the document alone.

\b
With --steps or --with the script is cut short or changed, so it runs in a scratch copy of the folder:
a checkpoint that it saves never replaces yours. What it writes there is thrown away, and it can write
nowhere else (--writable PATH allows a place). With --in-place it runs in your folder and keeps its files.

\b
At a terminal, a problem is reported on stderr while the script trains: once, when it has lasted
(docs/watch.md). A separate process at a low priority judges the record. --stop-on ends the
script as --steps does, so `finally:` blocks and exit handlers run. It works for trainings of one process only.

\b
Exit status (of the script itself with --propagate-exit):
  0  nothing at or above the severity asked for
  1  findings
  2  error: no such program, nothing was recorded and the output is no training log,
     or an intervention could not be applied (one sentence says why)
  3  --stop-on ended the script (its own exit status is 3, too)
"""


def share(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    """A share of something: 1%, or 0.01."""
    if text is None:
        return None
    try:
        found = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 < found < 1:
        raise click.BadParameter(f"{text!r} is not between 0 and 1: write 1% or 0.01")
    return found


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@start_options()
@click.option(
    "--steps", type=click.IntRange(min=1), metavar="N", help="End the script after N optimizer steps."
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    metavar="K",
    help="Measure modules on every K-th step. Default: as often as --overhead allows.",
)
@click.option(
    "--with",
    "interventions",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change the training from outside: lr=*0.1, clip=1.0, optimizer=adamw ... (docs/interventions.md lists all). "
    "May be repeated.",
)
@click.option("--curvature", is_flag=True, help="Also measure the curvature of the loss on sampled batches.")
@click.option(
    "--no-updates",
    is_flag=True,
    help="Do not copy weights: cheaper, but without update ratios and gradient directions.",
)
@click.option(
    "--overhead",
    callback=share,
    metavar="SHARE",
    help="The most time that recording may take, such as 1% of the run (default: 4%).",
)
@click.option(
    "--in-place",
    is_flag=True,
    help="With --steps or --with: run in this folder, where the script's files replace older ones.",
)
@click.option("--propagate-exit", is_flag=True, help="End with the script's exit status.")
@click.option(
    "--settle",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="If no cause reaches 80 %, spend up to this long on the most informative experiments after the run.",
)
@click.option("--figures", metavar="DIR", help="Also draw the run's figures as PNG files into DIR.")
@live_options
@output_options
@config_options
@full_option
def run(
    command: tuple[str, ...],
    config: Config,
    out: Output,
    steps: int | None,
    every: int | None,
    interventions: tuple[str, ...],
    curvature: bool,
    no_updates: bool,
    overhead: float | None,
    in_place: bool,
    propagate_exit: bool,
    settle: float | None,
    figures: str | None,
    folder_name: str | None,
    full: bool,
    judging: Judging,
    **reach: Any,
) -> int:
    """Run an unmodified script, record it, then diagnose it.

    COMMAND is what you would type without traindx: python script.py, python -m module, torchrun.
    """
    given = tuple(found.spec for found in parse(interventions))
    if settle is not None and given:
        raise ConfigError("--settle changes the script itself: leave out --with")
    start = Start(command, folder_name)
    request = Request(
        start.folder, steps, every, curvature, given, updates=not no_updates, overhead=overhead
    )
    why = "--steps ends it early" if steps is not None else "--with changes its training" if given else ""
    if why and not in_place:
        judging.refuse(why)
        ended = start.launch_apart(
            request, out, f", because {why}; use --in-place to run it in this folder", **reach
        )
    else:
        ended = run_judged(start, request, out, config, judging)
    experiments = None if settle is None else Settling(command, steps, settle)
    code = report_diagnosis(start, ended, config, out, figures, experiments, full=full)
    if read_stop_reason(start.folder):
        return STOPPED
    return end_by_signal(*ended[:2]) if propagate_exit else code


def run_judged(start: Start, request: Request, out: Output, config: Config, judging: Judging) -> Ended:
    """Run the script in the user's folder, judged while it trains where that is wanted."""
    request = request._replace(stop_on=judging.stop_on)
    with judging:
        ended = start.launch(request, out, partial(judging.begin, request, config, out.quiet))
        note_end(start.folder, ended)
    return ended


def report_diagnosis(
    start: Start,
    ended: Ended,
    config: Config,
    out: Output,
    figures: str | None,
    experiments: Settling | None = None,
    *,
    full: bool = False,
) -> int:
    """Read what was recorded and report; the exit status."""
    folder = start.folder
    why = experiment_stopped(folder)
    if why:
        return start.nothing(f"the experiment was stopped: {why}", ended)
    unrecorded = "" if has_records(folder) else why_nothing(folder, start.command, ended)
    found = runs_in_output(folder, config, ended) if unrecorded else ()
    if unrecorded and not found:
        return start.nothing(f"nothing was recorded: {unrecorded}", ended)
    if unrecorded:
        note(
            f"traindx: nothing was recorded: {unrecorded}. What the script printed is diagnosed instead.",
            out.quiet,
        )
    note_end(folder, ended)
    report_end(folder, ended, out.quiet)
    found = found or pipeline.read_capture(folder, mapping=config.aliases)
    diagnosis = pipeline.diagnose(found, config)
    way = ""
    if experiments is not None:
        diagnosis, way = experiments.after(diagnosis, ended, quiet=out.quiet)
    text = render_diagnosis(diagnosis, out, full=full)
    emit(f"{text.rstrip()}\n\n{way}\n" if way and out.format == "text" else text, out.path)
    if figures is not None:
        draw(diagnosis, figures, quiet=out.quiet)
    note(f"{'The output' if unrecorded else 'The record'}: {folder}", out.quiet)
    # A script that failed before it trained is not well, though no rule has a finding.
    return 1 if unrecorded and ended.shell_status else status(diagnosis, config)


def report_end(folder: Path, ended: Ended, quiet: bool) -> None:
    """Say how the script ended, unless that was as it should."""
    stopped = read_stop_reason(folder)
    if stopped:
        place = printed_progress(b"\n".join(last_output(folder, name) for name in PRINTED))
        made = f"{stopped.get('steps')} steps" + (f" ({place})" if place else "")
        note(f"traindx: --stop-on ended the script after {made}: {stopped.get('why')}", quiet)
    elif ended.shell_status:
        note(f"traindx: {describe_end(ended)}", quiet)


def runs_in_output(folder: Path, config: Config, ended: Ended) -> tuple[Run, ...]:
    """The runs in what the script printed; none where that is no log of a training, or no more than the traceback of
    a script that was interrupted."""
    runs = pipeline.read_printed(folder, mapping=config.aliases)
    runs = tuple(run for run in runs if run.points or not (ended.signal or ended.asked))
    return tuple(msgspec.structs.replace(run, id=folder.name, source=str(folder)) for run in runs)
