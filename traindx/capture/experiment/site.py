"""One intervention in the script's process, and what is recorded of all of them.

What the values of `lr` ask for, whatever the framework."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from traindx.capture.experiment.ending import Guard, Refused
from traindx.capture.interventions.values import Change, Span
from traindx.vocabulary import Fact


class Site:
    """Whatever is hooked here is guarded: an exception in it ends the experiment (one that the
    script's own code raises, called from a hook, passes through as it is)."""

    def __init__(self, hooks: Guard, spec: str) -> None:
        self.hooks, self.spec = hooks, spec
        self.touches: Counter[str] = Counter()
        self.unused = ""  # why nothing was touched, in one clause

    def touched(self, what: str, number: int = 1) -> None:
        """Something was changed: `what` in the plural ("steps"), `number` of them."""
        self.touches[what] += number

    def refuse(self, why: str) -> NoReturn:
        """This cannot be done to this script: `why` in one clause. Ends the experiment."""
        raise Refused(why)

    def fact(self, name: str, value: Fact) -> None:
        """A setup fact that is now another than the script's own ("clip_norm")."""
        self.hooks.stream.fact(name, value)

    def wrap(self, owner: Any, name: str, hook: Callable[..., Any]) -> None:
        """`hook(original, *args, **named)` takes the place of `owner.name` (for a method, args begin
        with self). An owner without it is left alone."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            return self.wrap_with_hook(hook, original)

        self.hooks.patches.replace(owner, name, make)

    def wrap_with_hook(self, hook: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that calls the hook with the original; what the original raises passes through."""
        hooks = self.hooks

        def theirs(*args: Any, **named: Any) -> Any:
            try:
                return original(*args, **named)
            except BaseException as error:
                hooks.theirs = error
                raise

        def wrapper(*args: Any, **named: Any) -> Any:
            return hooks.guarded(self, hook, theirs, *args, **named)

        return wrapper

    def at_end(self, hook: Callable[[], None]) -> None:
        """Before the record is closed."""
        self.hooks.ends.append((self, hook))

    def limit(self) -> int | None:
        """After how many steps the script will be ended, where that was asked for."""
        steps = self.hooks.request.get("steps")
        return int(steps) if steps else None

    def length(self, steps: int | None, example: str) -> int:
        """That many steps, or all of them. Refuses where their number is not known; `example` gives it."""
        length = steps or self.planned()
        if length is None:
            self.refuse(f"the number of steps is not known: give it as in {example}, or with --steps")
        return length

    def resolve(self, span: Span, example: str) -> int:
        """The number of steps in the first part of the run."""
        return round(span.share * self.length(None, example)) if span.steps is None else span.steps

    def planned(self) -> int | None:
        """How many steps the run will have, where that is known: asked for, or given by its schedule."""
        planned = self.hooks.stream.known.get("planned_steps")
        return self.limit() or (planned if isinstance(planned, int) else None)

    def steps_made(self) -> int:
        """Steps so far; -1 before the first."""
        session = self.hooks.stream.opened
        return -1 if session is None else session.step

    def end_after(self, steps: int) -> None:
        """End the script after that many optimizer steps, which is what the intervention does."""

        def end() -> None:
            if self.steps_made() >= steps:
                self.touched("runs")

        self.stop_after(steps)
        self.at_end(end)

    def stop_after(self, steps: int) -> None:
        """End the script after that many optimizer steps (or earlier, where that was asked for)."""
        self.hooks.request["steps"] = min(steps, self.limit() or steps)


def report_touched(sites: Sequence[Site]) -> None:
    """What was touched so far, as facts."""
    for site in sites:
        for what, number in site.touches.items():
            site.fact(f"intervention/{site.spec}/{what}", number)


def why_unused(site: Site) -> str:
    return site.unused or "there was nothing to change"


def report_use(sites: Sequence[Site], why: Callable[[Any], str] = why_unused) -> None:
    """A record ends: what each intervention did; of those that changed nothing, why."""
    report_touched(sites)
    for site in sites:
        session = site.hooks.stream.opened
        if site.touches or session is None or site.hooks.stopped:
            continue
        site.fact(f"intervention/{site.spec}", "changed nothing")
        session.event("note", f"{site.spec} changed nothing: {why(site)}", "intervention-unused")


def conclude(hooks: Guard, sites: Sequence[Site], why: Callable[[Any], str] = why_unused) -> None:
    """The script is over: call what waits for that, and say what each intervention did."""
    for site, hook in hooks.ends:
        hooks.guarded(site, hook)
    report_use(sites, why)


def rate_factor(site: Site, wanted: Change, base: float | None) -> float:
    """What the script's rates are multiplied by. `base` is the rate that its optimizer was made with."""
    if wanted.relative:
        return wanted.number
    if not base:
        site.refuse("the script's optimizer was made with a rate of 0: there is no base rate to set")
    return wanted.number / base
