"""env rules: the environment of a run."""
