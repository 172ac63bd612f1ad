"""Edits of the user's source: an intervention that has been proven from outside, written into the project.

An edit is certain or it is not made. Then it becomes advice (file, line, what to write). It changes only
what it must; comments and formatting stay. The same edit a second time changes nothing. Each `Kind` in a
module of `kinds/<subject>/` (the folders are walked) declares which interventions, and which fixes
without one, it writes."""

import importlib
import re
from collections.abc import Mapping, Sequence
from functools import cache

from traindx.capture.interventions.parsing import parse_one
from traindx.errors import ConfigError, MissingExtra
from traindx.installed import modules_of
from traindx.lab.edits.kind import Kind
from traindx.vocabulary import Fact
from traindx.vocabulary.edit import Advice, Patch

IMPORTS_JAX = re.compile(r"^\s*(?:import|from) (?:jax|optax|flax)\b", re.MULTILINE)
IMPORTS_OTHERS = re.compile(
    r"^\s*(?:import|from) (?:torch|keras|tensorflow|lightning|transformers)\b", re.MULTILINE
)


@cache
def catalogue() -> tuple[Kind, ...]:
    """All kinds of edits, by name. Raises MissingExtra where LibCST is not installed."""
    from traindx.lab.edits import kinds as home

    names = sorted(modules_of(home.__name__, home.__path__, families=True))
    values = (value for name in names for value in vars(importlib.import_module(name)).values())
    return tuple(value for value in values if isinstance(value, Kind))


def kind_of(fix: str, intervention: str) -> Kind | None:
    """The kind of edit that writes an intervention ("lr=*0.1"), or a fix (a slug) without one."""
    name = intervention.partition("=")[0]
    return next((k for k in catalogue() if (name in k.interventions if name else fix in k.fixes)), None)


def edit(
    files: Mapping[str, str],
    script: str,
    fix: str,
    interventions: Sequence[str] = (),
    *,
    arguments: Sequence[str] = (),
    facts: Mapping[str, Fact] = {},
) -> Patch | Advice:
    """Write a fix into a project: its interventions, one after the other, or the fix itself where it has
    none.

    `files`: the project's texts (Python, YAML, JSON, TOML) by path with slashes; `script`: the path of
    the script that is run, `arguments` those after it in the command; `facts`: the setup of a recording
    of the *unedited* script, which the source must agree with. All or nothing: one uncertain change makes
    it advice. Raises MissingExtra where LibCST (or, for YAML, its parser) is not installed."""
    try:
        from traindx.lab.edits.project import Project
        from traindx.lab.edits.source import NotCertain
    except ImportError as error:
        raise MissingExtra("to edit scripts: pip install 'traindx[fix]'") from error
    now, words = dict(files), tuple[str, ...]()
    for intervention in interventions or ("",):
        kind = kind_of(fix, intervention)
        if kind is None:
            return Advice(
                file="", line=0, write=intervention or fix, why="no edit of the source is known for it"
            )
        text = intervention.partition("=")[2]
        try:
            value = text if kind.as_text or not text else parse_one(intervention).value
            project = Project(now, script, arguments, facts)
            kind.edit(project, value)
            patch = project.patch()
        except ConfigError as error:
            return Advice(file=script, line=0, write=intervention, why=str(error))
        except NotCertain as doubt:
            return doubt.advice if doubt.advice.line else without_torch(doubt.advice, now)
        except RecursionError:  # many nested statements, such as hundreds of `elif`
            why = "its source is nested too deeply to be edited with certainty"
            return Advice(file=script, line=0, write=intervention or fix, why=why)
        now, words = {**now, **patch.after}, (*words, *patch.words)
    changed = {path: text for path, text in now.items() if text != files[path]}
    return Patch(before={path: files[path] for path in changed}, after=changed, words=words)


def without_torch(advice: Advice, files: Mapping[str, str]) -> Advice:
    """The advice of a search through the sources that found nothing. In a script of JAX, it looked for calls of
    PyTorch, and what it missed is no news."""
    texts = "\n".join(text for path, text in files.items() if path.endswith(".py"))
    if not IMPORTS_JAX.search(texts) or IMPORTS_OTHERS.search(texts):
        return advice
    return Advice(file="", line=0, write=advice.write, why="this edit of the source is not known for JAX")


__all__ = ["Advice", "MissingExtra", "Patch", "catalogue", "edit", "kind_of"]
