"""`traindx fix`: apply fixes to an unmodified script one at a time, and show whether they help."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.cli.api import (
    Config,
    Output,
    click,
    command_argument,
    config_options,
    emit,
    note,
    output_options,
    stdout_width,
)
from traindx.cli.fix_progress import ProgressLines, Starts, direction, proof_options
from traindx.cli.questions.changes import Asking
from traindx.lab.judge.significance import FIRST, MIN_EFFECT, MOST
from traindx.vocabulary.trial import FixReport

if TYPE_CHECKING:
    from traindx.lab.repair.options import Options
    from traindx.lab.repair.search import Search

FOLDER = Path("traindx-fix")
BUDGET = "15m"

EXAMPLES = """\b
Examples:
  traindx fix -- python train.py
  traindx fix --metric val/f1:max --budget 30m -- python train.py --epochs 3
  traindx fix --steps 500 --seeds 5 -- python -m project.train
  traindx fix -f json -o fix.json -- python train.py
  traindx fix --ask -- python train.py
  traindx fix --write -- python train.py
  traindx fix --undo

\b
The script runs unchanged first. Then each change is tried against the unchanged script, with the same
seeds and steps, in scratch copies of its folder. Only traindx-fix/ is written in your folder: it holds
the results. After Ctrl-C or a kill, the same command continues where it stopped.

\b
Exit status:
  0  fixed, or there is nothing to fix
  1  sick, and not fixed
  2  error: no such program, or nothing was recorded (one sentence says why)
"""


def undo_last(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Put the originals of the last written fix back. Raises ConfigError where they cannot be."""
    if not wanted:
        return
    from traindx.lab.edits.undo import undo

    for path in undo(Path.cwd()):
        note(f"traindx: {path} is as it was before the fix")
    context.exit(0)


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@command_argument()
@click.option(
    "--seeds",
    type=click.IntRange(FIRST, MOST),
    default=FIRST,
    show_default=True,
    help="Pairs of runs for a verdict.",
)
@click.option(
    "--min-effect", type=click.FloatRange(0.01, 0.9), default=MIN_EFFECT, show_default=True, metavar="SHARE",
    help="The smallest improvement that counts, as a share of the loss or of the remaining errors.",
)  # fmt: skip
@click.option(
    "--metric", metavar="NAME:max|min", help="Judge by this signal. Default: a validation metric, or loss."
)
@click.option(
    "--test",
    is_flag=True,
    help="Keep the test-set scores out of the search, and report them at the end.",
)
@click.option(
    "--slices", multiple=True, metavar="COLUMN",
    help="Compare groups of the held-out data: by a key of the batch, a column's number, or `target`. Repeatable.",
)  # fmt: skip
@click.option("--diff", is_flag=True, help="Print the source edit instead of the report.")
@click.option(
    "--write",
    is_flag=True,
    help="Also edit the source in place once the fix is proven; a backup is kept next to it.",
)
@click.option(
    "--undo", is_flag=True, is_eager=True, expose_value=False, callback=undo_last,
    help="Undo the last --write in this folder, and do nothing else.",
)  # fmt: skip
@click.option("--ask", is_flag=True, help="Ask for known facts, and before each change.")
@click.option("--no-knowledge", is_flag=True, help="Neither use nor add to the memory of earlier trials.")
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
    """Find a fix for an unmodified script, and prove that it helps.

    Causes are ranked, their fixes are tried one at a time, and those confirmed over several seeds are combined.
    The report says what helped, by how much, and what did not.
    """
    from traindx.lab.repair.document import complete_proof, conclude
    from traindx.lab.repair.folder import note_changed_inputs, opened, write_report
    from traindx.lab.repair.memory import Memory
    from traindx.lab.repair.patching import put_in_place, write_patch
    from traindx.lab.repair.search import Search

    begun = time.monotonic()
    options = judging_options(starts, **judging)
    memory = Memory(not no_knowledge)
    with ProgressLines(out.quiet) as lines, ExitStack() as stack:
        asking = Asking(lines) if ask else None
        journal = opened(command, FOLDER, starts.folder, options, starts.reach, lines.say, jobs=starts.jobs)
        bench = stack.enter_context(starts.bench(command, journal, lines))
        search = Search(
            bench, config, options, record=memory.record, weigh=memory.weigh, show=lines.plan, notify=lines.say,
            believed=lines.show_belief, agree=asking.agree if asking else None,
        )  # fmt: skip
        diagnose_and_search(search, asking)
        search.notes += [*memory.notes(), *note_changed_inputs(journal)]
        made = write_patch(search, conclude(search, begun, lines.at), journal.path.parent)
        proof = complete_proof(search, made.proof)
    write_report(proof, journal.path.parent, bench)
    if why := memory.add(proof):
        note(f"traindx: {why}")
    memory.close()
    if write and proof.report.verdict == "fixed":
        for line in put_in_place(made, Path.cwd()):
            note(f"traindx: {line}")
    return print_report(proof.report, out, diff)


def judging_options(
    starts: Starts, seeds: int, min_effect: float, metric: str | None, test: bool, slices: tuple[str, ...]
) -> Options:
    """What changes are judged by, as it was asked for. Raises ConfigError."""
    from traindx.lab.repair.options import Options

    return Options(
        starts.steps, seeds, min_effect, None if metric is None else direction(metric), test, slices
    )


def diagnose_and_search(search: Search, asking: Asking | None) -> None:
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
        search.notes.append(f"the last trial was not finished: {search.bench.budget_message()}")


def print_report(report: FixReport, out: Output, diff: bool) -> int:
    """Print the report, or the edit alone; the exit status."""
    from traindx.reports.documents import fix as page

    edit = Path(report.patch).read_text(encoding="utf-8") if diff and report.patch else ""
    emit(edit or page.render_report(report, out.format, width=stdout_width(), color=out.color), out.path)
    note(f"The report: {Path(report.folder) / 'report.md'}", out.quiet)
    return int(report.verdict == "not-fixed")
