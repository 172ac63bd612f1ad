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


def renew(options: Namespace) -> None:
    """All programs recorded anew, the weights fitted on them and on the gym's kept signs, the figures; or, quick, a
    few programs and how right the shipped weights are on them."""
    from benchmarks.gym.fitting import weigh

    if options.quick:
        run_all(jobs(QUICK, 1), options.folder, options.workers)
        score(options)
        return
    run_all([*jobs((), 1), *found_jobs()], options.folder, options.workers)
    for step in (weigh.of_programs, weigh.write, weigh.compare):
        step(options)


VERBS = {"run": run, "score": score, "signs": signs}
