"""`traindx investigate`: experiments on an unmodified script until one cause is clear."""

from traindx.atomic_write import name_folder_in_errors
from traindx.cli.api import (
    Config,
    Output,
    click,
    command_argument,
    config_options,
    emit,
    full_option,
    note,
    output_options,
)
from traindx.cli.cause_experiments import FOLDER, plan_of, trail
from traindx.cli.diagnosis_output import render_diagnosis, status
from traindx.cli.fix_progress import ProgressLines, Starts, proof_options

BUDGET = "5m"

EXAMPLES = """\b
Examples:
  traindx investigate -- python train.py
  traindx investigate --budget 2m --steps 300 -- python train.py
  traindx investigate -f json -o found.json -- python -m project.train

\b
The script runs unchanged first. Then it runs once for each likely cause with the change that would fix
it, on two seeds, in scratch copies of its folder. The report shows the probabilities after each run.

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  error: no such program, or nothing was recorded (one sentence says why)
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@command_argument()
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
    """Run experiments on a script until the cause is clear.

    The most informative experiment comes first. The search ends when one cause reaches 90 %, when no further
    experiment would help, or when the budget is used up.
    """
    from traindx import pipeline
    from traindx.lab.repair import investigate as looking
    from traindx.lab.repair.folder import DONE, opened
    from traindx.lab.repair.options import Options
    from traindx.version import VERSION
    from traindx.vocabulary import Document

    with ProgressLines(out.quiet) as lines:
        options = Options(starts.steps)
        journal = opened(command, FOLDER, starts.folder, options, starts.reach, lines.say, jobs=starts.jobs)
        with starts.bench(command, journal, lines) as bench:
            found = looking.investigate(
                bench,
                config,
                steps=starts.steps,
                show=plan_of(out.quiet),
                notify=lines.say,
                believed=lines.show_belief,
            )
    document = Document(traindx_version=VERSION, runs=(found.diagnosis,))
    diagnosis = pipeline.Diagnosis(document, (found.run,))
    text = render_diagnosis(diagnosis, out, full=full)
    if out.format == "text":
        text = text.rstrip("\n") + "\n\n" + trail(found) + "\n"
    emit(text, out.path)
    with name_folder_in_errors(journal.path.parent):
        (journal.path.parent / DONE).write_text(diagnosis.to_json(), encoding="utf-8")
    for line in bench.notes:
        note(f"traindx: {line}", out.quiet)
    return status(diagnosis, config)
