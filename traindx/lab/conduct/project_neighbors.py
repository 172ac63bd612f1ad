"""The neighbors of a project, in its copy.

The nearest parents are recreated, with links to what else is in them, so that `../data/train.csv` is
found. That takes a link for every neighbor at every start, so it is only done if the project, or the
command, refers to paths outside."""

import contextlib
import os
import re
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

PARENTS, NEIGHBORS = 3, 2000  # parents that are recreated, and entries of each that are linked
# What a text holds that gets to the folder above: `..` as a part of a path, and the functions that find it.
UP = re.compile(
    rb"(?<![.\w])\.\.(?![.\w])|parent|pardir|dirname|path\.(?:r?split|relpath|commonp)|\.parts\b|chdir|getcwd"
)
TEXTS = (".py", ".pyi", ".ipynb", ".sh", ".yaml", ".yml", ".json", ".jsonl", ".toml", ".cfg", ".ini",
         ".conf", ".gin",
         ".env", ".txt", ".lst", ".list", ".csv", ".tsv", ".xml", ".md", "")  # fmt: skip
MOST_TEXTS, READ = 500, 1 << 20  # texts that are read, and bytes of each; with more it is taken to lead out


def refers_outside(root: Path, words: Sequence[str], passed_over: Callable[[Path], bool]) -> bool:
    """Whether a text of the project `root` (except in folders that are `passed_over`), or one of some words
    (a command, a search path), may name something outside of the project, or starts a program outside of
    it."""
    if "-m" in words or any(UP.search(os.fsencode(word)) or is_outside_text(word, root) for word in words):
        return True
    waiting, texts = deque([root]), 0
    while waiting:
        try:
            entries = list(os.scandir(waiting.popleft()))
        except OSError:
            return True  # gone or closed: what is in it is not known
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not passed_over(Path(entry.path)):
                    waiting.append(Path(entry.path))
            elif is_text(entry):
                texts += 1
                if texts > MOST_TEXTS or names_above(entry.path):
                    return True
    return False


def is_text(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file, or a link to one, that may hold paths."""
    try:
        return os.path.splitext(entry.name)[1].lower() in TEXTS and entry.is_file()
    except OSError:  # a link to itself
        return False


def is_outside_text(word: str, root: Path) -> bool:
    """Whether a word is the path of a text outside of the project."""
    outside = os.path.isabs(word) and not word.startswith(os.path.join(root, ""))
    return outside and os.path.splitext(word)[1] in TEXTS[:-1] and os.path.isfile(word)


def names_above(path: str) -> bool:
    """Whether the beginning of a file has one of UP; also where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return UP.search(file.read(READ)) is not None
    except OSError:
        return True


def imitate(root: Path, tree: Path, linked: bool, left_out: Callable[[str], bool]) -> Path:
    """The parents of `root` in `tree`, with the place for the copy of `root`. If `linked`, they hold links
    to what else is in them, except for names that are left out (`left_out`)."""
    parents = [p for p in list(root.parents)[:PARENTS] if p != p.parent]
    here = tree
    for parent, below in zip(reversed(parents), [*reversed(parents[:-1]), root], strict=True):
        here = here / (parent.name or "root")
        if linked:
            link_entries(parent, here, lambda name, below=below.name: name == below or left_out(name))  # type: ignore[misc]
    return here / (root.name or "root")


def link_entries(source: Path, target: Path, left_out: Callable[[str], bool]) -> None:
    """Make `target`, with a link to everything in `source` but for names that are left out."""
    target.mkdir(parents=True, exist_ok=True)
    with (
        contextlib.suppress(OSError),
        os.scandir(source) as entries,
    ):  # no such home, or one that cannot be read
        for entry, _ in zip(entries, range(NEIGHBORS), strict=False):
            if not left_out(entry.name):
                os.symlink(entry.path, target / entry.name)
