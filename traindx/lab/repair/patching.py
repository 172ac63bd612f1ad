"""What was proven from outside, written into the source: fix.patch, the edited tree, and whether it behaves
like the intervention."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from traindx.fixes import find
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.edits import Advice, Patch
from traindx.lab.edits.files import diff, write
from traindx.lab.edits.undo import remember
from traindx.lab.judge.significance import STEPS, Agreement, agreement, least_gain, losses
from traindx.lab.plan import INCOMPARABLE, MARK
from traindx.lab.repair.bench import as_arm
from traindx.lab.repair.deliverables import arm_threads, busy_share, measured_latency
from traindx.lab.repair.document import Proof
from traindx.lab.repair.documented_faults import find_documented
from traindx.lab.repair.pairs import Pair, pair_arms
from traindx.lab.repair.search import Search
from traindx.lab.repair.source import Source, fix_behind, outside_interventions
from traindx.redaction import redact, redact_text
from traindx.reports.labels import metric, number
from traindx.vocabulary.trial import Objective

PATCH, TREE, RECORDS = "fix.patch", "fixed", "edited"
LEAST_SECONDS = 120.0
CLEAR = 2.0  # standard deviations between seeds: what ends worse by more is not offered without a proof
SPEC = re.compile(r"[a-z_]+=\S+")  # an intervention, which no source is written in
NAMES = {
    "lr": "learning rate",
    "batch": "batch size",
    "steps": "epochs",
    "clip": "limit of the gradient norm",
}
TRACED = (10, 20)  # steps before the first that is traced, and those


class Patched(NamedTuple):
    """The proof with the result of its source edit. `patch` is None without an edit, `agreement` where there
    is no intervention to compare it with."""

    proof: Proof
    patch: Patch | None
    agreement: Agreement | None


def write_patch(search: Search, proof: Proof, folder: Path) -> Patched:
    """Write the applied fixes into the source, below `folder`; the project itself stays unchanged. The fixed
    script, or the script under its interventions where there is no edit, is run for its first steps."""
    source, base = search.bench.source, search.base
    if not proof.report.applied:
        return Patched(patch_unproven(search, proof, folder), None, None)
    found: Patch | Advice | None = (
        None if source is None else source.patch_for(proof.report.applied, search.bench.counted(base))
    )
    left: tuple[str, ...] = ()  # what the patch lacks of what was proven
    if isinstance(found, Advice):
        proof = with_advice(proof, found)
        found, left = partly(search, found)
    elif found is not None and not found.after:
        proof = with_note(proof, "the source does this already")
    if source is None or not isinstance(found, Patch) or not found.after:
        tried = search.bench.run_within_budget(lambda: begun(search, base, None, folder), None, "")
        return Patched(proof if tried is None else with_latency(proof, tried, search), None, None)
    edited = found
    first = search.bench.run_within_budget(lambda: begun(search, left, edited, folder), None, "")
    if first is not None and not left:
        answers = with_latency(proof, first, search)
        proof = search.bench.run_within_budget(
            lambda: with_utilization(answers, edited, search, folder), answers, ""
        )
    proof, like = compare_edited_script(search, proof, first, left, folder)
    if like is not None and like.broken:
        why = f"the edited script did not do what was proven: {like.why}"
        write = " ".join(found.words) or " ".join(base)
        return Patched(with_advice(proof, Advice(file="", line=0, write=write, why=why)), None, like)
    return Patched(with_edit(proof, found, source, folder), found, like)


def compare_edited_script(
    search: Search, proof: Proof, first: Attempt | None, left: Sequence[str], folder: Path
) -> tuple[Proof, Agreement | None]:
    """The proof with how the edited script compares with what was proven, and that. `left`: what it got from outside,
    because the patch lacks it. No agreement where what was proven is an edit itself."""
    if left:
        words = " ".join(spec.removeprefix(MARK) for spec in left)
        proof = with_note(proof, f"the patch lacks {words}, which was proven together with it")
    if not any(spec.startswith(MARK) for spec in search.base):
        like = (
            Agreement(why=search.bench.budget_message())
            if first is None
            else compare_behavior(search, search.base, first)
        )
        return with_note(proof, describe(like)), like
    line = f"cd {shlex.quote(str(folder / TREE))} && {shlex.join(redact(search.bench.command))}"
    return proof._replace(report=msgspec.structs.replace(proof.report, command=line)), None


def partly(search: Search, advice: Advice) -> tuple[Patch | Advice, tuple[str, ...]]:
    """The edit for those of several proven fixes that have one, and the interventions of the others. The advice as it
    is where there is no such edit."""
    source, count = search.bench.source, search.bench.counted
    found: Patch | Advice = advice
    kept, left = tuple[str, ...](), tuple[str, ...]()
    for spec in (spec for one in search.applied for spec in one.interventions):
        made = None if source is None else source.patch_for(
            [one.fix for one in search.applied], count((*kept, spec))
        )  # fmt: skip
        if isinstance(made, Patch) and made.after:
            found, kept = made, (*kept, spec)
        else:
            left += (spec,)
    return found, left if isinstance(found, Patch) else ()


def with_edit(proof: Proof, found: Patch, source: Source, folder: Path, basis: str = "") -> Proof:
    """The proof with its source edit, which is written below `folder`. The patch is exact, because it must
    apply; reports show it without secrets."""
    path = folder / PATCH
    path.write_text(diff(found), encoding="utf-8")
    for name, text in (source.files | found.after).items():
        target = folder / TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    shown = redact_text(diff(found))
    report = msgspec.structs.replace(proof.report, patch=str(path), diff=shown, patch_basis=basis)
    return proof._replace(report=report)


def patch_unproven(search: Search, proof: Proof, folder: Path) -> Proof:
    """The proof with the edit for a fault that the run itself shows, where no change was proven: correct by
    documentation, and its edited script was run to the end. Not where that, or a trial, ended worse."""
    fix, basis = find_documented(search.diagnosis)
    known, source = find(fix), search.bench.source
    harmful = any(t.fix == fix and t.verdict == "harmful" for t in search.trials)
    if proof.report.verdict != "not-fixed" or known is None or source is None or harmful or not search.seeds:
        return proof
    found = source.patch_for((fix,), known.interventions or (f"{MARK}{fix}",))
    if isinstance(found, Advice):
        return with_advice(proof, found)
    if not found.after:
        return proof
    words = " ".join(found.words) or known.title
    late = Advice(file="", line=0, write=words, why="there was no time to run the edited script to its end")
    pair = search.bench.run_within_budget(lambda: edited_pair(search, fix, found, folder), None, "")
    if pair is None:
        return with_advice(proof, late)
    one, objective = pair
    if one.after.run is None or not one.after.ok:
        return with_advice(
            proof, msgspec.structs.replace(late, why=f"the edited script failed: {one.after.why}")
        )
    shown = "Its effect on this run is not shown."
    if objective.signal and fix not in INCOMPARABLE:
        before, after = map(number, one.levels)
        moved = f"{metric(objective.signal)} ended at {after} instead of {before} in one run"
        noise = search.noise(objective)
        if -one.gain > (least_gain(search.options.min_effect) if noise is None else CLEAR * noise):
            return with_advice(
                proof, msgspec.structs.replace(late, why=f"it is correct by {basis}, but {moved}")
            )
        shown = f"With it, {moved}, which may be chance."
    return with_edit(proof, found, source, folder, f"Correct by {basis}. {shown}")


def edited_pair(search: Search, fix: str, patch: Patch, folder: Path) -> tuple[Pair, Objective]:
    """The script as it is and as edited, each run to its end with the first seed, and what they are compared
    by."""
    bench, seed, way = search.bench, search.seeds[0], (f"{MARK}{fix}",)
    length = bench.steps if bench.cut else bench.whole
    before = bench.arm((), seed, length)
    after = as_arm(begun(search, (), patch, folder, length, probes=""), way, seed)
    assert search.first.run is not None
    objective = search.objective(before.run or search.first.run, way, search.hypotheses[0].cause)
    return pair_arms(before, after, objective), objective


def with_advice(proof: Proof, found: Advice) -> Proof:
    """The proof with what to write by hand, and why no edit was certain; without secrets."""
    write = in_words(proof, found.write) if SPEC.fullmatch(found.write) else found.write
    shown = msgspec.structs.replace(found, write=redact_text(write), why=redact_text(found.why))
    return proof._replace(report=msgspec.structs.replace(proof.report, by_hand=shown))


def in_words(proof: Proof, spec: str) -> str:
    """ "0.01 times the weight decay (weight_decay=*0.01)": an intervention is nothing that a source is written in."""
    name, _, value = spec.partition("=")
    what, known = NAMES.get(name, name.replace("_", " ")), find(fix_behind(spec, proof.report.applied))
    words = known.propose(proof.before[0].setup) if known is not None and proof.before else ""
    if value.startswith("*"):
        words = f"{value[1:]} times the {what}"
    elif value[:1].isdigit():
        words = f"a {what} of {value}"
    return f"{words} ({spec})" if words else spec


def with_latency(proof: Proof, first: Attempt, search: Search) -> Proof:
    """The proof with the measured speed of the fixed model."""
    found = measured_latency(first, arm_threads(search.bench))
    return proof._replace(report=msgspec.structs.replace(proof.report, answering=found))


def begun(
    search: Search, interventions: tuple[str, ...], patch: Patch | None, folder: Path, steps: int | None = STEPS,
    probes: str = "speed",
) -> Attempt:  # fmt: skip
    """The first steps of the edited script, or of the script under interventions, with the seed of the first
    arm. The latency of its model is measured then."""
    bench = search.bench
    bench.notify(
        "the first steps of the fixed script" if steps == STEPS else "the edited script, to its end"
    )
    return bench.start(
        bench.command,
        fresh_folder(folder),
        (*outside_interventions(bench.counted(interventions)), f"seed={search.seeds[0]}"),
        steps,
        seconds=limit(search),
        **bench.reach,
        threads=arm_threads(bench),
        probes=probes,
        edited=patch.after
        if patch is not None
        else {}
        if bench.source is None
        else bench.source.edited(interventions),
    )


def limit(search: Search) -> float:
    """Seconds that a few steps of the fixed script may take."""
    return max(LEAST_SECONDS, 2 * search.first.seconds)


def fresh_folder(folder: Path) -> Path:
    """A folder for a record that was not used before."""
    number = 1
    while (folder / f"{RECORDS}-{number}").exists():
        number += 1
    return folder / f"{RECORDS}-{number}"


def with_utilization(proof: Proof, patch: Patch, search: Search, folder: Path) -> Proof:
    """The proof with how busy the edited script keeps the accelerator, traced in a separate start."""
    known, bench = proof.report.answering, search.bench
    if known is None or (known.device or "cpu").startswith("cpu"):
        return proof
    bench.notify("a trace of the fixed script")
    traced = bench.start(
        bench.command, fresh_folder(folder), (), None, seconds=limit(search), **bench.reach, profile=TRACED,
        edited=patch.after,
    )  # fmt: skip
    known = msgspec.structs.replace(known, utilization=busy_share(traced))
    return proof._replace(report=msgspec.structs.replace(proof.report, answering=known))


def compare_behavior(search: Search, base: tuple[str, ...], tried: Attempt) -> Agreement:
    """Whether the edited script starts like the arm that had the interventions, with the same seed."""
    arm = search.bench.arms([(base, search.seeds[0])])[0]
    if tried.run is None or arm.run is None:
        return Agreement(why=f"the edited script left no record: {tried.why}", broken=arm.run is not None)
    return agreement(losses(arm.run, STEPS), losses(tried.run, STEPS))


def describe(found: Agreement) -> str:
    """Whether the edited script does what was proven."""
    if found.same:
        return f"the first {found.steps} losses of the edited script equal those of the intervention"
    if found.broken:
        return f"the edit was dropped: {found.why}"
    if found.why:
        return f"the edited script could not be compared with the intervention: {found.why}"
    return f"the first {found.steps} losses of the edited script differ from the intervention's by up to {found.apart:.1g}"


def with_note(proof: Proof, line: str) -> Proof:
    return proof._replace(report=msgspec.structs.replace(proof.report, notes=(*proof.report.notes, line)))


def put_in_place(found: Patched, folder: Path) -> list[str]:
    """Write a patch into the project itself, with backups. Returns what was done, one line each. An edit
    that does not behave like what was proven is not written. Raises ConfigError where a file has changed
    meanwhile."""
    if found.patch is None:
        return ["nothing was written: there is no patch"]
    if found.agreement is not None and not found.agreement.same:
        return [f"nothing was written: {describe(found.agreement)}"]
    backups = write(folder, found.patch)
    remember(folder, found.patch, backups)
    lines = [f"{path} was edited; the original is {backup}" for path, backup in backups.items()]
    return [*lines, "`traindx fix --undo` takes this back"]
