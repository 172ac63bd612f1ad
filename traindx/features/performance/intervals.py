"""Stretches of time: what they cover together, what is between them, what is spent in a call itself.

Arrays in, arrays out; times in any one unit. Stretches may overlap and come in any order unless stated
otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traindx.vocabulary import Floats, Ints


class Stretches(NamedTuple):
    """`starts[n]` and `stops[n]`, `stops >= starts`."""

    starts: Floats
    stops: Floats

    def __or__(self, other: Stretches) -> Stretches:
        return Stretches(
            np.concatenate([self.starts, other.starts]), np.concatenate([self.stops, other.stops])
        )


NONE = Stretches(np.empty(0), np.empty(0))


def union(given: Stretches) -> Stretches:
    """The same time in disjoint stretches `[m]`, ascending; those that touch are one."""
    if not len(given.starts):
        return NONE
    order = np.argsort(given.starts, kind="stable")
    starts, reach = given.starts[order], np.maximum.accumulate(given.stops[order])
    begins = np.append(True, starts[1:] > reach[:-1])
    return Stretches(starts[begins], reach[np.append(begins[1:], True)])


def covered_time(given: Stretches, windows: Stretches) -> Floats:
    """How much of each of `windows[w]` the stretches cover, overlaps counted once; shape `[w]`."""
    whole = union(given)
    if not len(whole.starts):
        return np.zeros(len(windows.starts))
    edges = np.stack([whole.starts, whole.stops], axis=1).ravel()
    lengths = whole.stops - whole.starts
    so_far = np.stack([np.cumsum(lengths) - lengths, np.cumsum(lengths)], axis=1).ravel()
    upto = np.interp(np.concatenate([windows.starts, windows.stops]), edges, so_far)
    n = len(windows.starts)
    found: Floats = np.clip(upto[n:] - upto[:n], 0.0, windows.stops - windows.starts)
    return found


def exclusive(parts: dict[str, Stretches], windows: Stretches) -> dict[str, Floats]:
    """The windows split among parts: time that several cover belongs to the first; `[w]` for each, and under
    "" what none covers."""
    together, taken, split = NONE, np.zeros(len(windows.starts)), {}
    for name, part in parts.items():
        together = union(together | part)
        now = covered_time(together, windows)
        split[name] = np.maximum(now - taken, 0.0)
        taken = now
    split[""] = np.maximum(windows.stops - windows.starts - taken, 0.0)
    return split


def gaps_between(given: Stretches, windows: Stretches) -> tuple[Stretches, Ints]:
    """The gaps that the stretches leave in each of disjoint ascending windows, and in which window `[g]`
    each is."""
    edges = np.unique(np.concatenate([windows.starts, windows.stops]))
    cuts = Stretches(edges, edges)
    marks = union(union(given) | cuts)
    gaps = Stretches(marks.stops[:-1], marks.starts[1:])
    at = np.searchsorted(windows.starts, gaps.starts, side="right") - 1
    inside = (at >= 0) & (gaps.stops > gaps.starts)
    inside &= gaps.stops <= windows.stops[np.maximum(at, 0)]
    return Stretches(gaps.starts[inside], gaps.stops[inside]), at[inside]


def bridge_gaps(given: Stretches, separators: Floats) -> Stretches:
    """The union, with gaps closed that hold none of `separators`."""
    whole, marks = union(given), np.sort(separators)
    if len(whole.starts) < 2:
        return whole
    apart = np.searchsorted(marks, whole.starts[1:], side="left") > np.searchsorted(
        marks, whole.stops[:-1], side="left"
    )
    return Stretches(whole.starts[np.append(True, apart)], whole.stops[np.append(apart, True)])


class Nested(NamedTuple):
    """`own[n]` the time of each call without those called in it, `top[n]` whether nothing called it."""

    own: Floats
    top: Ints


def nest_calls(given: Stretches, threads: Ints) -> Nested:
    """Calls that nest properly within a thread. O(n log n)."""
    own = given.stops - given.starts
    top = np.ones(len(own), dtype=np.int64)
    order = np.lexsort((-own, given.starts, threads))
    stops, starts, thread = given.stops.tolist(), given.starts.tolist(), threads.tolist()
    lengths = own.tolist()
    stack: list[int] = []
    for i in order.tolist():
        while stack and (thread[stack[-1]] != thread[i] or stops[stack[-1]] <= starts[i]):
            stack.pop()
        if stack:
            own[stack[-1]] -= lengths[i]
            top[i] = 0
        stack.append(i)
    return Nested(np.maximum(own, 0.0), top)


def sums(values: Floats, groups: Ints, windows: Ints, shape: tuple[int, int]) -> Floats:
    """`values[n]` added up by window and group: shape `[windows, groups]`."""
    flat: Floats = np.bincount(
        windows * shape[1] + groups, weights=values, minlength=shape[0] * shape[1]
    ).astype(float)
    return flat.reshape(shape)
