"""Whether a process that may take only so much address space (ulimit -v) has room for a recording.

Without room, libraries written in C++ end the process (std::bad_alloc) where Python would raise: what
a plain run survives must not die of being recorded."""

import os
import resource

NEEDED = 512 << 20  # pyarrow's libraries and pools take 400 MiB of addresses (pyarrow 26), not of memory


def why_no_room() -> str:
    """Why nothing can be recorded here; "" where there is room, or where that is not known."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return ""
    try:
        with open("/proc/self/statm", "rb") as statm:
            taken = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return ""
    left = max(0, limit - taken) >> 20
    return (
        f"{left} MiB of address space are left (ulimit -v), {NEEDED >> 20} are needed"
        if left << 20 < NEEDED
        else ""
    )
