"""The report as one self-contained HTML page with zoomable charts."""

from traindx.features.comparisons.runs import without_common_folder
from traindx.reports import html_page as page, labels
from traindx.reports.diagnosis.brief import brief, cannot_tell
from traindx.reports.diagnosis.evidence_words import ABOUT, seen_slugs, term_words
from traindx.reports.digest import digest
from traindx.reports.documents import memory, profile
from traindx.reports.plots.curves import Chart, run_charts
from traindx.reports.plots.heat_maps import Heat, heat_data, heat_maps
from traindx.vocabulary import Document, Run, RunDiagnosis


def render(document: Document, runs: tuple[Run, ...] = ()) -> str:
    """The diagnosis as an HTML page. `runs` belongs to `document.runs` one by one and gives the
    curves to draw, or is empty."""
    curves: list[Run | None] = list(runs) if len(runs) == len(document.runs) else [None] * len(document.runs)
    charts: dict[str, list[Chart]] = {}
    heats: dict[str, tuple[Heat, ...]] = {}
    views = []
    names = without_common_folder([d.run.id for d in document.runs])
    for i, (diagnosis, run) in enumerate(zip(document.runs, curves, strict=True)):
        views.append(view(diagnosis, run, f"run{i}", names[i]))
        heats[f"run{i}"] = heat_maps(run) if run is not None else ()
        charts[f"run{i}"] = [] if run is None else list(run_charts(run, digest(diagnosis).findings))
    title = " ".join(labels.name(d.run.id, 40) for d in document.runs[:3]) or "no runs"
    painted = {key: [heat_data(h) for h in group] for key, group in heats.items() if group}
    content = {"title": title, "views": views, "heats": heats, "version": document.traindx_version}
    return page.build("diagnosis.html.j2", charts, painted, **content)


def view(diagnosis: RunDiagnosis, curves: Run | None, key: str, short: str) -> dict[str, object]:
    """What the template shows of one run with its curves; `short` is its name among the others."""
    run, contents = diagnosis.run, digest(diagnosis)
    fired = seen_slugs(diagnosis)
    return {
        "key": key,
        "run": run,
        "health": diagnosis.health,
        "first": brief(diagnosis, contents, curves),
        "silent": cannot_tell(diagnosis),
        "decision": diagnosis.decision,
        "sureness": labels.sureness_suffix(diagnosis.decision),
        "extent": labels.extent(run),
        "axis": labels.axis(run),
        "framework": labels.framework(run),
        "contents": contents,
        "short": short,
        "about_terms": ABOUT,
        "words": lambda term: term_words(term, fired),
        "since": lambda finding: labels.since_onset(run, finding.onset_step),
        "setup": setup_rows(run.setup),
        "trials": diagnosis.trials,
        "profile": profile_rows(diagnosis),
        "memory": memory_rows(diagnosis),
    }


def profile_rows(diagnosis: RunDiagnosis) -> dict[str, object] | None:
    """The tables of a traced step."""
    found = diagnosis.profile
    if found is None:
        return None
    tables = (("part", profile.parts(found)), ("operator", profile.operators(found)))
    return {
        "heading": profile.HEADING,
        "lead": profile.step_sentence(found),
        "tables": tables,
        "gaps": found.gaps,
    }


def memory_rows(diagnosis: RunDiagnosis) -> dict[str, object] | None:
    """The tables of a step's memory."""
    found = diagnosis.memory
    if found is None:
        return None
    tables = (("kind", memory.needs(found)), ("instead", memory.options(found)))
    return {
        "heading": memory.HEADING,
        "lead": memory.peak_sentence(found),
        "tables": tables,
        "line": memory.line(found),
    }


def setup_rows(setup: dict[str, object]) -> list[tuple[str, object, str]]:
    """(fact, value, where it came from) for what is known about the setup."""
    origins = setup.get("origins")
    origin = origins if isinstance(origins, dict) else {}
    free = setup.get("facts")
    known = {k: v for k, v in setup.items() if k not in ("facts", "origins")}
    known |= free if isinstance(free, dict) else {}
    return [(k, labels.number(v), str(origin.get(k, ""))) for k, v in known.items()]
