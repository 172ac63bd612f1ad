"""A diagnosis as a verb hands it out: its document, its figures and its exit status."""

from collections.abc import Iterable

from traindx import pipeline
from traindx.cli.options import Output
from traindx.cli.streams import figures_in, note, stdout_width
from traindx.config import Config
from traindx.reports.forms import write_form
from traindx.vocabulary import SEVERITIES, Finding, Severity

# What a verdict weighs where no finding carries it: all signs together, or a script that ended with an error.
VERDICTS: dict[str, Severity] = {"failed": "critical", "sick": "medium"}


def render_diagnosis(diagnosis: pipeline.Diagnosis, out: Output, *, full: bool = False) -> str:
    """The document in the form asked for; `full` is for text, the others always hold everything."""
    return write_form(
        out.format,
        {
            "text": lambda: diagnosis.to_text(width=stdout_width(), color=out.color, full=full),
            "json": diagnosis.to_json,
            "markdown": diagnosis.to_markdown,
            "html": diagnosis.to_html,
        },
    )


def draw(diagnosis: pipeline.Diagnosis, directory: str, *, quiet: bool) -> None:
    """The PNG figures of every run. Raises ConfigError when the folder cannot be written."""
    from traindx.reports.figures import curves as figures

    pairs = list(zip(diagnosis.runs, diagnosis.document.runs, strict=True))
    prefixes = [f"{i}-" for i in range(1, len(pairs) + 1)] if len(pairs) > 1 else [""]
    with figures_in(directory) as folder:
        drawn = [
            path
            for prefix, (run, found) in zip(prefixes, pairs, strict=True)
            for path in figures.save(run, found, folder, prefix=prefix)
        ]
    note(f"{len(drawn)} figures in {directory}", quiet)


def status(diagnosis: pipeline.Diagnosis, config: Config) -> int:
    """0 or 1: whether any finding, or the verdict of a run, is at or above the severity asked for."""
    runs = diagnosis.document.runs
    verdicts = any(VERDICTS.get(run.health) in failing_severities(config) for run in runs)
    return int(verdicts or status_of((finding for run in runs for finding in run.findings), config))


def status_of(found: Iterable[Finding], config: Config) -> int:
    return int(any(finding.severity in failing_severities(config) for finding in found))


def failing_severities(config: Config) -> tuple[Severity, ...]:
    """The severities that make the exit status 1."""
    return SEVERITIES[: SEVERITIES.index(config.severity) + 1]
