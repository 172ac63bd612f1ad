"""`traindx fix`: apply fixes to an unmodified script one at a time, and show whether they help."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli.asking import Asking
from traindx.cli.options import Output, config_options, output_options
from traindx.cli.proofs import Starts, Told, direction, proof_options
from traindx.cli.streams import emit, note, stdout_width
from traindx.config import Config
from traindx.lab.judge.significance import FIRST, MIN_EFFECT, MOST
from traindx.vocabulary.trial import FixReport

if TYPE_CHECKING:
    from traindx.lab.repair.search import Options, Search

FOLDER = Path("traindx-fix")
BUDGET = "15m"

EXAMPLES = """\b
Examples:
  traindx fix -- python train.py
  traindx fix --metric val/f1:max --budget 30m -- python train.py --epochs 3
  traindx fix --steps 500 --seeds 5 -- python -m project.train
  traindx fix -f json -o fix.json -- python train.py
  traindx fix --ask -- python train.py

\b
The script is run as it is, then with one change at a time from outside and without it, with the same
seeds and as many steps, in scratch copies of its folder: nothing in your folder is changed but for
traindx-fix/, where all that was found is written. Stopped in the middle (Ctrl-C, a kill), the same
command goes on where it was.

\b
Exit status:
  0  fixed, or there is nothing to fix
  1  sick, and not fixed
  2  could not work: no such program, or nothing was recorded (one sentence says why)
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND…")
@click.option(
    "--seeds",
    type=click.IntRange(FIRST, MOST),
    default=FIRST,
    show_default=True,
    help="Pairs for a verdict.",
)
@click.option(
    "--min-effect", type=click.FloatRange(0.01, 0.9), default=MIN_EFFECT, show_default=True, metavar="SHARE",
    help="The least improvement that counts, of the loss or of the errors that are left.",
)  # fmt: skip
@click.option(
    "--metric", metavar="NAME:max|min", help="Judge by this signal. Default: a validation metric, or loss."
)
@click.option(
    "--test",
    is_flag=True,
    help="Keep what the script says of a test set out of the choice, and tell it at last.",
)
@click.option(
    "--slices", multiple=True, metavar="COLUMN",
    help="Compare groups of the held-out data: by a key of the batch, a column's number, or `target`. Repeatable.",
)  # fmt: skip
@click.option("--diff", is_flag=True, help="Print the edit of the source instead of the report.")
@click.option(
    "--write",
    is_flag=True,
    help="Also edit the source in place once it is proven; a backup stays beside it.",
)
@click.option("--ask", is_flag=True, help="Ask what is known, and before each change whether to try it.")
@click.option(
    "--no-knowledge", is_flag=True, help="Neither use nor add to what is remembered of earlier trials."
)
@proof_options(BUDGET)
@output_options
@config_options
def fix(
    command: tuple[str, ...],
    config: Config,
    out: Output,
    no_knowledge: bool,
    ask: bool,
    diff: bool,
    write: bool,
    starts: Starts,
    **judging: Any,
) -> int:
    """Find what helps an unmodified script, and prove it.

    Causes are ranked, their fixes tried one at a time from outside, and those that are confirmed over several
    seeds are combined. The report says what helped, by how much, and what did not.
    """
    from traindx.lab.repair.document import completed, conclude
    from traindx.lab.repair.folder import changed_meanwhile, opened, written
    from traindx.lab.repair.memory import Memory
    from traindx.lab.repair.patching import patched, put_in_place
    from traindx.lab.repair.search import Search

    begun = time.monotonic()
    options = judged_by(starts, **judging)
    memory = Memory(not no_knowledge)
    with Told(out.quiet) as told, ExitStack() as stack:
        asking = Asking(told) if ask else None
        journal = opened(command, FOLDER, starts.folder, options, starts.reach, told.say, jobs=starts.jobs)
        bench = stack.enter_context(starts.bench(command, journal, told))
        search = Search(
            bench, config, options, record=memory.record, weigh=memory.weigh, show=told.plan, tell=told.say,
            believed=told.believe, agree=asking.agree if asking else None,
        )  # fmt: skip
        run_through(search, asking)
        search.notes += [*memory.notes(), *changed_meanwhile(journal)]
        made = patched(search, conclude(search, begun, told.at), journal.path.parent)
        proof = completed(search, made.proof)
    written(proof, journal.path.parent, bench)
    if why := memory.add(proof):
        note(f"traindx: {why}")
    memory.close()
    if write and proof.report.verdict == "fixed":
        for line in put_in_place(made, Path.cwd()):
            note(f"traindx: {line}")
    return told_of(proof.report, out, diff)


def judged_by(
    starts: Starts, seeds: int, min_effect: float, metric: str | None, test: bool, slices: tuple[str, ...]
) -> Options:
    """What changes are judged by, as it was asked for. Raises ConfigError."""
    from traindx.lab.repair.search import Options

    return Options(
        starts.steps, seeds, min_effect, None if metric is None else direction(metric), test, slices
    )


def run_through(search: Search, asking: Asking | None) -> None:
    """Diagnose the script, and search its fixes where something is wrong with it."""
    from traindx.lab.repair.deadline import OutOfTime, at_most

    search.diagnose()
    try:
        with at_most(search.bench.left()):
            if asking and not search.well:
                asking.begin(search)
            if not search.well:
                search.proceed()
    except OutOfTime:
        search.notes.append(f"what was tried last was not finished: {search.bench.used_up()}")


def told_of(report: FixReport, out: Output, diff: bool) -> int:
    """Print the report, or the edit alone; the exit status."""
    from traindx.reports import fix as page

    edit = Path(report.patch).read_text(encoding="utf-8") if diff and report.patch else ""
    emit(edit or page.rendered(report, out.format, width=stdout_width(), color=out.color), out.path)
    note(f"The report: {Path(report.folder) / 'report.md'}", out.quiet)
    return int(report.verdict == "not-fixed")
