"""What a script imports, and the options of its Python: by these it is known whether starts can be forked."""

from __future__ import annotations

from pathlib import Path

from traindx.lab.conduct.warm import imported_files, imports, options


def test_imports_are_followed_through_the_project(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "__init__.py").write_text("from .inner import x\nimport sklearn.datasets")
    (tmp_path / "part" / "inner.py").write_text("import scipy\nfrom . import other")
    (tmp_path / "part" / "other.py").write_text("import pandas as pd")
    (tmp_path / "aside.py").write_text("import tensorflow")
    (tmp_path / "train.py").write_text("import torch\nfrom part import inner")
    named = {name for _, text in imported_files(tmp_path / "train.py", tmp_path) for name in imports(text)}
    assert {"torch", "sklearn.datasets", "scipy", "pandas"} <= named
    assert "tensorflow" not in named


def test_options_of_python() -> None:
    assert options(["python3.11", "-u", "-W", "ignore", "train.py", "-O"]) == [
        "python3.11",
        "-u",
        "-W",
        "ignore",
    ]
    assert options(["python", "-m", "pkg"]) == ["python"]
    assert options(["python", "-i", "train.py"]) is None
    assert options(["bash", "train.py"]) is None
