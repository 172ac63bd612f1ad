"""`traindx investigate`: experiments on an unmodified script until one cause is settled."""

from __future__ import annotations

import click

from traindx.atomic_write import naming
from traindx.cli.cause_experiments import FOLDER, plan_of, trail
from traindx.cli.diagnosis_output import rendered, status
from traindx.cli.fix_progress import Starts, Told, proof_options
from traindx.cli.options import Output, config_options, full_option, output_options
from traindx.cli.streams import emit, note
from traindx.config import Config

BUDGET = "5m"

EXAMPLES = """\b
Examples:
  traindx investigate -- python train.py
  traindx investigate --budget 2m --steps 300 -- python train.py
  traindx investigate -f json -o found.json -- python -m project.train

\b
The script is run as it is; then, for the causes that are likely, with the one change that would cure each,
on two seeds, in scratch copies of its folder. What was believed after each is in the report.

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  could not work: no such program, or nothing was recorded (one sentence says why)
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND…")
@proof_options(BUDGET)
@output_options
@config_options
@full_option
def investigate(
    command: tuple[str, ...],
    config: Config,
    out: Output,
    starts: Starts,
    full: bool,
) -> int:
    """Run experiments on a script until its cause is settled.

    The most telling experiment comes first; it ends when one cause has 90 %, when nothing that could be tried
    would tell more, or with the budget.
    """
    from traindx import pipeline
    from traindx.lab.repair import investigate as looking
    from traindx.lab.repair.folder import DONE, opened
    from traindx.lab.repair.search import Options
    from traindx.version import VERSION
    from traindx.vocabulary.diagnosis import Document

    with Told(out.quiet) as told:
        options = Options(starts.steps)
        journal = opened(command, FOLDER, starts.folder, options, starts.reach, told.say, jobs=starts.jobs)
        with starts.bench(command, journal, told) as bench:
            found = looking.investigate(
                bench,
                config,
                steps=starts.steps,
                show=plan_of(out.quiet),
                tell=told.say,
                believed=told.believe,
            )
    document = Document(traindx_version=VERSION, runs=(found.diagnosis,))
    diagnosis = pipeline.Diagnosis(document, (found.run,))
    text = rendered(diagnosis, out, full=full)
    if out.format == "text":
        text = text.rstrip("\n") + "\n\n" + trail(found) + "\n"
    emit(text, out.path)
    with naming(journal.path.parent):
        (journal.path.parent / DONE).write_text(diagnosis.to_json(), encoding="utf-8")
    for line in bench.notes:
        note(f"traindx: {line}", out.quiet)
    return status(diagnosis, config)
