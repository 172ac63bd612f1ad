"""A gain that a group pays for is seen, and only that."""

from __future__ import annotations

from traindx.lab.repair.bench import Arm
from traindx.lab.repair.pairs import Pair
from traindx.lab.repair.slices import compare_groups, notes
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Fact, Setup


def arm(seed: int, **groups: float) -> Arm:
    facts: dict[str, Fact] = {f"slice/region/{name}": value for name, value in groups.items()}
    facts |= {f"slice_samples/region/{name}": 50 for name in groups} | {"slice_measure": "accuracy"}
    run = Run(id="r", source="", format="traindx", framework="torch", series={}, setup=Setup(facts=facts))
    return Arm((), seed, run, True, 1.0)


def pairs(*levels: tuple[dict[str, float], dict[str, float]]) -> list[Pair]:
    return [
        Pair(arm(seed, **before), arm(seed, **after), (0.0, 0.0), 1.0)
        for seed, (before, after) in enumerate(levels)
    ]


def test_the_group_that_pays_is_named() -> None:
    found = compare_groups(
        pairs(
            ({"north": 0.60, "south": 0.90}, {"north": 0.95, "south": 0.70}),
            ({"north": 0.62, "south": 0.91}, {"north": 0.94, "south": 0.72}),
            ({"north": 0.58, "south": 0.89}, {"north": 0.96, "south": 0.69}),
        )
    )
    assert {s.group: s.verdict for s in found} == {"north": "confirmed", "south": "harmful"}
    south = found[1]
    assert (south.samples, south.measure) == (50, "accuracy")
    assert south.before is not None
    assert abs(south.before.mean - 0.9) < 1e-9
    assert notes(found, ("region",)) == ["worse with the fix: region south (--slices)"]


def test_groups_that_differ_by_chance_are_no_matter() -> None:
    found = compare_groups(
        pairs(
            ({"north": 0.80, "south": 0.80}, {"north": 0.95, "south": 0.78}),
            ({"north": 0.82, "south": 0.78}, {"north": 0.94, "south": 0.80}),
            ({"north": 0.78, "south": 0.79}, {"north": 0.96, "south": 0.79}),
        )
    )
    assert [s.verdict for s in found if s.group == "south"] != ["harmful"]
    assert notes(found, ("region",)) == []


def test_a_column_that_was_not_seen_is_reported() -> None:
    (line,) = notes((), ("age",))
    assert "age" in line
    assert "held-out" in line
