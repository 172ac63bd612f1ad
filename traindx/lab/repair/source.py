"""The user's source, with fixes written into it: what is tried where there is no intervention, and what is
returned in the end.

A fix that is tried in the source is `source=<slug>` among the interventions of an arm, an intervention that is written
there and not made from outside is `source=batch=*0.25`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from traindx.errors import MissingExtra
from traindx.fixes import find
from traindx.lab.conduct.environment import script_of
from traindx.lab.edits import Advice, Patch, configs, edit
from traindx.lab.edits.files import read_tree
from traindx.lab.plan import MARK
from traindx.lab.repair.deadline import OutOfTime, at_most
from traindx.vocabulary import FACT_FIELDS, Fact, Setup

THERE = "the source does this already"
CONFIGS = (".yaml", ".yml", ".json", ".toml")
LONGEST = 20.0  # seconds for one edit; a usual one takes less than one


class Source:
    """The project in `folder`, whose script a command runs. `why` says what prevents edits, or ""."""

    def __init__(self, command: Sequence[str], folder: Path, setup: Setup) -> None:
        self.folder, self.why = folder, ""
        self.reasons: dict[str, str] = {}  # what `can` found, by fix
        fields = {name: value for name in FACT_FIELDS if (value := getattr(setup, name)) is not None}
        self.facts: dict[str, Fact] = {**setup.facts, **fields}
        script = script_of(command, folder)
        if script is None or not script.resolve().is_relative_to(folder.resolve()):
            self.files: dict[str, str] = {}
            self.why = "the command names no Python file in this folder"
            return
        self.files = read_tree(folder)
        self.script = script.relative_to(folder).as_posix()
        place = next((i for i, word in enumerate(command) if word.endswith(".py")), len(command))
        self.arguments = tuple(command[place + 1 :])

    def patch_for(self, fixes: Sequence[str], interventions: Sequence[str]) -> Patch | Advice:
        """The project with `interventions`, some of them `source=<slug>`, written into it for the
        `fixes`."""
        if not self.why:
            try:
                with at_most(LONGEST, 1.0):
                    return self.edit(fixes, interventions)
            except OutOfTime:
                self.why = f"finding an edit took longer than {LONGEST:.0f} s"
            except (RecursionError, MemoryError):
                self.why = "a file of the project is nested too deeply to be edited"
        return Advice(file="", line=0, write=" ".join(interventions), why=self.why)

    def mentions(self, word: str) -> bool:
        """Whether a text of the project has this word, in any case; True where the project is unknown."""
        return bool(self.why) or any(word in text.lower() for text in self.files.values())

    def unread(self) -> list[str]:
        """A note for each configuration that the sources or the command name but that cannot be edited."""
        if self.why:
            return []
        named = "\n".join(
            [*self.arguments, *(text for path, text in self.files.items() if path.endswith(".py"))]
        )
        notes = []
        for path, text in self.files.items():
            if path.endswith(CONFIGS) and path.rpartition("/")[2] in named:
                try:
                    with at_most(LONGEST, 1.0):
                        why = configs.read(path, text).why
                except OutOfTime:
                    why = f"reading it took longer than {LONGEST:.0f} s"
                except MissingExtra:
                    continue  # an edit that needs it says so
                if why:
                    notes.append(f"{path} is not read or changed: {why}")
        return notes

    def edit(self, fixes: Sequence[str], interventions: Sequence[str]) -> Patch | Advice:
        """As `written`, without a time limit."""
        now, words = dict(self.files), tuple[str, ...]()
        for spec in interventions:
            what = spec.removeprefix(MARK)
            slug, given = (fix_behind(what, fixes), (what,)) if "=" in what else (what, ())
            try:
                found = edit(now, self.script, slug, given, arguments=self.arguments, facts=self.facts)
            except MissingExtra as error:
                return Advice(file="", line=0, write=spec, why=str(error))
            if isinstance(found, Advice):
                return found
            now, words = {**now, **found.after}, (*words, *found.words)
        changed = {path: text for path, text in now.items() if text != self.files[path]}
        return Patch(before={path: self.files[path] for path in changed}, after=changed, words=words)

    def edited(self, interventions: Sequence[str]) -> Mapping[str, str]:
        """The changed files for the fixes among `interventions` that are tried in the source."""
        marked = [spec for spec in interventions if spec.startswith(MARK)]
        found = self.patch_for((), marked) if marked else None
        return found.after if isinstance(found, Patch) else {}

    def can(self, fix: str) -> str:
        """Empty where a fix without an intervention, or an intervention, can be written into the source, else the
        reason."""
        if fix not in self.reasons:
            found = self.patch_for((), (f"{MARK}{fix}",))
            if isinstance(found, Advice):
                self.reasons[fix] = (
                    f"{found.place}: {found.write} ({found.why})" if found.place else found.why
                )
            else:
                self.reasons[fix] = "" if found.after else THERE
        return self.reasons[fix]


def fix_behind(spec: str, fixes: Sequence[str]) -> str:
    """The fix that an intervention belongs to, by its name."""
    name = spec.partition("=")[0]
    for slug in fixes:
        fix = find(slug)
        if fix is not None and any(s.partition("=")[0] == name for s in fix.interventions):
            return slug
    return fixes[0] if fixes else ""


def outside_interventions(interventions: Sequence[str]) -> tuple[str, ...]:
    """The interventions that are applied from outside. To stop early is to make so many steps."""
    return tuple(spec.replace("stop=", "steps=") for spec in interventions if not spec.startswith(MARK))
