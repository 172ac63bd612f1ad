from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from tests import make
from tests.causes.names import FIXES
from traindx import pipeline
from traindx.causes import catalogue as causes
from traindx.fixes import EASE, catalogue, find, offers
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.fix import Fix
from traindx.vocabulary.setup import FACT_FIELDS, Setup

KNOWN = {cause.slug for cause in causes()}


def test_released_slugs_are_kept() -> None:
    assert set(FIXES) - {f.slug for f in catalogue()} == set()


@pytest.mark.parametrize("fix", catalogue(), ids=lambda f: f.slug)
def test_each_fix_is_whole(fix: Fix) -> None:
    assert fix.home.rsplit(".", 1)[-1] == fix.slug.replace("-", "_")
    assert set(fix.causes) <= KNOWN
    assert fix.causes
    assert len(set(fix.causes)) == len(fix.causes)
    assert "healthy" not in fix.causes
    assert fix.title[0].isupper()
    assert not fix.title.endswith(".")
    assert fix.expected
    assert fix.page.count("Verify: ") == 1
    assert set(fix.touches) <= FACT_FIELDS
    assert fix.applicability != "runtime" or fix.interventions, "a runtime fix says how it is tried"


@pytest.mark.parametrize("slug", sorted(KNOWN - {"healthy"}))
def test_every_cause_has_a_fix(slug: str) -> None:
    offered = offers(slug, Setup())
    assert offered, f"no fix cures {slug}: add traindx/fixes/<family>/<what_to_do>.py with it in `causes`"
    places = [find(o.fix).causes.index(slug) for o in offered]  # type: ignore[union-attr]
    assert places == sorted(places)


def test_healthy_needs_none() -> None:
    assert offers("healthy", Setup()) == ()
    assert offers("no-such-cause", Setup()) == ()
    assert find("no-such-fix") is None


@pytest.mark.parametrize(
    ("cause", "first"),
    [
        ("learning-rate-too-high", "lower-learning-rate"),
        ("learning-rate-too-low", "raise-learning-rate"),
        ("missing-warmup", "add-warmup"),
        ("learning-rate-schedule-fault", "repair-schedule"),
        ("exploding-recurrence", "clip-gradients"),
        ("corrupt-samples", "drop-bad-samples"),
        ("unshuffled-data", "shuffle-data"),
        ("memory-leak", "release-graph"),
        ("step-time-creep", "release-graph"),
        ("data-loader-bottleneck", "add-data-workers"),
        ("half-precision-range", "use-bfloat16"),
        ("too-little-data", "augment-data"),
        ("unstable-numerics", "stabilize-numerics"),
        ("double-softmax", "feed-logits-to-loss"),
        ("missing-zero-grad", "zero-gradients-each-step"),
        ("undertrained", "train-longer"),
    ],
)
def test_the_first_offer_is_the_cure(cause: str, first: str) -> None:
    assert offers(cause, Setup())[0].fix == first


@pytest.mark.parametrize(
    ("fix", "facts", "words"),
    [
        ("lower-learning-rate", {"lr": 0.1}, "lower the learning rate from 0.1 to 0.01 (x0.1)"),
        ("lower-learning-rate", {}, "lower the learning rate (x0.1)"),
        ("raise-learning-rate", {"lr": 1e-5}, "raise the learning rate from 1e-05 to 0.0001 (x10)"),
        ("lower-momentum", {"momentum": 0.999}, "lower the momentum from 0.999 to 0.9"),
        ("lower-momentum", {"momentum": 0.9}, "lower the momentum below 0.9"),
        ("clip-gradients", {"clip_norm": 5.0}, "lower the clip norm from 5 to 2.5"),
        ("clip-gradients", {"clip_norm": 0}, "clip the global gradient norm at 1.0"),
        ("train-longer", {"planned_steps": 1000}, "plan 2,000 instead of 1,000, and stretch the schedule"),
        ("scale-accumulated-loss", {"accumulation": 8}, "divide each loss by 8 before backward"),
        (
            "weight-loss-terms",
            {"findings": "posterior-collapses validation-missing"},
            "raise the weight of the divergence slowly from 0 to 1 over the first quarter of the steps, or leave it "
            "some free bits",
        ),
    ],
)
def test_wording_uses_the_numbers_of_the_run(fix: str, facts: dict[str, object], words: str) -> None:
    found = find(fix)
    assert found is not None
    assert found.propose(Setup().with_facts(facts, "given")) == words


def test_ease_orders_among_equals() -> None:
    offered = offers("insufficient-regularization", Setup())
    leading = [o for o in offered if find(o.fix).causes[0] == "insufficient-regularization"]  # type: ignore[union-attr]
    assert [EASE.index(o.applicability) for o in leading] == sorted(
        EASE.index(o.applicability) for o in leading
    )


anything = st.one_of(st.text(max_size=8), st.floats(), st.integers(-10, 10**12), st.booleans(), st.just(0))


@given(
    st.dictionaries(
        st.sampled_from([*sorted(FACT_FIELDS), "dropout", "shuffle", "findings"]), anything, max_size=8
    )
)
def test_hostile_facts_still_give_words(facts: dict[str, object]) -> None:
    setup = Setup().with_facts(facts, "given")  # type: ignore[arg-type]
    for fix in catalogue():
        assert isinstance(fix.propose(setup), str)


def test_nothing_is_lowered_below_zero() -> None:
    setup = Setup().with_facts({"momentum": 0.0, "dropout": 0.0, "weight_decay": 0.0}, "given")
    for slug in ("lower-momentum", "lower-dropout", "lower-weight-decay"):
        fix = find(slug)
        assert fix is not None
        assert slug not in {offer.fix for cause in fix.causes for offer in offers(cause, setup)}
        assert slug in {offer.fix for cause in fix.causes for offer in offers(cause, Setup())}


TORCH_ONLY = re.compile(
    r"requires_grad|\.item\(\)|no_grad|zero_grad\(\)$|DataLoader|optimizer\.step|\.eval\(\) before"
)


@pytest.mark.parametrize("framework", ["keras", "jax", "sklearn"])
def test_a_framework_is_advised_in_its_own_words(framework: str) -> None:
    words = {o.change for slug in KNOWN for o in offers(slug, Setup(), framework=framework)}
    assert not [change for change in words if TORCH_ONLY.search(change)]


@pytest.mark.parametrize(
    ("framework", "idiom"),
    [
        ("torch", "(requires_grad_(True))"),
        ("keras", "(layer.trainable = True, then compile again)"),
        ("jax", "(no stop_gradient, mask or optax.set_to_zero on them)"),
    ],
)
def test_the_idiom_follows_the_change(framework: str, idiom: str) -> None:
    change = offers("frozen-parameters", Setup(), framework=framework)[0].change
    assert change.endswith(f"learn, then build the optimizer {idiom}")


def test_no_idiom_where_nothing_is_to_be_changed() -> None:
    shuffled = Setup().with_facts({"shuffle": True}, "given")
    assert "shuffle-data" not in {o.fix for o in offers("unshuffled-data", shuffled, framework="keras")}


def test_trees_get_no_advice_about_nets() -> None:
    words = " ".join(o.change for slug in KNOWN for o in offers(slug, Setup(), boosted=True)).lower()
    assert words
    assert not [w for w in ("adam", "dropout", "momentum", "warm", "layer", "gradient") if w in words]


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ([0.02] * 20 + [5.0] * 20, "from 5 to 0.5"),  # raised on the way
        ([0.02 * 0.9**i for i in range(40)], "from 0.02 to 0.002"),  # a schedule that only falls
    ],
)
def test_the_rate_to_lower_is_the_highest_that_was_used(rates: list[float], words: str) -> None:
    run = make.run({"train/loss": [1.0] * 40, "lr": rates}, setup=Setup(lr=0.02))
    cause = Hypothesis(cause="learning-rate-too-high", title="", probability=0.9)
    (named,) = pipeline.with_fixes([cause], run)
    assert next(offer.change for offer in named.fixes if offer.fix == "lower-learning-rate").endswith(
        f"{words} (x0.1)"
    )
