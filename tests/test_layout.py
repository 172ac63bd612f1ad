"""The house rules that a program can check: sizes, names, floors, and what no file may hold."""

from __future__ import annotations

import ast
import statistics
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import traindx

ROOT = Path(__file__).parents[1]
PACKAGE = sorted((ROOT / "traindx").rglob("*.py"))
TOPS = ("traindx", "tests", "docs", "benchmarks", "examples")
PROGRAM_FILES = ROOT / "benchmarks/programs"  # trained, not read: data of the benchmarks
EVERYTHING = sorted(
    path for top in TOPS for path in (ROOT / top).rglob("*.py") if PROGRAM_FILES not in path.parents
)
MAX_FILE, MAX_FUNCTION, MAX_MEDIAN = 400, 40, 120
PURE = ("vocabulary", "features", "rules", "causes")

PUBLIC = (
    "Config", "ConfigError", "Diagnosis", "MissingExtra", "NotALog", "ReadError", "Run", "Series", "TraindxError",
    "check", "check_data", "diagnose", "read", "read_all", "watch",
)  # fmt: skip


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function with its lines, from `def` to the end, without the docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = node.body[:1] if ast.get_docstring(node) else []
            yield node.name, extent(node) - sum(map(extent, docstring))


def extent(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_file_is_long() -> None:
    assert [f"{name(p)}: {lines(p)}" for p in EVERYTHING if lines(p) > MAX_FILE] == []


def test_no_function_is_long() -> None:
    long = [f"{name(p)}:{f} {n}" for p in EVERYTHING for f, n in functions(p) if n > MAX_FUNCTION]
    assert long == []


def test_the_usual_file_is_short() -> None:
    sizes = [lines(p) for p in PACKAGE if p.name != "__init__.py"]
    assert statistics.median(sizes) < MAX_MEDIAN


def test_no_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "base"}
    assert [name(p) for p in PACKAGE if {p.stem, p.parent.name} & drawers] == []


def test_every_top_level_module_has_a_floor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = next(c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    placed = {module.strip() for layer in floors["layers"] for module in layer.split("|")}
    there = {p.stem for p in (ROOT / "traindx").glob("*.py") if p.stem != "__init__"}
    there |= {p.parent.name for p in (ROOT / "traindx").glob("*/__init__.py")}
    assert there == placed
    assert floors["exhaustive"]


def test_every_room_of_capture_has_a_floor() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = next(
        c for c in project["tool"]["importlinter"]["contracts"] if c.get("containers") == ["traindx.capture"]
    )
    placed = {module.strip() for layer in floors["layers"] for module in layer.split("|")}
    for path in (ROOT / "traindx/capture").iterdir():
        if path.stem != "__init__" and (path.suffix == ".py" or (path / "__init__.py").exists()):
            add = f'add "{path.stem}" to the layers of traindx.capture in pyproject.toml'
            assert path.stem in placed, f"{name(path)} has no floor: {add}"


def test_every_folder_of_the_package_is_a_package() -> None:
    assert {p.parent for p in PACKAGE} == {p.parent for p in PACKAGE if p.name == "__init__.py"}


def test_public_names() -> None:
    assert tuple(traindx.__all__) == tuple(sorted(traindx.__all__)) == PUBLIC
    for public in traindx.__all__:
        assert getattr(traindx, public).__doc__
    with pytest.raises(AttributeError):
        traindx.nothing_of_this_name  # noqa: B018
    assert set(PUBLIC) <= set(dir(traindx))


def calls(path: Path) -> Iterator[tuple[int, str]]:
    """Dotted names of everything that is called in a file, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def test_log_text_is_never_executed() -> None:
    forbidden = {
        "eval",
        "exec",
        "compile",
        "pickle.loads",
        "pickle.load",
        "ast.literal_eval",
        "yaml.load",
        "os.system",
    }
    own = {
        (
            "traindx/capture/process/code_rewriting.py",
            "compile",
        ),  # the source of a framework's function, no text of a log
        ("traindx/lab/conduct/forking.py", "compile"),  # the user's script, as `python` would run it
        ("traindx/lab/conduct/forking.py", "exec"),
        (
            "traindx/lab/edits/project.py",
            "compile",
        ),  # whether an edited script is Python; it is not run there
    }
    found = [(name(p), called) for p in PACKAGE for _, called in calls(p) if called in forbidden]
    assert set(found) <= own


def test_numpy_archives_are_loaded_without_pickle() -> None:
    for path in PACKAGE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load"):
                given = {k.arg: ast.unparse(k.value) for k in node.keywords}
                assert given.get("allow_pickle") == "False", f"{name(path)}:{node.lineno}"


def test_judging_draws_no_random_numbers() -> None:
    pure = [p for p in PACKAGE if p.relative_to(ROOT / "traindx").parts[0] in PURE]
    found = [f"{name(p)}:{line} {called}" for p in pure for line, called in calls(p) if ".random." in called]
    assert pure
    assert found == []


def test_no_exception_is_swallowed() -> None:
    """`except ...: pass` hides what happened; `contextlib.suppress` at least names what is expected."""
    found = [
        f"{name(path)}:{node.lineno}"
        for path in PACKAGE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and all(isinstance(s, ast.Pass) for s in node.body)
    ]
    assert found == []
