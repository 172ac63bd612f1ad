"""The search for a fix, on a training that is gradient descent on a parabola."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from tests.lab.repair.descent import Descent
from traindx import fixes
from traindx.config import Config
from traindx.lab.conduct.journal import Journal
from traindx.lab.judge.significance import Judged
from traindx.lab.plan import Candidate
from traindx.lab.repair.bench import Bench, Start
from traindx.lab.repair.combinations import Applied
from traindx.lab.repair.document import Proof, conclude, outcome, title
from traindx.lab.repair.options import Options
from traindx.lab.repair.search import Search
from traindx.vocabulary.diagnosis import Hypothesis


def searched(
    folder: Path,
    script: Start,
    options: Options = Options(),
    budget: float = 1e6,
    jobs: int = 1,
    command: Sequence[str] = ("python", "train.py"),
) -> Proof:
    bench = Bench(command, script, Journal(folder, {"of": "test"}), budget=budget, jobs=jobs)
    search = Search(bench, Config(), options)
    search.diagnose()
    if not search.well:
        search.proceed()
    return conclude(search, 0.0)


def test_a_rate_that_is_far_too_high_is_lowered_and_proved(tmp_path: Path) -> None:
    report = searched(tmp_path, Descent(rate=0.3)).report
    assert report.verdict == "fixed"
    assert report.applied[0] == "lower-learning-rate"
    proof = next(one for one in report.trials if one.fix == "lower-learning-rate")
    assert proof.verdict == "confirmed"
    assert len(proof.seeds) == 3
    assert proof.p_value == pytest.approx(len(report.trials) / 8)
    assert report.before is not None
    assert report.after is not None
    assert report.after.mean < 0.1 < report.before.mean
    assert report.command.startswith("traindx run --with 'lr=*0.")


def test_a_run_that_is_well_costs_one_start(tmp_path: Path) -> None:
    script = Descent(rate=0.02)
    report = searched(tmp_path, script).report
    assert report.verdict == "nothing-to-fix"
    assert script.asked == [()]
    assert report.trials == ()
    assert report.command == ""


def test_pairs_share_their_seeds_and_the_first_run_is_that_of_its_own_seed(tmp_path: Path) -> None:
    script = Descent(rate=0.3, own_seed=4)
    searched(tmp_path, script)
    plain = [a for a in script.asked if all(s.startswith("seed=") for s in a)]
    assert plain[0] == ()
    assert ("seed=4",) not in plain, "the script's own seed was run already"
    changed = {a[-1] for a in script.asked if len(a) > 1}
    assert {a[0] for a in plain[1:]} <= changed


def test_every_start_that_ended_is_in_the_diary_when_the_power_fails(tmp_path: Path) -> None:
    torn = Descent(rate=0.3)
    torn.dies_at = 4
    with pytest.raises(SystemExit):
        searched(tmp_path, torn)
    diary = Journal(tmp_path, {"of": "test"})
    kept = [
        (*e["interventions"], *([] if e["seed"] is None else [f"seed={e['seed']}"])) for e in diary.entries
    ]
    counted = [tuple("lr.warmup=6" if s == "lr.warmup=0.02" else s for s in arm) for arm in kept]
    assert counted == torn.asked, "a start is given the steps of a share"
    assert len(kept) == 4


def test_a_budget_that_is_spent_ends_it_without_a_verdict(tmp_path: Path) -> None:
    script = Descent(rate=0.3)
    report = searched(tmp_path, script, budget=0.0).report
    assert report.verdict == "not-fixed"
    assert report.trials == ()
    assert any("--budget" in one.why for one in report.untried)
    assert "used up (--budget) before " in report.reason
    assert script.asked == [()]


def test_a_budget_that_ends_within_the_first_trial_is_the_reason(tmp_path: Path) -> None:
    bench = Bench(["python", "train.py"], Descent(rate=0.3), Journal(tmp_path, {}), budget=1e6, jobs=1)
    search = Search(bench, Config(), Options())
    search.diagnose()
    assert outcome(search, False, [], None)[1].endswith("can be tried without a person")
    bench.budget = 0.0
    assert outcome(search, False, [], None)[1].endswith(
        "used up (--budget) before the first change was tried"
    )


def test_the_users_metric_decides(tmp_path: Path) -> None:
    """By the gradient norm that is to be large, a lower rate is no gain."""
    report = searched(tmp_path, Descent(rate=0.3), Options(metric=("grad_norm", "higher"))).report
    assert report.verdict == "not-fixed"
    assert all(t.verdict != "confirmed" for t in report.trials)


def test_a_script_without_an_end_is_tried_as_far_as_it_came(tmp_path: Path) -> None:
    script = Descent(rate=0.3)
    script.endless = True
    report = searched(tmp_path, script).report
    assert report.verdict == "fixed", report.reason
    assert report.steps == int(0.8 * 299)
    assert any("--budget" in note for note in report.notes)


def test_a_fix_that_the_source_has_already_speaks_against_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("libcst", reason="the extra `fix` is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import torch\n\nmodel = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(9):\n    optimizer.zero_grad()\n"
        "    loss = model(torch.randn(8, 2)).pow(2).mean()\n    loss.backward()\n    optimizer.step()\n"
    )
    bench = Bench(
        ["python", "train.py"], Descent(rate=0.02), Journal(tmp_path, {"of": "test"}), budget=1e6, jobs=1
    )
    search = Search(bench, Config(), Options())
    search.diagnose()
    belief = {"missing-optimizer-step": 0.6, "healthy": 0.4}
    search.hypotheses = tuple(Hypothesis(cause=c, title=c, probability=p) for c, p in belief.items())
    assert search.plan(search.hypotheses) == ()
    assert search.hypotheses[0].cause == "healthy"
    assert [(t.fix, t.verdict) for t in search.trials] == [("step-the-optimizer", "refuted")]
    other = Candidate("clip-gradients", "exploding-gradients", ("clip=1.0",), 0.5)
    assert search.judged_together([other]) == 1, "it was never started, so no other proof pays for it"


def test_pairs_that_no_seed_governs_are_judged_as_runs_that_have_nothing_in_common(tmp_path: Path) -> None:
    for seeded in (True, False):
        script = Descent(rate=0.3)
        script.seeded = seeded
        folder = tmp_path / str(seeded)
        folder.mkdir()
        report = searched(folder, script).report
        assert any("same numbers twice" in note for note in report.notes) == (not seeded)
        assert report.verdict == "fixed"  # from chance to done: that is beyond doubt even so


def test_the_beginning_of_a_known_run_is_not_run_again(tmp_path: Path) -> None:
    script = Descent(rate=0.02)
    bench = Bench(["python", "train.py"], script, Journal(tmp_path, {"of": "test"}), budget=1e6, jobs=1)
    whole = bench.arms([(("lr=*0.5",), 4)])[0]
    bench.steps = 100
    part = bench.arms([(("lr=*0.5",), 4)])[0]
    assert len(script.asked) == 1
    assert whole.run is not None
    assert part.run is not None
    assert whole.last == 299
    assert part.last == 100
    assert list(part.run.series["train/loss"].values) == list(whole.run.series["train/loss"].values[:101])
    bench.arms([(("lr=*0.5",), 5)])
    assert len(script.asked) == 2, "another seed is another run"


def test_a_part_of_a_run_with_other_batches_sees_the_same_samples(tmp_path: Path) -> None:
    """A quarter of the batch gains by four times the steps; an equal number of steps would hide that."""
    script = Descent(rate=0.02)
    bench = Bench(["python", "train.py"], script, Journal(tmp_path, {"of": "test"}), budget=1e6, jobs=1)
    bench.steps = 40
    ways: tuple[tuple[str, ...], ...] = ((), ("batch=*0.25",), ("lr=*0.5",), ("batch=*4", "lr=*0.5"))
    arms = bench.arms([(way, 4) for way in ways])
    assert [arm.last for arm in arms] == [39, 159, 39, 9]


def test_what_a_part_of_the_run_leaves_open_is_tried_over_all_of_it(tmp_path: Path) -> None:
    bench = Bench(
        ["python", "train.py"], Descent(rate=0.3), Journal(tmp_path, {"of": "test"}), budget=1e6, jobs=1
    )
    search = Search(bench, Config(), Options())
    search.diagnose()
    search.prepare()
    assert not search.lengthened(), "all of it was tried already"
    bench.steps = 20
    assert not search.lengthened(), "nothing was left open"
    one = next(c for c in search.plan(search.hypotheses) if c.doses)
    search.record_trial(one, one.doses[0][0], [], Judged(0.0, None, None, "inconclusive", "too few to tell"))
    assert one.fix not in {c.fix for c in search.plan(search.hypotheses)}
    assert search.lengthened()
    assert bench.steps is None
    assert one.fix in {c.fix for c in search.plan(search.hypotheses)}
    assert not search.lengthened(), "once"


def test_a_probably_healthy_run_is_tried_where_one_cause_is_far_ahead(tmp_path: Path) -> None:
    def doubted(rate: float, healthy: float, **belief: float) -> Search:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        bench = Bench(
            ["python", "train.py"], Descent(rate=rate), Journal(folder, {"of": "test"}), budget=1e6, jobs=1
        )
        search = Search(bench, Config(), Options())
        search.diagnose()
        beliefs = {"healthy": healthy} | {cause.replace("_", "-"): share for cause, share in belief.items()}
        search.hypotheses = tuple(Hypothesis(cause=c, title=c, probability=p) for c, p in beliefs.items())
        search.diagnosis = msgspec.structs.replace(
            search.diagnosis, health="watch", hypotheses=search.hypotheses
        )
        return search

    assert doubted(0.3, 0.78, learning_rate_too_high=0.22).well
    assert doubted(0.3, 0.6, learning_rate_too_high=0.15, missing_warmup=0.15).well
    assert doubted(0.3, 0.6, too_little_data=0.4).well, "what would cure that is not known"
    search = doubted(0.3, 0.6, learning_rate_too_high=0.3, dropout_too_high=0.1)
    assert not search.well
    search.proceed()
    assert [a.fix for a in search.applied][:1] == ["lower-learning-rate"]
    search = doubted(0.02, 0.6, learning_rate_too_high=0.3, dropout_too_high=0.1)
    search.proceed()
    assert {t.fix for t in search.trials} == {"lower-learning-rate"}
    assert not search.applied
    assert conclude(search, 0.0).report.verdict == "nothing-to-fix"


@pytest.mark.parametrize(
    ("fix", "interventions", "more"),
    [
        ("zero-gradients-each-step", ("zero_grad=each-step", "lr=*10"), ", with lr=*10"),
        ("zero-gradients-each-step", ("zero_grad=each-step",), ""),
        ("lower-learning-rate", ("lr=*0.01",), ""),
        ("switch-optimizer", ("optimizer=adamw", "lr=0.003"), ""),
        ("use-matching-loss", ("source=use-matching-loss",), ""),
    ],
)
def test_the_first_line_names_a_rate_that_was_changed_along_with_something_else(
    fix: str, interventions: tuple[str, ...], more: str
) -> None:
    known = fixes.find(fix)
    assert known is not None
    assert title(Applied(fix, interventions)) == known.title + more
