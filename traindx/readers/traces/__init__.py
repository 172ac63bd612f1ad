"""Traces of a profiler: events of a few steps, in bounded memory."""
