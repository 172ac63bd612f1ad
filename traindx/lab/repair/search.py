"""Rounds of fixes: screened with one pair, proved with more seeds. What is proved stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from traindx import fixes, pipeline
from traindx.causes.experiments.belief import exclude_causes, update_belief
from traindx.config import Config
from traindx.lab.judge import objectives
from traindx.lab.judge.significance import MORE, Judged, is_hopeless, is_nearly_decided, least_gain
from traindx.lab.plan import MARK, Candidate, Record, candidates, merge_interventions, unknown_record
from traindx.lab.repair.bench import Arm, Bench, Long, truncate_run
from traindx.lab.repair.best_stop import Stop, best_stop, place_stop
from traindx.lab.repair.combinations import AND, Applied, try_two
from traindx.lab.repair.conditions import CURES, is_fine, refusal, suspects, why_idle, without_idle
from traindx.lab.repair.documented_faults import find_documented, in_vain
from traindx.lab.repair.lengths import from_speed
from traindx.lab.repair.options import Options
from traindx.lab.repair.pairs import Pair, judge_pairs, known_gains, noise_of, pair_arms, trial
from traindx.lab.repair.source import THERE, Source
from traindx.lab.repair.variants import Way, by_speed, is_cured, judge_by_steps
from traindx.vocabulary import Fact, Hypothesis, Run, RunDiagnosis
from traindx.vocabulary.trial import Objective, Trial, Untried, Verdict

ROUNDS = 3  # of fixes on top of each other
REACHED = 0.8  # of the steps that the first start made within its time
PROMISING = 0.36  # a gain of 30 % and more: the run at full length starts together with the proof
SCREENED = 6  # changes tried in one round, at most
AGAIN = 3  # in a second round by the new belief, and at full length where a shortened run was inconclusive
UNWANTED = "you declined it (--ask)"
MEASURED = {"steps": "the same result; by the steps to it: ", "error": "by the errors that remain: "}


class Search:
    """The search on one bench."""

    def __init__(
        self,
        bench: Bench,
        config: Config,
        options: Options,
        *,
        record: Record = unknown_record,
        weigh: Callable[[Sequence[Hypothesis]], tuple[Hypothesis, ...]] = tuple,
        agree: Callable[[Candidate], bool] | None = None,
        show: Callable[[Search, Sequence[Candidate]], None] = lambda _search, _plan: None,
        notify: Callable[[str], None] = lambda _: None,
        believed: Callable[[Sequence[Hypothesis]], None] = lambda _: None,
    ) -> None:
        self.bench, self.config, self.options, self.record = bench, config, options, record
        bench.keep_models, bench.slices = True, options.slices
        self.show, self.notify, self.weigh, self.believed = show, notify, weigh, believed
        self.agree = agree  # asked before each change, which is then tried alone
        self.trials: list[Trial] = []
        self.untried: dict[str, Untried] = {}
        self.applied: list[Applied] = []
        self.base: tuple[str, ...] = ()
        self.belief: list[tuple[str, dict[str, float]]] = []
        self.seeds: tuple[int, ...] = ()
        self.notes: list[str] = []
        self.vain: list[tuple[Way, Verdict]] = []
        self.stop: Stop | None = None  # where early stopping would end the run, as changed so far
        self.superseded = 0  # trials that were too short to be conclusive
        self.proved_by: list[Objective] = []  # of the confirmed changes, in order

    def diagnose(self) -> RunDiagnosis:
        """Run the unchanged script, and diagnose it. Raises ExperimentFailed."""
        self.first = self.bench.first(self.options.steps)
        assert self.first.run is not None
        self.bench.source = Source(self.bench.command, Path.cwd(), self.first.run.setup)
        self.notes += self.bench.source.unread()
        self.rejudge(self.first.run, "as it is")
        return self.diagnosis

    def rejudge(self, run: Run, what: str) -> None:
        """Diagnose the unchanged script by everything known about it now."""
        self.diagnosis = pipeline.diagnose(run, self.config).first
        self.hypotheses: tuple[Hypothesis, ...] = self.diagnosis.hypotheses
        self.show_belief(what)
        idle = partial(without_idle, setup=run.setup, source=self.bench.source)
        for known, why in ((idle, "without what needs no repair here"), (self.weigh, "with earlier trials")):
            left = known(self.hypotheses)
            if left != self.hypotheses:
                self.hypotheses = left
                self.show_belief(why)

    def learn(self, facts: Mapping[str, Fact]) -> None:
        """Take in what the user knows about the script."""
        run = self.first.run
        if facts and run is not None:
            run = replace(run, setup=run.setup.with_facts(facts, "answer"))
            self.first = self.first._replace(run=run)
            self.rejudge(run, f"given {', '.join(facts)}")

    def rule_out(self, causes: Sequence[str]) -> None:
        """Drop these causes, because the user knows better."""
        left = exclude_causes(self.hypotheses, causes)
        if causes and left:
            self.hypotheses = left
            self.show_belief(f"without {', '.join(causes)}")

    def show_belief(self, what: str) -> None:
        self.belief.append((what, {h.cause: round(h.probability, 4) for h in self.hypotheses}))
        self.believed(self.hypotheses)

    @property
    def well(self) -> bool:
        """Whether the unchanged script needs no repair, and no doubt remains that one pair could remove."""
        return is_fine(self.diagnosis) and not self.doubted()

    def doubted(self) -> tuple[str, ...]:
        """The causes that are suspected of a run that is more likely healthy than not."""
        return suspects(self.hypotheses) if is_fine(self.diagnosis) else ()

    def proceed(self) -> None:
        """Round after round, until the run is healthy or nothing more helps."""
        self.prepare()
        shown = self.hypotheses
        for number in range(ROUNDS):
            plan = self.plan(shown)
            if number == 0 and self.doubted():
                plan = tuple(c for c in plan if c.cause in self.doubted())[:1]
            if number == 0:
                self.show(self, plan)
            winner = self.round(plan) or self.round(self.renewed_candidates())
            winners = try_two(self) if winner is None else [winner]
            if not winners and number == 0 and self.lengthened():
                winner = self.round(self.plan(self.hypotheses)[:AGAIN])
                winners = [] if winner is None else [winner]
            if not winners:
                return
            arm = self.apply(winners)
            if arm.run is None:
                return
            after = pipeline.diagnose(arm.run, self.config).first
            shown = after.hypotheses
            now = {h.cause: round(h.probability, 4) for h in shown}
            self.belief.append((f"after {AND.join(w.fix for w in winners)}", now))
            if is_fine(after) or (self.stop is not None and self.stop.spec in self.base):
                return

    def renewed_candidates(self) -> tuple[Candidate, ...]:
        """What has become likely because other changes failed."""
        if self.base or self.hypotheses[0].cause == "healthy":
            return ()
        return tuple(c for c in self.plan(self.hypotheses) if c.fix not in self.untried)[:AGAIN]

    def lengthened(self) -> bool:
        """Whether inconclusive trials of a shortened run are to be repeated, with arms of full length from now
        on. Not where the trials suggest a healthy run."""
        bench, whole = self.bench, self.options.steps
        left_open = [t for t in self.trials if t.verdict == "inconclusive"]
        if bench.cut or bench.steps == whole or not left_open or self.hypotheses[0].cause == "healthy":
            return False
        part, bench.steps = bench.steps, whole
        if not self.fits_budget(AGAIN):
            bench.steps = part
            return False
        self.superseded = len(self.trials)
        self.vain.clear()
        self.notify("a shortened run is inconclusive: repeating the changes at full length")
        return True

    def prepare(self) -> None:
        """Steps and seeds of the arms. The first run is the arm of its seed, if it has one."""
        run, bench = self.first.run, self.bench
        assert run is not None
        cut = self.options.steps
        first = objectives.first_step(run)
        found = from_speed(self.first, self.diagnosis, first) if cut is None else cut
        if bench.cut:  # arms are to come as far within the time that they have
            found = max(1, int(REACHED * self.first.last))
        bench.steps = found
        own = run.setup.number("seed")
        start = int(own) if own is not None else 0
        self.seeds = tuple(range(start, start + MORE[-1]))
        if own is not None:
            bench.known.setdefault((((), start), cut), self.first._replace(seed=start))
            bench.known[((), start), found] = self.first._replace(seed=start, run=truncate_run(run, found))

    def plan(self, hypotheses: Sequence[Hypothesis]) -> tuple[Candidate, ...]:
        """What to try, most promising first, without what failed already."""
        assert self.first.run is not None
        if self.stop is None or self.stop.spec not in self.base:
            self.stop = self.best_stop()
        found, left = candidates(
            hypotheses, place_stop(fixes.catalogue(), self.stop), self.first.run.setup, CURES,
            partial(refusal, run=self.first.run), self.record,
            self.edit_refusal, partial(why_idle, setup=self.first.run.setup, base=self.base, source=self.bench.source),
        )  # fmt: skip
        for one in left:
            if one.why != THERE:
                self.untried.setdefault(one.fix, one)
            elif one.fix not in {t.fix for t in self.trials}:  # its lack is not the cause, then
                found_there = Judged(0.0, (0.0, 0.0), 1.0, "refuted", THERE)
                self.record_trial(Candidate(one.fix, one.cause, (), 0.0), (), [], found_there)
        final = [t for i, t in enumerate(self.trials) if i >= self.superseded or t.verdict != "inconclusive"]
        vain = {t.fix for t in in_vain(final, self.base, self.diagnosis)}
        return tuple(c for c in found if c.fix not in vain and not self.why_incompatible(c))[:SCREENED]

    def best_stop(self) -> Stop | None:
        """Where the run, as changed so far, should have stopped."""
        arm = self.bench.known.get(((self.base, self.seeds[0]), self.bench.steps)) if self.seeds else None
        run = truncate_run(self.first.run, self.bench.steps) if arm is None else arm.run
        asked, least = self.options.metric is not None, self.options.min_effect
        return None if run is None else best_stop(run, self.objective(run, (), ""), least, asked)

    def why_incompatible(self, candidate: Candidate) -> str:
        """Why a candidate cannot be combined with what is applied, or ""."""
        doses = [dose for stage in candidate.doses for dose in stage] or [candidate.interventions]
        if set(candidate.interventions) & set(self.base) and candidate.interventions[0].startswith(MARK):
            return THERE
        return next(filter(None, (refusal(*merge_interventions(self.base, dose)) for dose in doses)), "")

    def edit_refusal(self, fix: str) -> str:
        """Why a fix cannot be tried in the source, or ""."""
        source = self.bench.source
        return "it needs a change of the script's code" if source is None else source.can(fix)

    def round(self, plan: Sequence[Candidate]) -> Applied | None:
        """Try candidates, several at a time; the first that is confirmed."""
        waiting = list(plan)
        while waiting:
            some = self.batch(waiting)
            if not some:
                break
            if not self.fits_budget(len(some)):
                waiting = [*some, *waiting]
                break
            firsts = [way for c in some for way in (c.doses[0] if c.doses else (c.interventions,))]
            spare = [(self.base, seed) for seed in self.seeds[1 : self.options.seeds]]
            doses = (self.base, *(merge_interventions(self.base, first) for first in firsts))
            self.bench.arms([(way, self.seeds[0]) for way in doses], spare=spare)
            ways = [way for one in some for way in self.screen(one)]
            for way in sorted(ways, key=lambda w: -w.pair.gain):
                if self.prove(way, self.judged_together(some)).verdict == "confirmed":
                    return Applied(way.candidate.fix, way.interventions)
        for one in waiting:
            self.leave(one, self.bench.budget_message())
        return None

    def judged_together(self, some: Sequence[Candidate]) -> int:
        """How many changes a proof pays for: all tried on the current state, twice if at two lengths. What the source
        does already was never started."""
        tried = {t.fix for t in self.trials if t.interventions and t.on_top_of == self.base}
        tried |= {c.fix for c in some}
        return len(tried) * (2 if self.superseded else 1)

    def batch(self, waiting: list[Candidate]) -> list[Candidate]:
        """The next candidates: as many as run at a time, one where the user is asked, none where none is
        wanted."""
        some: list[Candidate] = []
        while waiting and (not some or (len(some) < self.bench.jobs and not self.agree)):
            if some and (some[0].doses or waiting[0].doses):
                break
            one = waiting.pop(0)
            if self.agree is None or self.agree(one):
                some.append(one)
            else:
                self.leave(one, UNWANTED)
        return some

    def fits_budget(self, arms: int) -> bool:
        """Whether a screening and a proof would end within the budget."""
        share = 1.0 if not self.bench.steps else min(1.0, self.bench.steps / max(self.first.last, 1.0))
        starts = arms + 2 * self.options.seeds - 1
        return self.bench.left() > starts * share * self.first.seconds / max(self.bench.jobs, 1)

    def screen(self, candidate: Candidate) -> list[Way]:
        """One pair for each dose. The best of them, and the next one where its gain counts. None where none
        can be compared; what happened to them is recorded then."""
        stages: Sequence[Sequence[tuple[str, ...]]] = candidate.doses or ((candidate.interventions,),)
        tried: list[Way] = []
        for stage in stages:
            tried = sorted([*tried, *self.first_pairs(candidate, stage)], key=lambda w: -w.pair.gain)
            if not tried or tried[0].interventions != stage[-1] or is_cured(tried, self.config):
                break
        worth = [way for way in tried[1:2] if way.pair.gain >= least_gain(self.options.min_effect)]
        return [way._replace(doses=len(tried)) for way in (*tried[:1], *worth)]

    def first_pairs(self, candidate: Candidate, doses: Sequence[tuple[str, ...]]) -> list[Way]:
        """The ways with their first pairs. Those that cannot be compared, or did nothing, are recorded and
        left out."""
        seed = self.seeds[0]
        mine = [merge_interventions(self.base, dose) for dose in doses]
        arms = self.bench.arms([(self.base, seed), *((m, seed) for m in mine)])
        assert self.first.run is not None
        found = []
        for dose, arm in zip(doses, arms[1:], strict=True):
            objective = self.objective(arms[0].run or self.first.run, arm.interventions, candidate.cause)
            if arm.run is None:
                self.leave(candidate, arm.why)
            elif idle := arm.idle():
                if dose is doses[0]:
                    self.record_trial(candidate, dose, [], Judged(0.0, (0.0, 0.0), 1.0, "refuted", idle))
            elif not objective.signal:
                self.leave(candidate, objective.why)
            else:
                found.append(Way(candidate, dose, objective, pair_arms(arms[0], arm, objective)))
        return found

    def objective(self, run: Run, interventions: Sequence[str], cause: str) -> Objective:
        """What a change of this run is compared by."""
        if self.stop is not None and self.stop.spec in interventions:
            return self.stop.objective
        spared = ("test/",) if self.options.test else ()
        return objectives.choose(run, interventions, cause, self.options.metric, spared)

    def prove(self, way: Way, judged_together: int) -> Judged:
        """More seeds for a change that may help, and the verdict, which is recorded."""
        options = self.options
        way = by_speed(way, options.metric is None, options.min_effect)
        pairs, analysis = [way.pair], 0
        found = judge_pairs(pairs, way.objective, options.min_effect, judged_together)
        if self.certain(way) or not is_hopeless(
            known_gains(pairs), options.min_effect, self.noise(way.objective)
        ):
            judged_together *= way.doses
            for count in (options.seeds, *(n for n in MORE if n > options.seeds)):
                if len(pairs) > 1:
                    if not is_nearly_decided(found, options.min_effect) or not self.fits_budget(
                        2 * (count - len(pairs))
                    ):
                        break
                    analysis += 1
                pairs = self.pairs(way, self.seeds[:count], () if analysis else self.ahead(way))
                found = judge_pairs(pairs, way.objective, options.min_effect, judged_together, analysis)
            if options.metric is None:
                way, pairs, found = judge_by_steps(
                    way, pairs, found, options.min_effect, judged_together, analysis
                )
        found = found._replace(why=MEASURED.get(way.objective.scale, "") + found.why)
        self.record_trial(way.candidate, way.interventions, pairs, found, way.objective)
        if found.verdict == "confirmed":
            self.proved_by.append(way.objective)
        else:
            self.vain.append((way, found.verdict))
        return found

    def certain(self, way: Way) -> bool:
        """Whether a change is for what the run itself shows, so that one unlucky pair does not drop it."""
        return way.candidate.fix == find_documented(self.diagnosis).fix

    def noise(self, objective: Objective) -> float | None:
        """The spread between seeds of the unchanged script, as far as such arms have been run."""
        known, steps = self.bench.known.items(), self.bench.steps
        arms = [a for ((w, s), n), a in known if w == self.base and s is not None and n == steps]
        return noise_of(arms, objective)

    def ahead(self, way: Way) -> list[Long]:
        """The run at full length that a confirmed change will need, where its first pair leaves little doubt
        that it will be confirmed. Started together with the other pairs, it takes no extra time."""
        bench = self.bench
        if bench.cut or bench.steps == self.options.steps or way.pair.gain < PROMISING:
            return []
        return [((merge_interventions(self.base, way.interventions), self.seeds[0]), self.options.steps)]

    def pairs(self, way: Way, seeds: Sequence[int], ahead: Sequence[Long] = ()) -> list[Pair]:
        """The pairs for these seeds. Missing arms are run."""
        on = merge_interventions(self.base, way.interventions)
        jobs = 1 if way.objective.signal.startswith("time/") else None
        arms = self.bench.arms([(w, s) for s in seeds for w in (self.base, on)], jobs, longest=ahead)
        return [pair_arms(a, b, way.objective) for a, b in zip(arms[::2], arms[1::2], strict=True)]

    def record_trial(
        self, candidate: Candidate, way: tuple[str, ...], pairs: Sequence[Pair], found: Judged,
        objective: Objective | None = None,
    ) -> None:  # fmt: skip
        """Keep a trial, and update the belief by it."""
        made = trial(
            pairs, found, interventions=way, on_top_of=self.base, cause=candidate.cause, fix=candidate.fix,
            objective=objective,
        )  # fmt: skip
        self.trials.append(made)
        known = filter(None, map(fixes.find, candidate.fix.split(AND)))
        cured = [cause for fix in known for cause in fix.causes]
        if not self.base:
            self.hypotheses = update_belief(self.hypotheses, cured, found.verdict, candidate.fix)
            self.show_belief(f"{candidate.fix}: {found.verdict}")
        self.notify(f"{candidate.fix} ({' '.join(way)}): {found.verdict}: {found.why}")

    def leave(self, candidate: Candidate, why: str) -> None:
        """Note a candidate that was not tried, and why."""
        one = Untried(candidate.fix, candidate.cause, " ".join(candidate.interventions), why)
        self.untried.setdefault(one.fix, one)

    def apply(self, winners: Sequence[Applied]) -> Arm:
        """Keep confirmed fixes, or a larger dose of one. Returns the arm of the first seed that has them."""
        kept = {a.fix: a.interventions for a in self.applied}
        for one in winners:
            kept[one.fix] = merge_interventions(kept.get(one.fix, ()), one.interventions)
            self.base = merge_interventions(self.base, one.interventions)
        self.applied = [Applied(fix, interventions) for fix, interventions in kept.items()]
        return self.bench.arms([(self.base, self.seeds[0])])[0]
