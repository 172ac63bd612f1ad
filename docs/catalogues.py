"""The reference pages: signals, thresholds, rules, causes and patterns, fixes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.threshold_answers import Answers, Score, saved_answers
from benchmarks.thresholds import Changes, Effect, saved
from traindx.cli.verbs.explain import Page, cause_pages, fix_pages, pattern_pages, rule_pages, sections
from traindx.rules import catalogue
from traindx.vocabulary.rule import Threshold
from traindx.vocabulary.signals import SIGNALS

FAMILIES = {
    "LOS": "loss",
    "GEN": "generalization",
    "GRD": "gradients",
    "ACT": "activations",
    "WGT": "weights and updates",
    "LRS": "learning-rate schedule",
    "DAT": "data",
    "ARC": "architecture",
    "LOP": "training loop",
    "PRC": "precision",
    "QNT": "quantization-aware training",
    "OBJ": "agents, opponents and preferences",
    "SYS": "throughput and memory",
    "DST": "distributed training",
    "ENV": "environment",
}

HOME = {"rule": "rules.md", "cause": "causes.md", "pattern": "causes.md", "fix": "fixes.md"}


INTRODUCTIONS = {
    "signals": """
# Signals

traindx uses these names, whatever the log calls a signal. The diagnosis shows which name of the log became which
signal. `--map train/loss=my_loss` maps a column or tag that was not recognized. A metric that is not listed keeps
its name after `train/` or `val/`. Words in the name decide whether lower or higher is better (`loss`, `error` ...
lower; `accuracy`, `f1`, `reward` ... higher).
""",
    "thresholds": """
# Thresholds

This page lists every number that a rule compares with. The basis says where it comes from: *measured* on labelled
runs (the value is better than half or double of it), *theory*, a *paper*, or a *convention* of the field.

The last two columns show how much depends on a number. `python -m benchmarks.thresholds` judged RUNS recorded and
published runs again, with one threshold at a time at half and at double its value. A cell counts the runs whose
finding appeared, disappeared or changed its severity, of those that the rule could judge, and in brackets the runs
whose verdict changed. If no run has the signals of a rule, the rule's own samples are counted. They are close to its
limits on purpose.

Change a threshold in `[tool.traindx]`:
""",
    "deciding": """
## Thresholds that decide a verdict

`python -m benchmarks.threshold_answers` diagnosed LOGS labelled public logs again with each of them at half and at
double its value. With the values above, VERDICTS verdicts are right, SAID of the demanded symptoms are said and
FALSE statements are false. A cell shows what changes: right verdicts, symptoms said, false statements; "=" means
nothing. Differences of one or two logs are within chance, so no value was moved because of them.
""",
    "rules": """
# Rules

A rule says what is *seen* in a run. The [causes](causes.md) say why. Every rule is evaluated on every run, with one of
three outcomes: it fired, it is clear, or it could not be evaluated, with the reason. `traindx explain CODE` prints
the same page.

At the end of each page is what the rule needs: [signals](signals.md), and facts of the setup (`setup:...`). *In test
runs* counts recorded runs whose cause is known.
""",
    "causes": """
# Causes

A cause is what may be wrong. Signs count for or against each cause, in log-odds that are added up: +2.3 makes a cause
ten times as likely, -2.3 a tenth as likely. The probabilities of all causes of a run sum to 1, and `healthy` is one
of them. [How it thinks](how-it-thinks.md) has the details.

At the end of each page are the strongest signs. There are four kinds:

| sign | example | meaning |
|---|---|---|
| a finding | `loss-diverges`, `loss-diverges:early` | the rule fired; after the colon, what it says more precisely |
| no finding | `no loss-diverges` | the rule was evaluated and did not fire |
| a fact of the setup | `plain-sgd`, `no-warmup` | known from the log, the script or `--fact` |
| a grade | `rate far-high`, `batch tiny` | a number of the run on a scale: here the learning rate and the batch size |
""",
    "patterns": """
# Patterns

Harmless shapes of curves that a healthy run may show.
""",
    "fixes": """
# Fixes

A fix is what to do about a cause. A *runtime* fix can be tried on the unmodified script from outside. A *patch* is
an edit of your code. *Advice* needs a person.
""",
}


def introduction(name: str) -> str:
    return INTRODUCTIONS[name].strip() + "\n"


def row(*cells: object) -> str:
    """One line of a Markdown table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "\n".join([row(*heads), row(*["---"] * len(heads)), *(row(*cells) for cells in rows)])


def signals() -> str:
    rows = [
        (f"`{s.name}`", s.meaning, s.unit or "–", {"none": "–"}.get(s.direction, s.direction))
        for s in SIGNALS
    ]
    return introduction("signals") + "\n" + table(("signal", "meaning", "unit", "better"), rows)


def plain(number: float) -> str:
    return f"{number:g}"


def threshold_rows() -> list[tuple[str, str, Threshold]]:
    return [(rule.slug, name, value) for rule in catalogue() for name, value in rule.thresholds.items()]


def sensitivity(effect: Effect | None, changes: Changes | None, value: float) -> str:
    """How many runs, or else samples, a threshold decides at half or at double its value."""
    if effect is None or changes is None:
        return "not measured"
    if value == 0:
        return "–"
    if not effect.judged:
        return f"{changes.samples} of {effect.samples} samples"
    return f"{changes.outcomes} of {effect.judged}" + (f" ({changes.verdicts})" if changes.verdicts else "")


def compare_scores(other: Score, now: Score) -> str:
    """Right verdicts, symptoms said and false statements gained or lost; "=" if none."""
    gained = (other.verdicts - now.verdicts, other.said - now.said, other.false - now.false)
    return ", ".join(f"{number:+d}" if number else "0" for number in gained) if any(gained) else "="


def deciding_thresholds(answers: Answers) -> str:
    """How the answers about labelled logs change with each threshold that decides a verdict."""
    rows = []
    for slug, name, t in threshold_rows():
        key = f"{slug}.{name}"
        if key in answers.half:
            cells = [compare_scores(scores[key], answers.now) for scores in (answers.half, answers.double)]
            rows.append((f"[{slug}](rules.md#{slug})", f"`{name}`", plain(t), t.basis, *cells))
    now = answers.now
    counts = {"LOGS": answers.logs, "VERDICTS": now.verdicts, "SAID": now.said, "FALSE": now.false}
    beginning = introduction("deciding")
    for word, count in counts.items():
        beginning = beginning.replace(word, str(count))
    return beginning + "\n" + table(("rule", "threshold", "value", "basis", "at half", "at double"), rows)


def thresholds() -> str:
    results = saved()
    rows = []
    for slug, name, t in threshold_rows():
        effect = results.effects.get(f"{slug}.{name}")
        half, double = (effect.half, effect.double) if effect else (None, None)
        cells = (sensitivity(effect, half, t), sensitivity(effect, double, t))
        rows.append((f"[{slug}](rules.md#{slug})", f"`{name}`", plain(t), t.unit, t.basis, t.source, *cells))
    slug, name, value = threshold_rows()[0]
    example = f"```toml\n[tool.traindx.thresholds]\n{slug}.{name} = {plain(value)}\n```\n"
    listed = table(("rule", "threshold", "value", "unit", "basis", "source", "at half", "at double"), rows)
    beginning = introduction("thresholds").replace("RUNS", str(results.runs))
    return "\n".join([beginning, example, listed, "\n" + deciding_thresholds(saved_answers())])


def rules() -> str:
    pages = rule_pages()
    parts = [
        introduction("rules"),
        table(
            ("code", "rule", "what it sees", "severity"),
            [(p.code, f"[{p.slug}](#{p.slug})", p.title, p.facts["severity"]) for p in pages],
        ),
    ]
    for family in dict.fromkeys(p.code[:3] for p in pages):
        parts.append(f"\n## {family}: {FAMILIES[family]}")
        parts += [section(page, f"{page.code}. ") for page in pages if page.code.startswith(family)]
    return "\n".join(parts)


def causes() -> str:
    pages = cause_pages()
    parts = [
        introduction("causes"),
        table(
            ("cause", "what is wrong", "family"),
            [(f"[{p.slug}](#{p.slug})", p.title, p.facts["family"]) for p in pages],
        ),
        *(section(page) for page in pages),
        "\n" + introduction("patterns"),
        *(section(page) for page in pattern_pages()),
    ]
    return "\n".join(parts)


def fixes() -> str:
    pages = fix_pages()
    parts = [
        introduction("fixes"),
        table(
            ("fix", "what to do", "applicability"),
            [(f"[{p.slug}](#{p.slug})", p.title, p.facts["applicability"]) for p in pages],
        ),
        *(section(page) for page in pages),
    ]
    return "\n".join(parts)


def section(page: Page, before: str = "") -> str:
    """One page under a heading that links can name."""
    parts = [f"\n### {page.slug}\n", before + page.title + "\n"]
    for title, text in sections(page.text):
        gap = "\n\n" if text.startswith("- ") else " "  # a list begins on a line of its own
        parts.append((f"**{title}.**{gap}" if title else "") + text + "\n")
    links = {
        tie: ", ".join(linked(page.kind, tie, slug) for slug in slugs) for tie, slugs in page.links.items()
    }
    parts += [
        f"- {name[0].upper()}{name[1:]}: {value}" for name, value in {**page.facts, **links}.items() if value
    ]
    return "\n".join(parts)


def linked(kind: str, tie: str, slug: str) -> str:
    """A link to the page of a slug; which file it is in follows from what ties it to this page."""
    target = {
        "counts for or against": "cause",
        "may follow from": "rule",
        "rules that count": "rule",
        "fixes": "fix",
        "for": "cause",
    }[tie]
    home = "" if HOME[target] == HOME[kind] else HOME[target]
    return f"[{slug}]({home}#{slug})"
