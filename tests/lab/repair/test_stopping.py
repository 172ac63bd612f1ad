"""When to stop debugging: the chance of what is left against the price of its proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.repair.descent import Descent
from traindx.causes.experiments.belief import CHANCES
from traindx.config import Config
from traindx.lab.conduct.journal import Journal
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.options import Options
from traindx.lab.repair.search import Search
from traindx.lab.repair.stopping import format_duration, price, what_remains
from traindx.vocabulary.diagnosis import Hypothesis


def diagnosed(folder: Path, rate: float, **belief: float) -> Search:
    """A search whose script has run as it is, and whose belief is made up."""
    bench = Bench(
        ["python", "train.py"], Descent(rate=rate), Journal(folder, {"of": "test"}), budget=1e6, jobs=2
    )
    search = Search(bench, Config(), Options())
    search.diagnose()
    search.prepare()
    if belief:
        beliefs = {cause.replace("_", "-"): share for cause, share in belief.items()}
        search.hypotheses = tuple(Hypothesis(cause=c, title=c, probability=p) for c, p in beliefs.items())
    return search


def test_a_likely_cause_is_worth_its_proof(tmp_path: Path) -> None:
    search = diagnosed(tmp_path, 0.3, learning_rate_too_high=0.9, healthy=0.1)
    found = what_remains(search, None)
    assert found is not None
    assert not found.stop
    assert found.fix == "lower-learning-rate"
    first = search.plan(search.hypotheses)[0]
    assert found.chance == pytest.approx(first.chance * CHANCES["confirmed"][0], abs=1e-4)
    each, starts = price(search)
    assert (each, starts) == (search.first.seconds, 6)
    assert found.seconds == pytest.approx(each * 3, abs=0.1)


def test_what_failed_to_start_is_no_hope_but_what_lacked_time_is(tmp_path: Path) -> None:
    search = diagnosed(tmp_path, 0.3, learning_rate_too_high=0.9, healthy=0.1)
    first = search.plan(search.hypotheses)[0]
    search.leave(first, search.bench.budget_message())
    found = what_remains(search, None)
    assert found is not None
    assert found.fix == first.fix
    search.untried.clear()
    search.leave(first, "it cannot be applied")
    found = what_remains(search, None)
    assert found is not None
    assert found.fix != first.fix


def test_an_unlikely_one_is_not(tmp_path: Path) -> None:
    search = diagnosed(tmp_path, 0.3, learning_rate_too_high=0.08, missing_causal_mask=0.92)
    found = what_remains(search, None)
    assert found is not None
    assert found.stop
    assert "for each change that helps" in found.why


def test_what_only_a_person_can_do_is_named(tmp_path: Path) -> None:
    search = diagnosed(tmp_path, 0.3, missing_causal_mask=1.0)
    found = what_remains(search, None)
    assert found is not None
    assert found.stop
    assert found.fix == ""
    assert "needs a person (mask-the-future)" in found.why


def test_nothing_is_said_of_a_script_that_is_well(tmp_path: Path) -> None:
    assert what_remains(diagnosed(tmp_path, 0.02), None) is None


def test_durations_are_printed_with_their_unit() -> None:
    assert [format_duration(s) for s in (40, 89, 720, 10800)] == ["40 s", "89 s", "12 min", "3 h"]
