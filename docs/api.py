"""docs/api.md: the public names, with the signatures and docstrings of the source."""

from __future__ import annotations

import ast
import inspect
import math
from pathlib import Path

import traindx

PACKAGE = Path(traindx.__file__).parent
WIDTH = 100  # a longer signature has one parameter per line

HEAD = """# API reference

Every public name, with its signature and docstring. [The library page](library.md) shows them at work, and
[callbacks](callbacks.md) shows the integrations.

## Functions and classes
"""
WATCH = """## What `traindx.watch` returns
"""
CALLBACKS = """## Callbacks

Each module is imported when it is first named, and needs its framework.
"""

CALLED_BY_FRAMEWORKS = {"after_iteration", "load_state_dict", "state", "state_dict", "teardown"}

Definition = ast.ClassDef | ast.FunctionDef


def page() -> str:
    """Read from the source, not from imported modules: the callbacks' frameworks need not be installed."""
    parts = [HEAD, *(entry(f"traindx.{name}", *source_of(name)) for name in traindx.__all__)]
    parts += [WATCH, entry("Watch", PACKAGE / "capture" / "watch.py", "Watch"), CALLBACKS]
    for module in traindx.CALLBACKS:
        name = "monitor" if module == "optax" else "Watch"
        path = PACKAGE / "capture" / "jax" / "monitor.py" if module == "optax" else PACKAGE / f"{module}.py"
        parts.append(entry(f"traindx.{module}.{name}", path, name))
    return "\n".join(parts)


def source_of(name: str) -> tuple[Path, str]:
    """The file that defines a public name."""
    return Path(str(inspect.getsourcefile(getattr(traindx, name)))), name


def entry(title: str, path: Path, name: str) -> str:
    """One name: heading, signature, docstring; of a class also its fields and methods."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == name)
    parts = [
        f"### {title}\n",
        f"```py\n{signature(node, title.removeprefix('traindx.'))}\n```\n",
        documented(node),
    ]
    if isinstance(node, ast.ClassDef):
        parts += [f"- `{ast.unparse(field)}`" for field in node.body if isinstance(field, ast.AnnAssign)]
        parts += [
            method(member)
            for member in node.body
            if isinstance(member, ast.FunctionDef) and is_public(member)
        ]
    return "\n".join(parts).rstrip() + "\n"


def signature(node: Definition, shown: str) -> str:
    """How it is called. Errors and other classes without an initializer have none of interest."""
    if isinstance(node, ast.FunctionDef):
        return call(node, shown, first=0) + returned(node)
    made = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    if made is not None:
        return "class " + call(made, shown, first=1)
    return f"class {shown}"


def call(node: ast.FunctionDef, shown: str, first: int, width: float = WIDTH) -> str:
    """`shown` with the parameters of `node` from the one numbered `first`."""
    given = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]
    given.args = given.args[first:]
    whole = f"{shown}({ast.unparse(given)})"
    if len(whole) <= width:
        return whole
    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    lines = [f"    {parameter(name, default)}," for name, default in zip(given.args, defaults, strict=True)]
    lines += ["    *,"] if given.kwonlyargs and not given.vararg else []
    lines += [f"    {parameter(n, d)}," for n, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    lines += [f"    **{ast.unparse(given.kwarg)},"] if given.kwarg else []
    return "\n".join([f"{shown}(", *lines, ")"])


def parameter(name: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(name) + (f" = {ast.unparse(default)}" if default is not None else "")


def returned(node: ast.FunctionDef) -> str:
    return f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""


def is_public(node: ast.FunctionDef) -> bool:
    """For users, rather than for a framework that calls it back."""
    return not node.name.startswith(("_", "on_")) and node.name not in CALLED_BY_FRAMEWORKS


def method(node: ast.FunctionDef) -> str:
    """One bullet: a property by its name, a method with its parameters."""
    is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    shown = node.name if is_property else call(node, node.name, 1, math.inf)
    text = " ".join(documented(node).split())
    return f"- `{shown}{returned(node)}`" + (f": {text}" if text else "")


def documented(node: Definition) -> str:
    return (ast.get_docstring(node) or "") + "\n"
