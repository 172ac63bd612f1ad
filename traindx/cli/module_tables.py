"""What `gradients` and `activations` share: reading, the limits of healthy, the forms, the exit status."""

from collections.abc import Callable

from traindx import pipeline, rules
from traindx.cli.api import (
    READING_OPTIONS,
    Config,
    Output,
    ReadError,
    click,
    emit,
    figures_in,
    note,
    plain_output_options,
    resolve_config,
    severity_option,
    stdout_width,
    with_resolved_options,
)
from traindx.cli.diagnosis_output import status_of
from traindx.features.per_module.flags import Limits
from traindx.features.per_module.table import Kind, ModuleTable, table
from traindx.rules.findings import findings
from traindx.vocabulary import Finding, Run

# The limits of healthy come from the rules, so that both agree: (slug, threshold) for each limit.
LIMITS = {
    "vanishing": ("gradients-vanish-with-depth", "ratio"),
    "deep": ("gradients-vanish-with-depth", "deep"),
    "imbalanced": ("gradients-imbalanced", "ratio"),
    "leap": ("gradient-norm-explodes", "alone"),
    "rows": ("parameters-never-change", "rows"),
    "update_large": ("updates-too-large", "usual"),
    "update_small": ("updates-too-small", "ratio"),
    "grown": ("weights-grow-unbounded", "factor"),
    "shrunk": ("weights-collapse", "left"),
    "silent": ("relu-units-dead", "dead"),
    "saturated": ("activations-saturate", "share"),
    "rank": ("activations-collapse", "rank"),
    "explodes": ("weights-start-badly-scaled", "up"),
    "dies_out": ("weights-start-badly-scaled", "down"),
}
# The rules whose findings are shown below each table.
ASKED: dict[Kind, tuple[str, ...]] = {
    "gradients": ("GRD", "WGT001", "WGT002", "WGT003", "WGT004", "WGT005"),
    "activations": ("ACT", "WGT006"),
}


def resolve_table_config(config_file: str | None, aliases: tuple[str, ...], severity: str | None) -> Config:
    """The settings of a verb that shows a table."""
    return resolve_config(config_file, severity=severity, aliases=aliases)


FIGURES = click.option("--figures", metavar="DIR", help="Also draw the figure as a PNG file into DIR.")
given_options = with_resolved_options(
    "config", resolve_table_config, (FIGURES, severity_option, *READING_OPTIONS)
)


def table_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a verb its options; it receives `out`, `config` and `figures`."""
    return plain_output_options(given_options(command))


def limits(config: Config | None = None) -> Limits:
    """The thresholds of the rules, with those that the settings change."""
    defaults = {rule.slug: rule.thresholds for rule in rules.catalogue()}
    given = (config or Config()).thresholds
    chosen = {
        name: given.get(slug, {}).get(key, defaults[slug][key]) for name, (slug, key) in LIMITS.items()
    }
    return Limits(**{name: float(value) for name, value in chosen.items()})


def show(path: str, kind: Kind, config: Config, out: Output, figures: str | None) -> int:
    """Read, print, draw; the exit status."""
    from traindx.reports.documents import modules

    healthy = limits(config)
    runs = pipeline.read_all(path, mapping=config.aliases)
    made = [(run, table(run, kind, healthy)) for run in runs]
    shown = [(found, module_findings(run, kind, config)) for run, found in made if found is not None]
    if not shown:
        raise without_modules(path, kind, runs)
    for run, found in made:
        if found is None:
            note(f"{run.id}: no {kind} by module were recorded", out.quiet)
    emit(modules.render(shown, out.format, width=stdout_width(), color=out.color), out.path)
    if figures is not None:
        draw([found for found, _ in shown], figures, quiet=out.quiet)
    return status_of((finding for _, several in shown for finding in several), config)


def module_findings(run: Run, kind: Kind, config: Config) -> tuple[Finding, ...]:
    """What the rules on these signals find in the run."""
    return findings(pipeline.judge(run, config.override(select=ASKED[kind])), run)


def without_modules(path: str, kind: Kind, runs: tuple[Run, ...]) -> ReadError:
    """Why there is no table, and what to do."""
    other: Kind = "activations" if kind == "gradients" else "gradients"
    blank = Limits(**dict.fromkeys(LIMITS, 0.0))
    if any(table(run, other, blank) is not None for run in runs):
        return ReadError(
            path, f"has {other} by module, but no {kind}", hint=f"traindx {other} {path} shows those"
        )
    return ReadError(
        path,
        f"has no {kind} by module; few logs have",
        hint="record the training: traindx run -- python train.py, or traindx.watch(model, optimizer) in its loop",
    )


def draw(tables: list[ModuleTable], directory: str, *, quiet: bool) -> None:
    """The figure of every run. Raises ConfigError when the folder cannot be written."""
    from traindx.reports.figures import modules as figures

    with figures_in(directory) as folder:
        for i, found in enumerate(tables, 1):
            path = figures.save(found, folder, prefix=f"{i}-" if len(tables) > 1 else "")
            note(f"drawn: {path}", quiet)
