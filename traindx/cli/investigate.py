"""`traindx investigate`: experiments on an unmodified script until one cause is settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traindx.cli.diagnose import rendered, status
from traindx.cli.options import Output, config_options, full_option, output_options
from traindx.cli.proofs import Starts, Told, proof_options
from traindx.cli.streams import emit, note
from traindx.config import Config
from traindx.reports.labels import percent
from traindx.whole import naming

if TYPE_CHECKING:
    from traindx.lab.repair.investigate import Experiment, Investigation
    from traindx.vocabulary.diagnosis import Hypothesis

    Show = Callable[[Sequence[Hypothesis], Sequence[Experiment], float], None]

FOLDER = Path("traindx-investigate")
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
    from traindx.own import VERSION
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


def plan_of(quiet: bool) -> Show:
    """Shows the plan with its price."""

    def show(belief: Sequence[Hypothesis], plan: Sequence[Experiment], seconds: float) -> None:
        note(f"{belief[0].title} ({percent(belief[0].probability)}). What would tell most:", quiet)
        for number, one in enumerate(plan, 1):
            note(f"  {number}. {one.what}: {' '.join(one.interventions)}  ({one.bits:.2f} bits)", quiet)
        if plan:
            note(f"  each two starts of about {seconds:.0f} s", quiet)

    return show


def trail(found: Investigation) -> str:
    """What was believed, and what changed it."""
    lines = ["How the belief went"]
    for what, shares in found.diagnosis.belief:
        most = sorted(shares.items(), key=lambda item: -item[1])[:3]
        lines.append(f"  {what:<40} " + ", ".join(f"{cause} {percent(share)}" for cause, share in most))
    return "\n".join([*lines, f"  {found.why}"])
