"""Versions of the libraries other than the newest: does a recording work, and is nothing changed?

    python -m benchmarks.frames.versions [--python NAME=PYTHON ...] [ROW ...]

`--python` as in `benchmarks.frames.starts`. Each version is laid over an environment (`pip install --no-deps --target`,
from the registry that pip asks), and starts of that library are run with it in front.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.frames.starts.__main__ import SCRIPTS, environment_of, look

REQUESTS = (
    "requests",
    "urllib3",
    "charset-normalizer",
    "certifi",
    "idna",
)  # asked for by the hub's client of then
# The lowest that pyproject.toml names (where it is lower than what pip can build on Python 3.11: what there is), and
# some below.
ROWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "keras 3.5": (("keras==3.5.0",), ("keras_convnet", "keras_timeseries")),
    "keras 3.3": (("keras==3.3.3",), ("keras_convnet",)),
    "jax 0.5": (
        ("jax==0.5.0", "jaxlib==0.5.0", "optax==0.2.4", "chex==0.1.88", "toolz==1.0.0"),
        ("optax_mlp", "optax_multisteps"),
    ),
    "lightning 2.4": (
        # pkg_resources was part of setuptools then
        ("lightning==2.4.0", "lightning-utilities==0.11.9", "setuptools==75.8.0", *REQUESTS),
        ("lightning_autoencoder",),
    ),
    "transformers 4.48": (
        (
            "transformers==4.48.3",
            "tokenizers==0.21.0",
            "huggingface-hub==0.27.1",
            "accelerate==1.2.1",
            *REQUESTS,
        ),
        ("hf_language_model",),
    ),
    "xgboost 2.1": (("xgboost-cpu==2.1.1",), ("xgboost_quickstart",)),
    "lightgbm 4.3": (("lightgbm==4.3.0",), ("lightgbm_quickstart",)),
    "lightgbm 3.3": (("lightgbm==3.3.5",), ("lightgbm_quickstart",)),
    "catboost 1.2": (("catboost==1.2.8",), ("catboost_quickstart",)),
    "scikit-learn 1.4": (("scikit-learn==1.4.2",), ("sklearn_mlp",)),
}


def overlay(python: str, packages: tuple[str, ...], folder: Path) -> str:
    """Put packages into a folder of their own. Returns what pip said of a failure, or ""."""
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1][:150] if done.returncode else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--pip", default=sys.executable, help="the Python whose pip is used")
    parser.add_argument("rows", nargs="*")
    asked = parser.parse_args()
    pythons = dict(one.split("=", 1) for one in asked.python)
    print(
        "| version | start | backend | what it prints, and its weights | recorded | health |\n|---|---|---|---|---|---|"
    )
    for row, (packages, names) in ROWS.items():
        if asked.rows and row not in asked.rows:
            continue
        with tempfile.TemporaryDirectory() as place:
            why = overlay(asked.pip, packages, Path(place))
            os.environ["STARTS_FIRST"] = place
            for name in names if not why else ():
                python = pythons.get(environment_of(name), sys.executable)
                print(f"| {row} {look(SCRIPTS / f'{name}.py', python)[1]}", flush=True)
            if why:
                print(f"| {row} | not installed: {why} | | | | |", flush=True)


if __name__ == "__main__":
    main()
