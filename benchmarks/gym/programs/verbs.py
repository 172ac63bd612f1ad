"""The verbs of `python -m benchmarks.gym programs`."""

from __future__ import annotations

from argparse import Namespace

from benchmarks.gym.programs.runner import QUICK, found_jobs, jobs, run_all


def run(options: Namespace) -> None:
    bases, seeds = (QUICK, 1) if options.quick else (options.bases, options.seeds)
    todo = found_jobs() if options.found else jobs(bases, seeds, options.edits)
    run_all(todo, options.folder, options.workers)


def score(options: Namespace) -> None:
    from benchmarks.gym.programs.score import report

    print(report(options.folder))


def signs(options: Namespace) -> None:
    from benchmarks.gym.fitting import weigh

    weigh.of_programs(options)


VERBS = {"run": run, "score": score, "signs": signs}
