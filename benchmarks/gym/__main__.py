"""`python -m benchmarks.gym run|score|signs|fit|compare|programs|renew|harm|baselines|peers`; see `--help` of each."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

OTHERS = {
    "baselines": "published rules on the recorded runs of the folders",
    "peers": "runmedic and trainproof (pip install) on the logs of the folders",
}

PLACES = {"baselines": "benchmarks.gym.fitting.baselines", "peers": "benchmarks.gym.scoring.peers"}

QUICK_RUNS, QUICK_SEED = 200, 99  # a plan that no fit has seen


def make(folder: Path, runs: int, seed: int, workers: int) -> None:
    """Run what a folder lacks of a plan."""
    from benchmarks.gym.plan import jobs
    from benchmarks.gym.runner import run_all

    run_all(jobs(runs, seed), folder, workers)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gym", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    add_settings(verbs)
    add_programs(verbs)
    for verb, what in OTHERS.items():
        verbs.add_parser(verb, help=what).add_argument("folders", type=Path, nargs="+")
    harm = verbs.add_parser(
        "harm", help="P(harm) of the recorded runs of the folders, fitted and calibrated"
    )
    harm.add_argument("folders", type=Path, nargs="+")
    harm.add_argument("--figure", type=Path, help="also draw the reliability diagram")
    return parser.parse_args()


def add_settings(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The verbs that train small scripts with planted faults, and fit the weights."""
    run = verbs.add_parser("run", help="make scripts, run them, journal what came out (resumable)")
    run.add_argument("folder", type=Path)
    run.add_argument("--runs", type=int, default=100)
    run.add_argument("--seed", type=int, default=0, help="of the plan")
    run.add_argument("--workers", type=int, default=1, help="processes at a time")
    quick = verbs.add_parser("quick", help="about ten minutes: 200 runs, and their scores")
    quick.add_argument("folder", type=Path)
    score = verbs.add_parser("score", help="diagnose the logs of a folder and score the diagnoses")
    score.add_argument("folder", type=Path)
    score.add_argument("--table", type=Path, help="write the tables to a Markdown file")
    score.add_argument(
        "--detection", action="store_true", help="also find how early: diagnoses of beginnings"
    )
    signs = verbs.add_parser(
        "signs", help="what the ranking sees of all labelled runs of the folders, into one file"
    )
    signs.add_argument("folders", type=Path, nargs="+")
    signs.add_argument(
        "--logs-of", type=Path, nargs="*", help="folders of an older capture: only their logs"
    )
    signs.add_argument("--workers", type=int, default=2)
    verbs.add_parser("fit", help="fit the weights on the signs, and write them where the package reads them")
    compare = verbs.add_parser("compare", help="rankings on held-out settings, side by side")
    compare.add_argument("--figure", type=Path, help="also draw the reliability diagram")


def add_programs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The verbs that train whole programs."""
    programs = verbs.add_parser("programs", help="whole programs by many hands, and their faults as edits")
    programs.add_argument("action", choices=("run", "score", "signs"))
    programs.add_argument("folder", type=Path)
    programs.add_argument("--bases", nargs="*", default=(), help="only these")
    programs.add_argument("--seeds", type=int, default=2)
    programs.add_argument("--workers", type=int, default=1, help="processes at a time")
    programs.add_argument(
        "--edits", type=int, help="so many edits, cause after cause (0: none). Default: all"
    )
    programs.add_argument("--found", action="store_true", help="the programs after published faults")
    programs.add_argument(
        "--quick", action="store_true", help="a few fast programs with their edits, one seed"
    )
    renew = verbs.add_parser("renew", help="programs, weights and figures anew, in one go (resumable)")
    renew.add_argument("folder", type=Path)
    renew.add_argument(
        "--quick", action="store_true", help="a few fast programs, scored with the shipped weights"
    )
    renew.add_argument("--workers", type=int, default=2, help="processes at a time")
    renew.add_argument("--figure", type=Path, help="also draw the reliability diagram")


def main() -> None:
    options = parse_arguments()
    if options.verb == "run":
        make(options.folder, options.runs, options.seed, options.workers)
    elif options.verb == "quick":
        from benchmarks.gym.scoring.score import score_folder

        make(options.folder, QUICK_RUNS, QUICK_SEED, 2)
        score_folder(options.folder, options.folder / "score.md")
    elif options.verb in ("signs", "fit", "compare"):
        from benchmarks.gym.fitting import weigh

        weigh.VERBS[options.verb](options)
    elif options.verb == "harm":
        from benchmarks.gym.fitting import harm

        print(harm.report(list(harm.cases(options.folders)), options.figure))
    elif options.verb == "programs":
        from benchmarks.gym.programs import verbs

        verbs.VERBS[options.action](options)
    elif options.verb == "renew":
        from benchmarks.gym.programs import verbs

        verbs.renew(options)
    elif options.verb in OTHERS:
        print(import_module(PLACES[options.verb]).compare(options.folders))
    else:
        from benchmarks.gym.scoring.score import score_folder

        score_folder(options.folder, options.table, detection=options.detection)


if __name__ == "__main__":
    main()
