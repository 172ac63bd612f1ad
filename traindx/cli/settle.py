"""What `traindx run --settle` does when the run is over: experiments, where no cause is likely enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from traindx import pipeline
from traindx.capture.launch.command import Ended
from traindx.cli.streams import note

OPEN = 0.8  # the leading answer is taken for settled from this probability on


class Settling(NamedTuple):
    """Experiments on `command` of up to `seconds`, each of so many `steps` (None: all)."""

    command: Sequence[str]
    steps: int | None
    seconds: float

    def after(
        self, diagnosis: pipeline.Diagnosis, ended: Ended, *, quiet: bool
    ) -> tuple[pipeline.Diagnosis, str]:
        """The diagnosis with what experiments made of it, and how the belief went; unchanged and "" where the
        leading answer is likely enough. The run that has ended stands for the script as it is."""
        place = max(range(len(diagnosis.runs)), key=lambda i: diagnosis.runs[i].points)
        told = diagnosis.document.runs[place]
        leading = told.hypotheses[0] if told.hypotheses else None
        if leading is None or leading.probability >= OPEN:
            return diagnosis, ""
        from traindx.cli import investigate as verb
        from traindx.cli.proofs import JOBS, Starts, Told
        from traindx.lab.repair import investigate as looking
        from traindx.lab.repair.bench import LEAST_LIMIT, TIMES, Arm
        from traindx.lab.repair.folder import DONE, opened
        from traindx.lab.repair.search import Options

        ran = Arm((), None, diagnosis.runs[place], ended.shell_status == 0, ended.seconds)
        starts = Starts(self.steps, self.seconds, JOBS, None, {})
        with Told(quiet) as said:
            journal = opened(self.command, verb.FOLDER, None, Options(self.steps), {}, said.say, jobs=JOBS)
            with starts.bench(tuple(self.command), journal, said) as bench:
                bench.steps, bench.limit = self.steps, max(LEAST_LIMIT, TIMES * ran.seconds)
                found = looking.settled(bench, ran, told, show=verb.plan_of(quiet), tell=said.say)
        runs = [found.diagnosis if i == place else one for i, one in enumerate(diagnosis.document.runs)]
        made = pipeline.Diagnosis(
            msgspec.structs.replace(diagnosis.document, runs=tuple(runs)), diagnosis.runs
        )
        (journal.path.parent / DONE).write_text(made.to_json(), encoding="utf-8")
        note(f"The experiments: {journal.path.parent}", quiet)
        return made, verb.trail(found)
