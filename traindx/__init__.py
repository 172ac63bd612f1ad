"""traindx: says what is wrong with a neural-network training run, why, and what to do."""

__version__ = "0.1.0"
