"""The folder of a proof: what lies there, and going on with one that was stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from traindx.capture.launch.folder import run_folder, script_name
from traindx.errors import ConfigError
from traindx.redaction import redact
from traindx.repair.bench import Bench
from traindx.repair.document import Proof
from traindx.repair.returned import swept
from traindx.repair.search import Options
from traindx.reports import fix as page
from traindx.trials.environment import script_of
from traindx.trials.journal import Journal, about, unfinished
from traindx.whole import make_folder

DONE = "fix.json"


def opened(command: Sequence[str], base: Path, name: str | None, options: Options) -> Journal:
    """The diary to write into: of the folder `name`, or of the newest that was stopped in the middle, or a new one.
    Raises ConfigError where it cannot be made."""
    here = Path.cwd()
    what = about(
        command, script_of(command, here), steps=options.steps, seeds=options.seeds, metric=options.metric,
        min_effect=options.min_effect,
    )  # fmt: skip
    if name is not None:
        folder = Path(name)
        try:
            make_folder(folder)
        except OSError as error:
            raise ConfigError(f"--out {name}: cannot be made: {error.strerror}") from error
    else:
        folder = unfinished(base, script_name(command), what, DONE) or run_folder(command, base)
    return Journal(folder, what)


def written(proof: Proof, folder: Path, bench: Bench) -> None:
    """Write the report in all its forms; fix.json last, whose presence says that the proof is finished."""
    report = proof.report
    (folder / "diagnosis.json").write_text(page.diagnosis_json(report), encoding="utf-8")
    (folder / "report.md").write_text(page.markdown(report), encoding="utf-8")
    (folder / "report.html").write_text(page.html(report), encoding="utf-8")
    (folder / "optimization_recommendations.md").write_text(page.recommendations(report), encoding="utf-8")
    (folder / "environment.txt").write_text(environment(proof, bench), encoding="utf-8")
    if proof.after:
        from traindx.reports import figures_fix

        figures_fix.save(report, proof.before, proof.after, folder)
    swept(bench)
    (folder / DONE).write_text(page.to_json(report), encoding="utf-8")


def environment(proof: Proof, bench: Bench) -> str:
    """Versions, seeds, hardware and the command, one to a line."""
    import os
    import platform
    import shlex

    facts = proof.before[0].setup.facts if proof.before else {}
    versions = {n.partition("/")[2]: v for n, v in facts.items() if n.startswith("versions/")}
    seeds = sorted({s for t in proof.report.trials for s in t.seeds})
    lines = [
        f"command: {shlex.join(redact(bench.command))}",
        f"folder: {Path.cwd().name}",
        f"python: {versions.get('python', sys.version.split()[0])}",
        *(f"{name}: {version}" for name, version in sorted(versions.items()) if name != "python"),
        f"system: {platform.system()} {platform.release()} {platform.machine()}",
        f"processors: {os.cpu_count()}",
        f"device: {proof.before[0].setup.device if proof.before else None}",
        f"seeds: {json.dumps(seeds)}",
        f"steps of each trial: {proof.report.steps or 'all'}",
    ]
    return "\n".join(lines) + "\n"
