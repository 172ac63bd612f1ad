"""How often a recording measures what is expensive."""

from __future__ import annotations

from traindx.capture.session.pace import Pace


def test_what_is_left_out_is_still_measured_late() -> None:
    """Samples that cost 50 ms in steps of 10 us: families are left out, yet the last third has a sample of all."""
    pace, whole = Pace(), []
    for step in range(1, 4001):
        pace.stepped(step, 1e-5)
        if pace.sampled(step):
            if pace.left_out and all(pace.wants(kind) for kind in pace.left_out):
                whole.append(step)
            pace.measured(step, 0.05)
    assert pace.left_out
    assert whole[-1] > 4000 * 2 / 3
    assert len(whole) < 20
