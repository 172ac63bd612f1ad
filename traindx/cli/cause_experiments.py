"""What `traindx run --settle` does when the run is over: experiments, where no cause is likely enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from traindx import pipeline
from traindx.capture.launch.command import Ended
from traindx.cli.api import Path, note
from traindx.reports.labels import percent

if TYPE_CHECKING:
    from traindx.lab.repair.investigate import Experiment, Investigation
    from traindx.vocabulary import Hypothesis

    Show = Callable[[Sequence[Hypothesis], Sequence[Experiment], float], None]

FOLDER = Path("traindx-investigate")

SETTLED = 0.8  # probability from which the leading cause needs no experiment


class Settling(msgspec.Struct, frozen=True):
    """Experiments on `command` of up to `seconds`, each of so many `steps` (None: all)."""

    command: Sequence[str]
    steps: int | None
    seconds: float

    def after(
        self, diagnosis: pipeline.Diagnosis, ended: Ended, *, quiet: bool
    ) -> tuple[pipeline.Diagnosis, str]:
        """The diagnosis with what experiments made of it, and how the belief went; unchanged and "" where the
        leading answer is likely enough. The run that has ended is the result of the unchanged script."""
        place = max(range(len(diagnosis.runs)), key=lambda i: diagnosis.runs[i].points)
        found_first = diagnosis.document.runs[place]
        leading = found_first.hypotheses[0] if found_first.hypotheses else None
        if leading is None or leading.probability >= SETTLED:
            return diagnosis, ""
        from traindx.cli.fix_progress import JOBS, ProgressLines, Starts
        from traindx.lab.repair import investigate as looking
        from traindx.lab.repair.bench import LEAST_LIMIT, TIMES, Arm
        from traindx.lab.repair.folder import DONE, opened
        from traindx.lab.repair.options import Options

        ran = Arm((), None, diagnosis.runs[place], ended.shell_status == 0, ended.seconds)
        starts = Starts(self.steps, self.seconds, JOBS, None, {})
        with ProgressLines(quiet) as said:
            journal = opened(self.command, FOLDER, None, Options(self.steps), {}, said.say, jobs=JOBS)
            with starts.bench(tuple(self.command), journal, said) as bench:
                bench.steps, bench.limit = self.steps, max(LEAST_LIMIT, TIMES * ran.seconds)
                found = looking.settle_causes(bench, ran, found_first, show=plan_of(quiet), notify=said.say)
        runs = [found.diagnosis if i == place else one for i, one in enumerate(diagnosis.document.runs)]
        made = pipeline.Diagnosis(
            msgspec.structs.replace(diagnosis.document, runs=tuple(runs)), diagnosis.runs
        )
        (journal.path.parent / DONE).write_text(made.to_json(), encoding="utf-8")
        note(f"The experiments: {journal.path.parent}", quiet)
        return made, trail(found)


def plan_of(quiet: bool) -> Show:
    """Shows the plan with its price."""

    def show(belief: Sequence[Hypothesis], plan: Sequence[Experiment], seconds: float) -> None:
        note(f"{belief[0].title} ({percent(belief[0].probability)}). Most informative experiments:", quiet)
        for number, one in enumerate(plan, 1):
            note(f"  {number}. {one.what}: {' '.join(one.interventions)}  ({one.bits:.2f} bits)", quiet)
        if plan:
            note(f"  each takes two starts of about {seconds:.0f} s", quiet)

    return show


def trail(found: Investigation) -> str:
    """What was believed, and what changed it."""
    lines = ["How the probabilities changed"]
    for what, shares in found.diagnosis.belief:
        most = sorted(shares.items(), key=lambda item: -item[1])[:3]
        lines.append(f"  {what:<40} " + ", ".join(f"{cause} {percent(share)}" for cause, share in most))
    return "\n".join([*lines, f"  {found.why}"])
