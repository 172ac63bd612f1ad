"""The document of a proof: what the search found, with the ablation and the check at full length."""

import time
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import msgspec

from traindx import fixes, pipeline
from traindx.lab.judge import objectives
from traindx.lab.judge.significance import FIRST, holm, judge, least_gain, percent
from traindx.lab.plan import MARK, merge_interventions
from traindx.lab.repair.bench import Arm, Bench
from traindx.lab.repair.combinations import AND, Applied
from traindx.lab.repair.conditions import is_fine
from traindx.lab.repair.deliverables import checkpoint, test_metrics
from traindx.lab.repair.documented_faults import DOCUMENTED
from traindx.lab.repair.improvements import further_advice
from traindx.lab.repair.pairs import Pair, known_gains, level_signal, pair_arms, same_start
from traindx.lab.repair.search import UNWANTED, Search
from traindx.lab.repair.slices import compare_groups, notes
from traindx.lab.repair.source import outside_interventions
from traindx.lab.repair.stopping import what_remains
from traindx.redaction import redact
from traindx.reports.labels import metric, number
from traindx.version import VERSION
from traindx.vocabulary import Recommendation, Run, RunDiagnosis
from traindx.vocabulary.trial import Ablation, FixReport, Objective, Outcome, Tested, Trial, Untried

APART = 0.1  # of the gain, by which the shares of an ablation may miss 100 % without a word on it
NOTHING = 0.5  # belief in `healthy` from which there is nothing to fix, after all trials


class Proof(NamedTuple):
    """The report, and the runs behind it for the pictures, seed by seed: before, and with the fix."""

    report: FixReport
    before: tuple[Run, ...]
    after: tuple[Run, ...]


class Winner(NamedTuple):
    """What was applied, with its ablation and its run at full length. `why` says what rolled it back, or
    ""."""

    objective: Objective
    pairs: list[Pair]
    ablation: tuple[Ablation, ...]
    after: RunDiagnosis | None
    final: Arm
    why: str


def finish_winner(search: Search, notify: Callable[[str], None]) -> Winner | None:
    """Ablate the winner, and run it once at full length. None without a winner."""
    if not search.applied:
        return None
    objective = choose_objective(search)
    pairs = pairs_of(search, search.base, objective)
    notify("ablation")
    none: tuple[Ablation, ...] = ()
    parts = search.bench.run_within_budget(
        lambda: ablate(search, objective, pairs), none, "the share of each part was not measured"
    )
    final = full_length(search)
    after = None if final.run is None else pipeline.diagnose(final.run, search.config).first
    return Winner(objective, pairs, parts, after, final, why_rolled_back(search, final, objective))


def conclude(search: Search, begun: float, notify: Callable[[str], None] = lambda _: None) -> Proof:
    """Check the winner once more, and write the report."""
    bench, winner = search.bench, finish_winner(search, notify)
    pairs = winner.pairs if winner else []
    applied = winner is not None and not winner.why
    after = winner.after if winner else None
    verdict, reason = outcome(search, applied, pairs, after, winner.final if winner else None)
    signal = level_signal(winner.objective if winner else None)
    test = on_test_set(search, pairs, notify) if applied and search.options.test else ()
    slices = compare_groups(pairs, search.options.min_effect) if applied else ()
    search.notes += notes(slices, search.options.slices) if applied else []
    report = FixReport(
        traindx_version=VERSION,
        verdict=verdict,
        reason=reason,
        applied=tuple(a.fix for a in search.applied) if applied else (),
        interventions=outside_interventions(search.base) if applied else (),
        command=command(bench, outside_interventions(search.base)) if applied else "",
        objective=winner.objective if winner else None,
        before=objectives.arm_levels([p.levels[0] for p in pairs], signal),
        after=objectives.arm_levels([p.levels[1] for p in pairs], signal),
        trials=correct_p_values(search.trials),
        ablation=winner.ablation if winner and applied else (),
        test=test,
        slices=slices,
        checkpoint=checkpoint(bench, winner.final, bench.journal.path.parent)
        if winner and applied
        else None,
        recommendations=(after or search.diagnosis).recommendations,
        untried=list_untried(search),
        diagnosis=msgspec.structs.replace(search.diagnosis, hypotheses=search.hypotheses),
        after_fix=after,
        belief=tuple(search.belief),
        notes=all_notes(search, winner, pairs),
        folder=str(bench.journal.path.parent),
        steps=bench.steps,
        seconds=round(time.monotonic() - begun, 1),
        plain_seconds=round(search.first.seconds, 1),
    )
    return Proof(report, runs([p.before for p in pairs] or [search.first]), runs([p.after for p in pairs]))


def all_notes(search: Search, winner: Winner | None, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """What the user should know about the proof, one sentence each."""
    bench, why = search.bench, winner.why if winner else ""
    paid = note_costs(search, pairs, winner.objective) if winner and not why else []
    shares = sum(a.share for a in winner.ablation) if winner and not why else 1.0
    why_shares = (
        "each share of the ablation is what is lost when this part alone is left out: parts can replace each other, or "
        "work only together, so the shares need not add up to 100 %"
    )
    paid += [why_shares] if abs(shares - 1) > APART and winner and len(winner.ablation) > 1 else []
    return tuple(
        filter(None, (*search.notes, why, *paid, *bench.notes, *noise_notes(search, pairs), bench.how()))
    )


def complete_proof(search: Search, proof: Proof) -> Proof:
    """The proof with advice on what was not tried: when to stop, and what could improve a healthy run."""
    report = proof.report
    end = search.first.run
    if report.verdict == "fixed":
        end = full_length(search).run or end
    more: tuple[Recommendation, ...] = ()
    if report.verdict != "not-fixed" and end is not None:
        more = further_advice(end, report.answering, report.recommendations)
    left = what_remains(search, report.after_fix if report.applied else None)
    advice = (*report.recommendations, *more)
    return proof._replace(report=msgspec.structs.replace(report, recommendations=advice, stopping=left))


def on_test_set(search: Search, pairs: Sequence[Pair], notify: Callable[[str], None]) -> tuple[Tested, ...]:
    """The metrics that the script reports on its test set, over the seeds of the pairs, as far as there is
    time."""
    notify("test set")
    seeds, none = tuple(p.after.seed or 0 for p in pairs), tuple[Tested, ...]()
    return search.bench.run_within_budget(
        lambda: test_metrics(search, seeds), none, "the test set was not compared"
    )


def runs(arms: Sequence[Arm]) -> tuple[Run, ...]:
    return tuple(arm.run for arm in arms if arm.run is not None)


def choose_objective(search: Search) -> Objective:
    """The objective of the whole change: in steps if every part was judged so."""
    if all(one.scale == "steps" for one in search.proved_by):
        return search.proved_by[0]
    assert search.first.run is not None
    causes = [t.cause for t in search.trials if t.verdict == "confirmed"]
    base = search.bench.arms([((), search.seeds[0])])[0]
    return search.objective(base.run or search.first.run, search.base, causes[0])


def pairs_of(search: Search, interventions: tuple[str, ...], objective: Objective) -> list[Pair]:
    """The unchanged script and the changed one, for the seeds of the last proof."""
    seeds = next(t.seeds for t in reversed(search.trials) if t.verdict == "confirmed")
    arms = search.bench.arms([(w, s) for s in seeds for w in ((), interventions)])
    return [pair_arms(a, b, objective) for a, b in zip(arms[::2], arms[1::2], strict=True)]


def ablate(search: Search, objective: Objective, whole: Sequence[Pair]) -> tuple[Ablation, ...]:
    """Each part left out once: the share of the gain that goes with it."""
    parts = [(a.fix, a.interventions) for a in search.applied]
    if len(parts) == 1:
        parts = [(parts[0][0], (spec,)) for spec in parts[0][1]]
    gains = known_gains(whole)
    total = sum(gains) / len(gains) if gains else 0.0
    if len(parts) < 2 or total <= 0:
        return tuple(Ablation(fix=fix, interventions=way, share=1.0) for fix, way in parts)
    found = []
    for i, (fix, way) in enumerate(parts):
        others = (other for j, (_, other) in enumerate(parts) if j != i)
        rest = reduce(merge_interventions, others, tuple[str, ...]())
        lost = search.bench.arms([(rest, p.after.seed) for p in whole])
        judged = judge(
            known_gains([pair_arms(a, p.after, objective) for a, p in zip(lost, whole, strict=True)])
        )
        share = None if judged.interval is None else (judged.interval[0] / total, judged.interval[1] / total)
        found.append(
            Ablation(fix=fix, interventions=way, share=round(judged.effect / total, 3), interval=share)
        )
    return tuple(found)


def full_length(search: Search) -> Arm:
    """The fixed run at the script's own length."""
    bench = search.bench
    if bench.steps == search.options.steps or bench.cut:
        return bench.arms([(search.base, search.seeds[0])])[0]
    part = bench.arms([(search.base, search.seeds[0])])[0]
    whole = (search.base, search.seeds[0], search.options.steps)
    return bench.run_within_budget(lambda: bench.arm(*whole), part, "the fix was not run at full length")


def why_rolled_back(search: Search, final: Arm, objective: Objective) -> str:
    """Why the fix is rolled back after all, or ""."""
    bench = search.bench
    part = bench.known.get(((search.base, search.seeds[0]), bench.steps))
    if final is part and bench.steps != search.options.steps and not bench.cut:
        return ""  # there was no time for its full length
    found = pair_arms(search.first, final, objective).gain
    if final.run is None or found <= -least_gain(search.options.min_effect):
        return f"rolled back: at full length it is {percent(found)}" + (
            f" ({final.why})" if final.why else ""
        )
    return ""


def outcome(
    search: Search,
    applied: bool,
    pairs: Sequence[Pair],
    after: RunDiagnosis | None,
    final: Arm | None = None,
) -> tuple[Outcome, str]:
    """The overall verdict, with its reason in one sentence."""
    if applied:
        what = AND.join(title(a) for a in search.applied)
        return (
            "fixed",
            f"{what}: {change_of(search, pairs)}{at_full_length(search, final)}{what_is_left(after)}",
        )
    if search.well:
        return "nothing-to-fix", "the run is healthy"
    first = search.hypotheses[0]
    tried = sum(bool(trial.interventions) for trial in search.trials)
    if not tried and any(one.why == UNWANTED for one in search.untried.values()):
        return "not-fixed", "you declined every change that was offered"
    if first.cause == "healthy" and first.probability >= NOTHING and not search.applied:
        suspected = "the suspected changes were tried, and made no difference"
        return "nothing-to-fix", suspected if tried else "no remaining cause is suspected"
    if search.applied:
        return "not-fixed", "the confirmed change did not hold at full length"
    if not tried:
        late = [one.fix for one in search.untried.values() if one.why == search.bench.budget_message()]
        if late or search.bench.left() <= 0:
            what = f"{late[0]} could be tried" if late else "the first change was tried"
            return "not-fixed", f"{search.bench.budget_message()} before {what}"
        return "not-fixed", f"no fix for '{first.title}' can be tried without a person"
    if tried == 1:
        return "not-fixed", "the one change that was tried was not shown to help"
    return "not-fixed", f"none of the {tried} changes that were tried was shown to help"


def what_is_left(after: RunDiagnosis | None) -> str:
    """ "; the fixed run still has problems", or the one of them that is certain."""
    if after is None or is_fine(after) or all(f.severity == "info" for f in after.findings):
        return ""
    certain = next((f.message for f in after.findings if f.slug in DOCUMENTED), "").rstrip(".")
    return f"; not repaired: {certain}" if certain else "; the fixed run still has problems"


def title(applied: Applied) -> str:
    """What a fix does, with the settings of other fixes that it was proven with ("…, with lr=*10")."""
    fix = fixes.find(applied.fix)
    names = {spec.partition("=")[0] for spec in fix.interventions} if fix is not None else set()
    more = [
        s for s in applied.interventions if s.partition("=")[0] not in names and not s.startswith("source=")
    ]
    return (fix.title if fix is not None else applied.fix) + (f", with {' '.join(more)}" if more else "")


def change_of(search: Search, pairs: Sequence[Pair]) -> str:
    """ "val_acc from 0.14 to 0.97 (mean of 3 seeds)", with the script's name for it."""
    objective, run = choose_objective(search), search.first.run
    sides = [objectives.arm_levels([p.levels[i] for p in pairs]) for i in (0, 1)]
    original = objective.signal if run is None else run.originals.get(objective.signal, objective.signal)
    name = metric(original.partition(" (")[0])  # without the file that it was read from
    before, after = (number(one.mean) if one is not None else "not known" for one in sides)
    bench, reached = search.bench, f"{name} from {before} to {after}"
    if objective.scale == "steps":
        reached = f"the same {name} after {after} steps instead of {before}"
    longer = any(spec.removeprefix(MARK).startswith("steps=") for spec in search.base)
    part = bench.steps is not None and bench.steps != bench.whole and not longer
    at = f", after {bench.steps} steps" if part else ""
    return f"{reached} (mean of {len(pairs)} seeds{at})"


def at_full_length(search: Search, final: Arm | None) -> str:
    """ "; from 0.31 to 0.99 at full length (one run each)", where the trials were shorter than the script. "" where the
    run of the fix at full length is missing, or shows nothing of it."""
    bench, objective, first = search.bench, choose_objective(search), search.first
    part = bench.steps is not None and bench.steps != bench.whole and not bench.cut
    if final is None or final.run is None or not (part and final.ok) or objective.scale == "steps":
        return ""
    if final.last <= bench.arms([(search.base, search.seeds[0])])[0].last:
        return ""  # there was no time for it
    pair = pair_arms(first, final, objective)
    before, after = map(number, pair.levels)
    return f"; from {before} to {after} at full length (one run each)" if pair.gain > 0 else ""


def correct_p_values(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials with Holm's correction of their p-values."""
    with_p = [t for t in trials if t.p_value is not None]
    adjusted = dict(zip(map(id, with_p), holm([t.p_value or 0.0 for t in with_p]), strict=True))
    return tuple(
        msgspec.structs.replace(t, p_value=round(adjusted[id(t)], 4)) if id(t) in adjusted else t
        for t in trials
    )


def list_untried(search: Search) -> tuple[Untried, ...]:
    """What was not tried, without fixes that a trial covers."""
    tried = {t.fix for t in search.trials}
    return tuple(u for u in search.untried.values() if u.fix not in tried)


def note_costs(search: Search, pairs: Sequence[Pair], proved: Objective) -> list[str]:
    """A note for each other held-out metric that the change makes clearly worse, with every seed."""
    run = pairs[0].before.run if pairs else None
    notes = []
    for one in [] if run is None else objectives.other_objectives(run, search.base, proved.signal):
        again = [pair_arms(p.before, p.after, one) for p in pairs]
        gains = known_gains(again)
        if gains and max(gains) < 0 and sum(gains) / len(gains) <= -least_gain(search.options.min_effect):
            before, after = (objectives.arm_levels([p.levels[i] for p in again], one.signal) for i in (0, 1))
            name = run.originals.get(one.signal, one.signal).partition(" (")[0] if run else one.signal
            if before and after:
                notes.append(f"{name} got worse: from {number(before.mean)} to {number(after.mean)}")
    return notes


def noise_notes(search: Search, pairs: Sequence[Pair]) -> list[str]:
    """What the user should know about the seeds."""
    notes = []
    firsts = [p.before.run for p in pairs if p.before.run is not None]
    if len(pairs) > 1 and any(objectives.trained_identically(firsts[0], other) for other in firsts[1:]):
        notes.append("other seeds change nothing in this script, because it uses its own random generators")
    if not same_start(pairs):
        notes.append(
            "the same seed does not give the same numbers twice in this script, so its pairs count as "
            "independent runs, "
            "which takes larger effects"
        )
    if pairs and len(pairs) < FIRST:
        notes.append(f"only {len(pairs)} pairs of seeds were run")
    return notes


def command(bench: Bench, interventions: Sequence[str]) -> str:
    """What reproduces the fixed run."""
    import shlex

    given = " ".join(f"--with {shlex.quote(spec)}" for spec in bench.counted(interventions))
    return f"traindx run {given} --in-place -- {shlex.join(redact(bench.command))}"
