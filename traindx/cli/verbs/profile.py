"""`traindx profile`: a few steps of an unmodified script under torch.profiler, and where their time goes."""

from pathlib import Path
from typing import Any

from traindx import pipeline
from traindx.capture.framework import frameworks
from traindx.capture.launch.command import Ended, Request
from traindx.capture.launch.stages import describe_end, stages, why_no_trace, why_nothing
from traindx.cli.api import Config, Output, click, config_options, emit, full_option, note, output_options
from traindx.cli.diagnosis_output import render_diagnosis, status
from traindx.cli.script_start import Start, start_options

EXAMPLES = """\b
Examples:
  traindx profile -- python train.py --epochs 3
  traindx profile --skip 50 --steps 30 -- python -m project.train
  traindx profile -f html -o profile.html -- python train.py
  traindx diagnose traindx-runs/train-20260102-030405/rank-0.pt.trace.json.gz

\b
The script runs in a scratch copy of the folder: your files stay as they are, what it writes is thrown
away, and it can write nowhere else (--writable PATH allows a place).

\b
After the first --skip optimizer steps, torch.profiler traces the next --steps, and the script is
ended. The report shows the parts of a step (data, forward, backward, optimizer), the time without
computation, and the slowest operators. The last line names the folder of the trace; Perfetto and
chrome://tracing open it, too. `traindx diagnose` reads traces that torch.profiler wrote elsewhere.

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  error: no such program, or nothing was traced (one sentence says why)
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@start_options("trace")
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Optimizer steps before the trace starts: caches and compilers warm up in them.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Optimizer steps to trace.",
)
@output_options
@config_options
@full_option
def profile(
    command: tuple[str, ...],
    config: Config,
    out: Output,
    skip: int,
    steps: int,
    folder_name: str | None,
    full: bool,
    **reach: Any,
) -> int:
    """Trace a few steps of a script and show where its time goes.

    COMMAND is what you would type without traindx: python script.py, python -m module, torchrun.
    """
    start = Start(command, folder_name)
    ended = start.launch_apart(Request(start.folder, profile=(skip, steps)), out, **reach)
    traces = sorted(start.folder.glob("*.pt.trace.json.gz"))
    if not traces:
        return start.nothing(
            f"nothing was traced: {why_no_trace_left(start.folder, command, ended, skip)}", ended
        )
    if ended.shell_status:
        note(f"traindx: {describe_end(ended)}", out.quiet)
    runs = [run for trace in traces for run in pipeline.read_all(trace, mapping=config.aliases)]
    diagnosis = pipeline.diagnose(runs, config)
    emit(render_diagnosis(diagnosis, out, full=full), out.path)
    note("The trace: " + ", ".join(map(str, traces)), out.quiet)
    return status(diagnosis, config)


def why_no_trace_left(folder: Path, command: tuple[str, ...], ended: Ended, skip: int) -> str:
    """One sentence on why a command left no trace."""
    return why_no_trace(stages(folder), skip) or why_nothing(folder, command, ended, frameworks("trace"))
