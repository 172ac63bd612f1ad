"""Health of a run, the decision about it, and advice."""
