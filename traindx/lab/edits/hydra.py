"""The configuration files that Hydra composes: the one that the script names, and those of its defaults list."""

import posixpath
from typing import Any

import libcst as cst

from traindx.lab.edits import configs
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import argument

STARTS = ("hydra.main", "hydra.compose")
OWN = ("_self_",)


def config_paths(project: Project) -> set[str]:
    """The paths of the configurations of a Hydra script; empty for other scripts."""
    found: set[str] = set()
    todo = [name for one in project.calls(*STARTS) for name in config_names(one.call)]
    chosen = dict(word.lstrip("+").split("=", 1) for word in project.arguments if "=" in word)
    while todo:
        stem = todo.pop()
        for path in project.files:
            if path in found or not is_at(path, stem):
                continue
            found.add(path)
            document = configs.read(path, project.files[path]).document
            below = document.get("defaults") if isinstance(document, dict) else None
            home = posixpath.dirname(path)
            todo += [posixpath.join(home, name) for name in defaults(below, chosen)]
    return found


def is_at(path: str, stem: str) -> bool:
    name, suffix = posixpath.splitext(path)
    return suffix in (".yaml", ".yml") and (name == stem or name.endswith(f"/{stem}"))


def config_names(call: cst.Call) -> list[str]:
    """What a call of Hydra starts from, without the suffix."""
    given = argument(call, "config_name")
    place = argument(call, "config_path")
    if given is None or not isinstance(given.value, cst.SimpleString):
        return []
    name = str(given.value.evaluated_value).removesuffix(".yaml")
    folder = place.value.evaluated_value if place and isinstance(place.value, cst.SimpleString) else ""
    return [posixpath.normpath(posixpath.join(str(folder), name)).lstrip("./")]


def defaults(listed: Any, chosen: dict[str, str]) -> list[str]:
    """The files of a defaults list (`- base`, `- optim: adam`), as the command line chooses them (`optim=sgd`)."""
    names: list[str] = []
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, str) and one not in OWN:
            names.append(one)
        elif isinstance(one, dict):
            for group, option in one.items():
                words = str(group).removeprefix("override ").removeprefix("optional ").partition("@")[0]
                names.append(f"{words}/{chosen.get(words, option)}")
    return names
