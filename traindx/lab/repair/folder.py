"""The folder of a proof: what is in it, and how an interrupted proof continues."""

import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from traindx.atomic_write import make_folder, name_folder_in_errors
from traindx.capture.launch.folder import run_folder, script_name
from traindx.errors import ConfigError
from traindx.lab.conduct.experiment import Reach
from traindx.lab.conduct.inputs import inputs
from traindx.lab.conduct.journal import Journal, about, find_unfinished, sentence
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.deliverables import remove_weights
from traindx.lab.repair.document import Proof
from traindx.lab.repair.options import Options
from traindx.locks import lock_holder, take_lock
from traindx.redaction import redact
from traindx.reports.documents import fix as page

DONE, LOCK = "fix.json", ".lock"


def opened(
    command: Sequence[str],
    base: Path,
    name: str | None,
    options: Options,
    reach: Reach,
    notify: Callable[[str], None] = lambda _: None,
    **further: Any,
) -> Journal:
    """The journal to write into: of the folder `name`, or of the newest interrupted proof, or a new one. It
    is locked while it is in use. `reach` and `further`: options of the starts. `notify` gets the reason why
    earlier work cannot continue. Raises ConfigError where the folder cannot be made, or is in use."""
    written = list(reach.get("writable", ()))  # the network is noted for each trial
    written_to = [*written, str(base if name is None else name)]
    now = partial(inputs, command, Path.cwd(), written_to)
    what = about(command, now(), **options._asdict(), **further, writable=written)
    folder = base if name is None else Path(name)
    try:
        make_folder(folder)
        with lock_choice(base if name is None else folder):
            if name is None:
                earlier = find_unfinished(base, script_name(command), what, DONE)
                folder, changed = earlier.folder or run_folder(command, base), earlier.changed
            lock = take_lock(folder / LOCK)
            journal = Journal(folder, what)
    except BlockingIOError:
        raise ConfigError(in_use(folder)) from None
    except OSError as error:
        if name is None:
            leave_nothing(folder)
        raise ConfigError(f"{folder}: cannot be made: {error.strerror}") from error
    journal.lock, journal.inputs_now = lock, now
    changed = journal.changed if name is not None else changed
    if changed:
        notify(f"{changed}; starting over")
    return journal


def leave_nothing(folder: Path) -> None:
    """Remove a new folder that could not be written to: on a full disk, empty files can still be made."""
    with suppress(OSError):
        if os.listdir(folder) == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
            folder.parent.rmdir()  # if it holds no other


def note_changed_inputs(journal: Journal) -> list[str]:
    """A note where something that the starts depend on changed while they ran."""
    changed = sentence(journal.about["inputs"], journal.inputs_now())
    return (
        [f"{changed.removesuffix(' since')} while the trials ran, so they may not be comparable"]
        if changed
        else []
    )


@contextmanager
def lock_choice(base: Path) -> Iterator[None]:
    """Let nobody else choose or lock a folder meanwhile: of two processes that start at once, one sees the
    other."""
    descriptor = os.open(base, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def in_use(folder: Path) -> str:
    """The message that another process is using a folder."""
    who = lock_holder(folder / LOCK)
    who = f" ({who})" if who else ""
    return f"another traindx{who} is at work in {folder}: wait for it, or give another folder (--out)"


def write_report(proof: Proof, folder: Path, bench: Bench) -> None:
    """Write the report in all its formats; fix.json comes last, because its presence marks a finished
    proof."""
    report = proof.report
    with name_folder_in_errors(folder):
        (folder / "diagnosis.json").write_text(page.diagnosis_json(report), encoding="utf-8")
        (folder / "report.md").write_text(page.markdown(report), encoding="utf-8")
        (folder / "optimization_recommendations.md").write_text(
            page.recommendations(report), encoding="utf-8"
        )
        (folder / "environment.txt").write_text(environment(proof, bench), encoding="utf-8")
        picture = b""
        if proof.after:
            from traindx.reports.figures import fix as figures

            picture = figures.save(report, proof.before, proof.after, folder).read_bytes()
        (folder / "report.html").write_text(page.html(report, picture), encoding="utf-8")
        remove_weights(bench)
        (folder / DONE).write_text(page.to_json(report), encoding="utf-8")


def environment(proof: Proof, bench: Bench) -> str:
    """Versions, seeds, hardware and the command, one to a line."""
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
