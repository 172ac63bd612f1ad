"""Checks that need no labels: what must not change a verdict, tried on many logs."""
