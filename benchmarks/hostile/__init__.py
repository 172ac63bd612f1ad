"""Awkward training scripts, and what traindx promises about them: `python -m benchmarks.hostile --out FOLDER`."""
