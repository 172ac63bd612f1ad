"""Starts of the user's script: each in a scratch copy, under interventions, and recorded."""
