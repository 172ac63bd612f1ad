"""docs/loss-curves.md: how to read a loss curve, every pattern with a figure of a run.

The runs are those that the tests of the rules use (`tests/samples`); what a figure marks is what the
rule itself saw in that run.
"""

from __future__ import annotations

import importlib
from functools import cache

from docs import svg
from traindx.cli.verbs.explain import Page, rule_pages, sections
from traindx.features.shared import Features
from traindx.rules import catalogue, judge_one
from traindx.rules.findings import in_one_style
from traindx.vocabulary.rule import Outcome, Rule
from traindx.vocabulary.run import Run

FAMILIES = {"LOS": "The loss", "GEN": "Training against validation", "LRS": "The learning rate"}

INTRODUCTION = """# How to read a loss curve

Start with three questions, in this order.

1. **What should it be?** A classifier that knows nothing has a cross-entropy of ln k for k classes: 0.69 for 2,
   2.30 for 10, 6.91 for 1000. A language model starts near the logarithm of its vocabulary. A first loss far above
   that means that the outputs are badly scaled. A loss that stays there means that nothing was learned.
2. **How noisy is it?** The loss of one batch scatters around its trend. A change counts only if it is larger than
   that scatter, and one spike is not a trend. A loss averaged over an epoch scatters less and hides what happens
   inside the epoch.
3. **Compared with what?** The training loss alone does not separate learning from memorizing: compare it with the
   validation loss. A flat curve can be converged, stuck, or at a learning rate of zero: look at the learning rate.
   Before a loss diverges, the gradient norm mostly grows: look there for the first step that was different.

A healthy curve falls fast, then slower and slower, with small noise, and the validation loss follows it with a
small gap. For some tasks, flat stretches before a sudden fall are normal: wait at least twice as long as the flat
stretch before you give up. Validation *better* than training is usual with dropout and heavy augmentation. A cyclic
schedule causes a bump at every restart.

Each picture below shows a run in which traindx finds the pattern, in the shaded part. The caption is its message.
"""


def described() -> list[tuple[Rule, Page]]:
    """The rules that have a picture here."""
    own = {page.slug: page for page in rule_pages()}
    return [
        (r, own[r.slug])
        for r in catalogue()
        if r.family in FAMILIES and r.check.__module__.startswith("traindx.")
    ]


@cache
def sample(slug: str) -> Run:
    """The run of the rule's figure: the first on which its test expects it to fire."""
    module = importlib.import_module(f"tests.samples.{slug.replace('-', '_')}")
    run: Run = next(iter(module.fires().values()))
    return run


@cache
def seen(slug: str) -> Outcome:
    rule = next(r for r in catalogue() if r.slug == slug)
    return judge_one(rule, sample(slug), Features(sample(slug)), {})


def figures() -> dict[str, str]:
    """Slug -> SVG."""
    return {rule.slug: figure(rule, page.title) for rule, page in described()}


def figure(rule: Rule, title: str) -> str:
    run, evidence = sample(rule.slug), seen(rule.slug).evidence[0]
    end = evidence.last if evidence.last is not None else run.last_step
    span = None if evidence.onset is None or end is None else (evidence.onset, end)
    panels = [[line(run, name) for name in names] for names in panels_of(rule, run)]
    return svg.picture(panels, span, f"{rule.slug}: {title}", run.axis)


def line(run: Run, name: str) -> svg.Line:
    return svg.Line(name, run.series[name].steps, run.series[name].values)


def panels_of(rule: Rule, run: Run) -> list[list[str]]:
    """Which signals to draw: the losses; for a schedule rule the learning rate above them; the
    metrics where a rule compares them, or where there is no loss."""
    there = [name for name, s in run.series.items() if len(s)]
    losses = [name for name in ("train/loss", "val/loss") if name in there]
    others = [
        n
        for n in there
        if n.startswith(("train/", "val/")) and n not in losses and n.split("/")[1] != "loss"
    ][:2]
    panels = []
    if "lr" in there and rule.family == "LRS":
        panels.append(["lr"])
    if losses:
        panels.append(losses)
    if others and (not losses or "metric" in rule.slug):
        panels.append(others)
    return panels or [there[:2]]


def page() -> str:
    parts = [INTRODUCTION]
    for family, title in FAMILIES.items():
        parts.append(f"## {title}\n")
        parts += [described_pattern(rule, text) for rule, text in described() if rule.family == family]
    return "\n".join(parts)


def described_pattern(rule: Rule, page: Page) -> str:
    parts_of_page = dict(sections(page.text))
    evidence = seen(rule.slug).evidence[0]
    caption = in_one_style((evidence.message or rule.message).format(**evidence.values), "step")
    parts = [
        f"### {page.title.rstrip('.')}\n",
        f"![{rule.slug}](images/curves/{rule.slug}.svg)\n",
        f"[{rule.slug}](rules.md#{rule.slug}): “{caption}”\n",
        f"**What it means.** {parts_of_page['Why it matters']}\n",
        f"**What to do.** {parts_of_page['What to try']}\n",
        f"**When it is harmless.** {parts_of_page['When it is wrong']}\n",
    ]
    return "\n".join(parts)
