"""The user's project as an edit sees it: the texts of its files, the script, and the recorded facts.

Its sources are limited in length and nesting: LibCST's parser overflows its stack and ends the process at a
few thousand open brackets, and it spends about a tenth of a millisecond on each token."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import libcst as cst

from traindx.lab.edits.source import BOM, Found, NotCertain, Source, dotted_name
from traindx.vocabulary import Fact
from traindx.vocabulary.edit import Patch

CONFIGS = (".yaml", ".yml", ".json", ".toml")


class Project:
    """`files`: texts by path, with slashes, from the project's folder; `script`: the path of what is run;
    `arguments`: what follows it on the command line; `facts`: a recording's setup, its fields and free facts
    in one mapping ("lr", "where/step" ...)."""

    def __init__(
        self,
        files: Mapping[str, str],
        script: str,
        arguments: Sequence[str] = (),
        facts: Mapping[str, Fact] = {},
    ) -> None:
        self.files, self.script = dict(files), script
        self.arguments, self.facts = tuple(arguments), dict(facts)
        self.words: list[str] = []
        self.configs: dict[str, str] = {}  # edited configuration files

    @cached_property
    def sources(self) -> list[Source]:
        """The script, and the project's files that it imports, directly or not."""
        found: dict[str, Source] = {}
        todo = [self.script]
        while todo:
            path = todo.pop(0)
            if path in found or path not in self.files:
                continue
            found[path] = self.parsed(path)
            todo += [other for name in imported_names(found[path]) if (other := self.file_of(name, path))]
        return list(found.values())

    def parsed(self, path: str) -> Source:
        if why := refusal(self.files[path]):
            raise NotCertain("(nothing)", f"{why}, so it is left unchanged", path)
        try:
            return Source(path, self.files[path], self.words)
        except cst.ParserSyntaxError as error:
            raise NotCertain("(nothing)", f"the file is not valid Python: {error.message}", path) from error

    def calls(self, *names: str) -> list[Found]:
        """The calls of functions with one of these full names, in all sources; all calls without a name."""
        return [Found(source, call) for source in self.sources for call in source.calls(*names)]

    def methods(self, *names: str) -> list[Found]:
        """The calls `something.name(...)` in all sources."""
        return [Found(source, call) for source in self.sources for call in source.methods(*names)]

    @property
    def main(self) -> Source:
        if self.script not in self.files:
            raise NotCertain("(nothing)", f"{self.script} is not a file of the project")
        return self.sources[0]

    def doubt(self, write: str, why: str, at: Found | None = None) -> NotCertain:
        """That an edit is not certain: for the call `at`, where there is one, else for the script."""
        return NotCertain(write, why, self.script) if at is None else at.doubt(write, why)

    def file_of(self, module: str, importer: str) -> str:
        """The project's file that a module's name refers to: next to the script, next to the importer, or at
        the top level. "" for packages from elsewhere."""
        level = len(module) - len(module.lstrip("."))
        tail = module.lstrip(".").replace(".", "/")
        here = posixpath.dirname(importer)
        for _ in range(level - 1):
            here = posixpath.dirname(here)
        for home in [here] if level else [posixpath.dirname(self.script), here, "", "src"]:
            stem = posixpath.join(home, tail) if tail else home
            for path in (f"{stem}.py", posixpath.join(stem, "__init__.py")):
                if path in self.files:
                    return path
        return ""

    def place(self, fact: str) -> tuple[Source, int] | None:
        """A place that was recorded ("where/step"), as a source and a line."""
        name, _, line = str(self.facts.get(f"where/{fact}", "")).rpartition(":")
        if not line.isdigit():
            return None
        base = posixpath.basename(name)
        fitting = [s for s in self.sources if s.path == name or posixpath.basename(s.path) == base]
        return (fitting[0], int(line)) if len(fitting) == 1 else None

    def number(self, fact: str) -> float | None:
        value = self.facts.get(fact)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def say(self, source: Source | str, line: int, what: str) -> None:
        """Say what was changed, where that is not said of a node of a source (`Source.say`)."""
        path = source if isinstance(source, str) else source.path
        self.words.append(f"{path}:{line}: {what}" if line else f"{path}: {what}")

    def patch(self) -> Patch:
        """What changed. Raises NotCertain where a changed file would be no valid Python."""
        after = {s.path: s.edited for s in self.sources} | self.configs
        changed = {path: text for path, text in sorted(after.items()) if text != self.files[path]}
        for path, text in changed.items():
            if path.endswith(".py"):
                try:
                    compile(text.removeprefix(BOM), path, "exec", dont_inherit=True)
                except SyntaxError as error:
                    raise NotCertain(
                        "; ".join(self.words),
                        f"the edit would leave invalid Python at line {error.lineno}",
                        path,
                    ) from error
        return Patch(before={p: self.files[p] for p in changed}, after=changed, words=tuple(self.words))


def imported_names(source: Source) -> list[str]:
    """The names of all modules that a file imports. `from a import b` gives "a" and "a.b"."""
    names: list[str] = []
    for statement in source.all(cst.Import):
        names += [dotted_name(alias.name) for alias in statement.names]
    for found in source.all(cst.ImportFrom):
        base = "." * len(found.relative) + (dotted_name(found.module) if found.module else "")
        names.append(base)
        if not isinstance(found.names, cst.ImportStar):
            joint = "" if base.endswith(".") else "."
            names += [f"{base}{joint}{dotted_name(alias.name)}" for alias in found.names]
    return names


MOST_TOKENS = 50_000  # about 5,000 lines of a script, or 5 s of parsing
DEEPEST = 200  # expressions inside one another; Python itself takes no more brackets
STRING = r"\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
TOKEN = re.compile(rf"(?P<comment>\#[^\n]*|\\\r?\n)|{STRING}|\w+|\n|[^\s\w]", re.DOTALL)
WORDS = frozenset({"not", "and", "or", "in", "is", "if", "else", "for", "lambda", "await", "yield"})


def refusal(text: str) -> str:
    """Why a source is too long or too deeply nested to be parsed, "" where it is not.

    An operator makes an expression one deeper until the comma or the line that ends it (`1 + 1 + 1` is
    nested as well)."""
    counts, depth, number = [0], 0, 0  # operators so far in each open bracket, and in all of them
    for match in TOKEN.finditer(text):
        token = match[0]
        number += match["comment"] is None
        if number > MOST_TOKENS:
            return f"the file has more than {MOST_TOKENS} tokens"
        if token in ("(", "[", "{"):
            counts[-1] += 1
            counts.append(0)
            depth += 1
        elif token in (")", "]", "}"):
            if len(counts) > 1:
                depth -= counts.pop()
        elif token == "," or (token == "\n" and len(counts) == 1):
            depth -= counts[-1]
            counts[-1] = 0
        elif token in WORDS or (len(token) == 1 and not token.isalnum() and token not in "_\n:;@"):
            counts[-1] += 1
            depth += 1
        if depth > DEEPEST:
            return f"an expression in the file is more than {DEEPEST} deep"
    return ""
